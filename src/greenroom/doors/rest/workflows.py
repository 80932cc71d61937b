"""Workflows and their runs, over REST."""

import asyncio
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest.verbs import build_verb_endpoints
from greenroom.doors.rest.wire import (
    Limit,
    Number,
    build_json_response,
    get_idempotency_key,
    read_body,
    read_json_response,
    read_query,
    run_while_connected,
)
from greenroom.errors import Refused
from greenroom.json_types import JsonObject
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.profiles import find_profiles
from greenroom.rules.threads.queries import need_thread
from greenroom.rules.workflows.checks.problems import BadWorkflow, build_refusal
from greenroom.rules.workflows.decide_definitions import prepare_definition
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.graph import Graph
from greenroom.rules.workflows.model import FACTS, Workflow, WorkflowFacts, WorkflowRun, WorkflowStatus
from greenroom.rules.workflows.parser.loader import parse_text, read_plain
from greenroom.rules.workflows.queries import (
    find_workflow_runs,
    find_workflows,
    need_version,
    need_workflow,
    need_workflow_run,
)
from greenroom.rules.workflows.report import StepReport, WorkflowReport, build_report
from greenroom.rules.workflows.verbs import WORKFLOW_RUN_VERBS, WORKFLOW_VERBS
from greenroom.services.hub import Hub
from greenroom.services.workflow_files import embed_skills, find_missing_skills
from greenroom.services.workflow_service import put_workflow, start_workflow, wait_for_workflow
from greenroom.validation import Sent


async def list_workflows(hub: Hub, by: Principal, request: Request) -> Response:
    return await read_json_response(hub, lambda rows: find_workflows(rows, by))


class WorkflowBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A workflow in any form that is known: as plain values, or as a text in YAML."""

    definition: JsonObject | None = None
    text: str | None = None
    source: str = ""
    version: int | None = None
    """The version that was edited, which is replaced. 0, or leaving it out, makes a new workflow."""


class WorkflowShown(msgspec.Struct, kw_only=True):
    """A workflow with its newest definition."""

    workflow: Workflow
    definition: WorkflowDefinition
    layers: list[list[str]]
    text: str
    """The YAML that it was written in; empty if it came as values."""


async def read_definition(hub: Hub, definition: Any, text: str | None, source: str) -> WorkflowDefinition:
    """The definition in a body, with the skills that it names, as far as they are on this machine."""
    try:
        if text is not None:
            read = (await hub.heavy_work.run(lambda: parse_text(text, source))).definition
        elif definition is not None:
            read = await hub.heavy_work.run(lambda: read_plain(definition))
        else:
            raise Refused("workflow_missing")
    except BadWorkflow as bad:
        raise build_refusal(bad.problems) from bad
    places = {profile.name: profile.definition.directory for profile in find_profiles(hub.rows)}
    whole = await asyncio.to_thread(embed_skills, read, (hub.data,), places)
    missing = find_missing_skills(whole)
    if missing:
        raise build_refusal(missing)
    await hub.heavy_work.run_read(lambda: hub.store.read(lambda rows: prepare_definition(rows, whole)))
    return whole


async def save_workflow(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, WorkflowBody)
    definition = await read_definition(hub, body.definition, body.text, body.source)
    name = request.path_params["name"]
    if name not in (definition.name, definition.id):
        raise Refused("wrong_name", name=definition.name, wanted=name[:80])
    saved = await put_workflow(hub.log, by, definition, source=body.source, text=body.text or "", replaces=body.version)
    return build_json_response(saved)


async def show_workflow(hub: Hub, by: Principal, request: Request) -> Response:
    def read(rows: Rows) -> WorkflowShown:
        workflow = need_workflow(rows, request.path_params["name"], by)
        version = need_version(rows, workflow.digest)
        layers = Graph(version.definition).build_layers()
        return copy_fields(version, WorkflowShown, workflow=workflow, layers=layers)

    return await read_json_response(hub, read)


class NewWorkflowRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to carry out: a workflow by its name, or one that is sent along and kept."""

    workflow: str | None = None
    definition: JsonObject | None = None
    text: str | None = None
    source: str = ""
    inputs: JsonObject = {}
    thread_id: str | None = None
    directory: str | None = None


