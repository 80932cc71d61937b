"""Runs over REST."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.http.server import build_local_url
from greenroom.doors.rest.shapes import AgentNameCache
from greenroom.doors.rest.verbs import VerbResult, build_verb_endpoints
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
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.runs.commands import ResumeRun
from greenroom.rules.runs.confined_runs import confine_run, confine_tree
from greenroom.rules.runs.continuation import need_continuable
from greenroom.rules.runs.events import RunCreated
from greenroom.rules.runs.model import AgentContext, Run, RunItem, RunStatus, ToolCall
from greenroom.rules.runs.node_outage import describe_obstacle
from greenroom.rules.runs.queries import (
    find_calls,
    find_items,
    find_runs,
    find_tree,
    may_see_run,
    need_run,
    need_tree,
)
from greenroom.rules.runs.verbs import RUN_VERBS
from greenroom.rules.threads.queries import need_thread
from greenroom.sentences import Words
from greenroom.services.hub import Hub
from greenroom.services.run_service import start_run, wait_for_end
from greenroom.services.waker import invite


class NewRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    profile: str
    prompt: str
    agent: str | None = None
    keep: bool = False
    keep_as: str | None = None
    thread_id: str | None = None
    parent_id: str | None = None
    node: str | None = None
    directory: str | None = None
    """Where it works on its node, instead of where the profile says."""
    worktree: bool | None = None
    """Whether it works in a git worktree of its own of the directory, on a new branch."""
    model: str | None = None
    session: str | None = None
    """A conversation from the agent's own program, to continue."""
    context: AgentContext | None = None
    timeout_s: Annotated[int, Meta(ge=1)] | None = None
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_cost_usd: Annotated[float, Meta(gt=0)] | None = None


async def create_run(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, NewRun)
    if body.thread_id is not None:
        need_thread(hub.rows, by, body.thread_id)
    fields = msgspec.structs.asdict(body)
    overrides = {name: fields.pop(name) for name in ("directory", "worktree", "model")}
    given = {name: value for name, value in overrides.items() if value is not None}
    return build_json_response(
        await start_run(hub.log, by, key=get_idempotency_key(request), overrides=given, **fields), 201
    )


class RunQuery(msgspec.Struct, frozen=True, kw_only=True):
    before: Number | None = None
    status: RunStatus | None = None
    limit: Limit = 50


class ListedRun(Run, frozen=True, kw_only=True):
    """A run, and the name of its agent."""

    agent_name: str = ""
    held_up_by: Words = ""
    """Why its output does not arrive, such as a node that cannot be reached, and what to do about it."""


def _build_listed_run(rows: Rows, by: Principal, run: Run, names: AgentNameCache) -> ListedRun:
    shown = msgspec.structs.asdict(confine_run(rows, by, run))
    return ListedRun(**shown, agent_name=names.get_name(run.agent_id), held_up_by=describe_obstacle(rows, run))


async def list_runs(hub: Hub, by: Principal, request: Request) -> Response:
    page = read_query(request, RunQuery)

    def read(rows: Rows) -> list[ListedRun]:
        found = find_runs(rows, by, status=page.status, before=page.before, limit=max(1, min(page.limit, 200)))
        names = AgentNameCache(rows)
        return [_build_listed_run(rows, by, run, names) for run in found]

    return await read_json_response(hub, read)


async def show_run(hub: Hub, by: Principal, request: Request) -> Response:
    run = need_run(hub.rows, by, request.path_params["run_id"])
    return build_json_response(_build_listed_run(hub.rows, by, run, AgentNameCache(hub.rows)))


class RunTree(msgspec.Struct):
    tree: Any
    runs: list[Run]


async def show_tree(hub: Hub, by: Principal, request: Request) -> Response:
    run = need_run(hub.rows, by, request.path_params["run_id"])

    def read(rows: Rows) -> RunTree:
        seen = [one for one in find_tree(rows, run.root_id) if may_see_run(rows, by, one)]
        tree = confine_tree(rows, by, need_tree(rows, run.root_id))
        return RunTree(tree, [confine_run(rows, by, one) for one in seen])

    return await read_json_response(hub, read)


class ItemQuery(msgspec.Struct, frozen=True, kw_only=True):
    after: Number = 0
    limit: Limit = 500


async def list_items(hub: Hub, by: Principal, request: Request) -> Response:
    run = need_run(hub.rows, by, request.path_params["run_id"])
    wanted = read_query(request, ItemQuery)
    limit = max(1, min(wanted.limit, 2000))
    return await read_json_response(hub, lambda rows: find_items(rows, run.id, wanted.after, limit))


