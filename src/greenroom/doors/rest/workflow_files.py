"""What workflow editors need: the schema of the files, and the problems of a text."""

from graphlib import CycleError
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import PUBLIC, Endpoint
from greenroom.doors.rest.wire import build_json_response, encode, read_body
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.profiles import find_profiles, need_profile
from greenroom.rules.workflows.checks.definition_check import KnownNames
from greenroom.rules.workflows.checks.problems import BadWorkflow, Problem
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.diagram.labels import ArrowKind, find_arrows
from greenroom.rules.workflows.diagram.layout import lay_out
from greenroom.rules.workflows.graph import Graph
from greenroom.rules.workflows.parser.loader import LoadedWorkflow, load_text, parse_text
from greenroom.rules.workflows.schema import build_schema
from greenroom.sentences import Words
from greenroom.services.hub import Hub
from greenroom.services.node_links import NodeLinks
from greenroom.services.profile_health import check_profile_health
from greenroom.services.workflow_files import build_known
from greenroom.services.workflow_models import Named, explain_model, find_named_models, find_problems

MAX_TEXT = 600_000


class WorkflowText(msgspec.Struct):
    """A workflow as it is written, in YAML or JSON."""

    text: str
    file: str = ""


class PictureArrow(msgspec.Struct):
    """An arrow from step to step, and the points that it goes through."""

    source: str
    target: str
    label: str
    kind: ArrowKind
    points: list[tuple[float, float]]


class Picture(msgspec.Struct):
    """Where the middle of each step's box is, and how large the whole is."""

    width: float
    height: float
    places: dict[str, tuple[float, float]]
    arrows: list[PictureArrow]


class WorkflowCheck(msgspec.Struct):
    """What is wrong with a workflow; beside it the workflow in its one form, and its picture, if it can be drawn."""

    ok: bool
    problems: list[Problem]
    warnings: list[Problem] = []
    """What is written in vain."""
    definition: WorkflowDefinition | None = None
    picture: Picture | None = None


async def show_schema(hub: Hub, by: Principal, request: Request) -> Response:
    headers = {"cache-control": "public, max-age=3600"}
    return Response(encode(build_schema()), media_type="application/schema+json", headers=headers)


class TextCheck:
    """Checks workflows; nodes are asked for the models that steps name."""

    def __init__(self, links: NodeLinks) -> None:
        self._links = links

    async def check_text(self, hub: Hub, by: Principal, request: Request) -> Response:
        body = await read_body(request, WorkflowText)
        drivers = {profile.name: profile.definition.driver for profile in find_profiles(hub.rows)}
        loaded = await hub.heavy_work.run(lambda: _load_workflow(body, build_known(drivers)))
        if not isinstance(loaded, BadWorkflow):
            named = list(find_named_models(loaded.definition, drivers))
            wrong = {one.named: said for one in named if (said := await self._explain(hub, one.named))}
            problems = find_problems(loaded, body.file[:200], named, wrong)
            loaded = BadWorkflow(problems) if problems else loaded
        return await hub.heavy_work.run(lambda: build_json_response(_build_check(body, loaded)))

    async def _explain(self, hub: Hub, named: Named) -> Words | None:
        profile, model = named
        found = await check_profile_health(hub.rows, self._links, need_profile(hub.rows, profile), hub.data, model)
        return explain_model(node.sentences for node in found.nodes)


def _load_workflow(body: WorkflowText, known: KnownNames) -> LoadedWorkflow | BadWorkflow:
    try:
        return load_text(body.text, body.file[:200], known=known)
    except BadWorkflow as bad:
        return bad


def _build_check(body: WorkflowText, loaded: LoadedWorkflow | BadWorkflow) -> WorkflowCheck:
    if isinstance(loaded, BadWorkflow):
        sketch = _parse_drawable(body.text)
        picture = draw_picture(sketch) if sketch is not None else None
        return WorkflowCheck(ok=False, problems=loaded.problems, definition=sketch, picture=picture)
    picture = draw_picture(loaded.definition)
    return WorkflowCheck(
        ok=True, problems=[], warnings=list(loaded.warnings), definition=loaded.definition, picture=picture
    )


def _parse_drawable(text: str) -> WorkflowDefinition | None:
    """The workflow as far as it can be drawn already: its steps are named, and lead nowhere in circles."""
    try:
        definition = parse_text(text).definition
        draw_picture(definition)
    except (BadWorkflow, CycleError, KeyError):
        return None
    return definition


def draw_picture(definition: WorkflowDefinition) -> Picture:
    """The picture of a workflow whose graph is sound."""
    arrows = find_arrows(definition)
    layout = lay_out(Graph(definition).build_layers(), [(arrow.source, arrow.target) for arrow in arrows])
    drawn = [PictureArrow(*arrow, points=points) for arrow, points in zip(arrows, layout.arrows, strict=True)]
    return Picture(layout.width, layout.height, layout.places, drawn)


_SCHEMA: Any = "application/schema+json"


def endpoints(links: NodeLinks) -> list[Endpoint]:
    return [
        Endpoint(
            "GET", "/schemas/workflow.json", PUBLIC, show_schema, "The JSON Schema of workflow files", answer=_SCHEMA
        ),
        Endpoint(
            "POST",
            "/api/workflow-check",
            "chat",
            TextCheck(links).check_text,
            "Check the text of a workflow, or draw it",
            body=WorkflowText,
            answer=WorkflowCheck,
            max_bytes=MAX_TEXT,
        ),
    ]