async def create_run(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, NewWorkflowRun)
    if body.thread_id is not None:
        need_thread(hub.rows, by, body.thread_id)
    definition = None
    if body.workflow is None:
        definition = await read_definition(hub, body.definition, body.text, body.source)
    run = await start_workflow(
        hub.log,
        by,
        body.workflow or (definition.name if definition else ""),
        definition=definition,
        source=body.source,
        text=body.text or "",
        key=get_idempotency_key(request),
        inputs=body.inputs,
        thread_id=body.thread_id,
        directory=body.directory,
    )
    return build_json_response(run, 201)


class WorkflowRunQuery(msgspec.Struct, frozen=True, kw_only=True):
    workflow: str | None = None
    status: Sent[WorkflowStatus] | None = None
    waiting: bool | None = None
    """Only runs that wait, for people or for something else outside; or only those that do not."""
    before: Number | None = None
    limit: Limit = 50


async def list_runs(hub: Hub, by: Principal, request: Request) -> Response:
    page = read_query(request, WorkflowRunQuery)

    def read(rows: Rows) -> list[WorkflowRun]:
        return find_workflow_runs(
            rows,
            by,
            workflow=page.workflow,
            status=page.status,
            waiting=page.waiting,
            before=page.before,
            limit=max(1, min(page.limit, 500)),
        )

    return await read_json_response(hub, read)


class RunShown(msgspec.Struct, kw_only=True):
    """A run with its definition and every step of it, those included to which nothing has happened yet."""

    run: WorkflowRun
    facts: WorkflowFacts
    definition: WorkflowDefinition
    layers: list[list[str]]
    steps: list[StepReport]


async def show_run(hub: Hub, by: Principal, request: Request) -> Response:
    now = hub.log.clock.now()

    def read(rows: Rows) -> RunShown:
        run = need_workflow_run(rows, by, request.path_params["run_id"])
        definition = need_version(rows, run.digest).definition
        return RunShown(
            run=run,
            facts=rows.get(FACTS, run.id) or WorkflowFacts(run_id=run.id),
            definition=definition,
            layers=Graph(definition).build_layers(),
            steps=build_report(rows, run, now).steps,
        )

    return await read_json_response(hub, read)


async def show_report(hub: Hub, by: Principal, request: Request) -> Response:
    run, now = need_workflow_run(hub.rows, by, request.path_params["run_id"]), hub.log.clock.now()
    return await read_json_response(hub, lambda rows: build_report(rows, run, now))


class WorkflowRunWaitQuery(msgspec.Struct, frozen=True, kw_only=True):
    for_s: float = 30


async def wait_run(hub: Hub, by: Principal, request: Request) -> Response:
    run = need_workflow_run(hub.rows, by, request.path_params["run_id"])
    timeout_s = max(0.0, min(read_query(request, WorkflowRunWaitQuery).for_s, 3600))
    ended = await run_while_connected(request, wait_for_workflow(hub.log, run.id, timeout_s))
    return build_json_response(ended or need_workflow_run(hub.rows, by, run.id))


_NAMED = "/api/workflows/{name}"
_ONE = "/api/workflow-runs/{run_id}"
_BYTES = 8_388_608
ENDPOINTS = [
    Endpoint("GET", "/api/workflows", "read", list_workflows, "Workflows by name", answer=list[Workflow]),
    Endpoint("GET", _NAMED, "read", show_workflow, "A workflow with its definition", answer=WorkflowShown),
    Endpoint(
        "PUT",
        _NAMED,
        "operate",
        save_workflow,
        "Create a workflow, or replace the version that you have edited",
        body=WorkflowBody,
        answer=Workflow,
        max_bytes=_BYTES,
    ),
    Endpoint(
        "GET",
        "/api/workflow-runs",
        "read",
        list_runs,
        "Runs of workflows, newest first",
        query=WorkflowRunQuery,
        answer=list[WorkflowRun],
    ),
    Endpoint(
        "POST",
        "/api/workflow-runs",
        "operate",
        create_run,
        "Run a workflow",
        body=NewWorkflowRun,
        answer=WorkflowRun,
        status=201,
        keyed=True,
        max_bytes=_BYTES,
    ),
    Endpoint("GET", _ONE, "read", show_run, "A run with all its steps", answer=RunShown),
    Endpoint("GET", f"{_ONE}/report", "read", show_report, "What each step did and cost", answer=WorkflowReport),
    Endpoint(
        "GET",
        f"{_ONE}/wait",
        "read",
        wait_run,
        "Wait until the run is over, or the time is",
        query=WorkflowRunWaitQuery,
        answer=WorkflowRun,
    ),
    *build_verb_endpoints((*WORKFLOW_VERBS, *WORKFLOW_RUN_VERBS)),
]