async def list_calls(hub: Hub, by: Principal, request: Request) -> Response:
    run = need_run(hub.rows, by, request.path_params["run_id"])
    return await read_json_response(hub, lambda rows: find_calls(rows, run.id))


class RunWaitQuery(msgspec.Struct, frozen=True, kw_only=True):
    for_s: float = 30


async def wait_run(hub: Hub, by: Principal, request: Request) -> Response:
    run = need_run(hub.rows, by, request.path_params["run_id"])
    timeout_s = max(0.0, min(read_query(request, RunWaitQuery).for_s, 3600))
    ended = await run_while_connected(request, wait_for_end(hub.log, run.id, timeout_s))
    return build_json_response(confine_run(hub.rows, by, ended or need_run(hub.rows, by, run.id)))


def _build_resumed(result: VerbResult) -> Run:
    return need_run(result.hub.rows, result.by, result.done.first(RunCreated).run_id)


class ContinueBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    prompt: str
    timeout_s: Annotated[int, Meta(ge=1)] | None = None
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_cost_usd: Annotated[float, Meta(gt=0)] | None = None


async def continue_run(hub: Hub, by: Principal, request: Request) -> Response:
    """Give the agent of a run that is over more to do, as a new run in the same conversation."""
    body = await read_body(request, ContinueBody)
    run = need_continuable(hub.rows, by, request.path_params["run_id"])
    fields = msgspec.structs.asdict(body) | {"agent": run.agent_id, "continues": run.id}
    fields |= {"thread_id": run.thread_id, "keep": run.keep, "key": get_idempotency_key(request)}
    return build_json_response(await start_run(hub.log, by, run.profile, **fields), 201)


class InviteBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    agent_name: str
    prompt: str | None = None


class InviteResult(msgspec.Struct):
    ok: bool
    agent_name: str
    reason: str
    command_executed: str
    run_id: str | None = None
    agent_id: str | None = None
    detail: str | None = None
    """Why nobody came, where every refusal says it."""


async def invite_agent(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, InviteBody)
    thread = need_thread(hub.rows, by, request.path_params["thread_id"])
    address = build_local_url(hub.settings, hub.settings.port)
    came = await invite(hub.log, by, body.agent_name, thread, address, body.prompt, get_idempotency_key(request))
    invited = InviteResult(came.ok, body.agent_name, came.reason, came.command_executed)
    if came.run is None:
        invited.detail = came.reason
        return build_json_response(invited, 409)
    invited.run_id, invited.agent_id = came.run.id, came.run.agent_id
    return build_json_response(invited, 201)


_ONE = "/api/runs/{run_id}"
ENDPOINTS = [
    Endpoint("POST", "/api/runs", "chat", create_run, "Start a run", body=NewRun, answer=Run, status=201, keyed=True),
    Endpoint("GET", "/api/runs", "read", list_runs, "Runs, newest first", query=RunQuery, answer=list[ListedRun]),
    Endpoint("GET", _ONE, "read", show_run, "One run", answer=ListedRun),
    Endpoint("GET", f"{_ONE}/tree", "read", show_tree, "The whole tree of a run", answer=RunTree),
    Endpoint(
        "GET",
        f"{_ONE}/items",
        "read",
        list_items,
        "The items of a run, by number",
        query=ItemQuery,
        answer=list[RunItem],
    ),
    Endpoint("GET", f"{_ONE}/calls", "read", list_calls, "The tool calls of a run", answer=list[ToolCall]),
    Endpoint(
        "GET",
        f"{_ONE}/wait",
        "read",
        wait_run,
        "Wait until the run has ended, or the time is over",
        query=RunWaitQuery,
        answer=Run,
    ),
    *build_verb_endpoints(RUN_VERBS, {ResumeRun: _build_resumed}),
    Endpoint(
        "POST",
        f"{_ONE}/continue",
        "operate",
        continue_run,
        "Give the agent of a finished run another task, as a new run in the same conversation",
        body=ContinueBody,
        answer=Run,
        status=201,
        keyed=True,
    ),
    Endpoint(
        "POST",
        "/api/threads/{thread_id}/invite",
        "operate",
        invite_agent,
        "Invite an agent into a thread",
        body=InviteBody,
        answer=InviteResult,
        status=201,
        keyed=True,
    ),
]
