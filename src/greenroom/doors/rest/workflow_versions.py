"""Earlier versions of workflows over REST: list them with their definitions, and restore one."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest.wire import (
    Limit,
    Number,
    build_json_response,
    encode,
    read_body,
    read_json_response,
    read_query,
)
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.queries import get_known_name
from greenroom.rules.workflows.commands import RestoreWorkflow
from greenroom.rules.workflows.decide_definitions import prepare_saved
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.model import SavedVersion, Workflow
from greenroom.rules.workflows.queries import find_saved_versions, need_saved_name, need_version, need_workflow
from greenroom.services.hub import Hub

_MOST = 200
_MOST_BYTES = 1 << 23
"""A page ends with the version that makes it larger."""


class VersionShown(msgspec.Struct, kw_only=True):
    """A version of a workflow as it was saved."""

    name: str
    version: int
    digest: str
    definition: WorkflowDefinition
    made_at: int
    made_by: str
    made_by_name: str
    """The name by which people know whoever saved it."""
    source: str
    text: str
    """The YAML that it was written in; empty if it came as values."""
    restored_from: int
    """The earlier version that this one restored; 0 if it was written."""


class VersionQuery(msgspec.Struct, frozen=True, kw_only=True):
    before: Number | None = None
    limit: Limit = 50


async def list_versions(hub: Hub, by: Principal, request: Request) -> Response:
    page = read_query(request, VersionQuery)
    name = need_saved_name(hub.rows, request.path_params["name"], by)

    def read(rows: Rows) -> list[VersionShown]:
        shown: list[VersionShown] = []
        left = _MOST_BYTES
        for saved in find_saved_versions(rows, name, before=page.before, limit=max(1, min(page.limit, _MOST))):
            shown.append(_build_version(rows, saved))
            left -= len(encode(shown[-1]))
            if left < 0:
                break
        return shown

    return await read_json_response(hub, read)


def _build_version(rows: Rows, saved: SavedVersion) -> VersionShown:
    return copy_fields(
        saved,
        VersionShown,
        definition=need_version(rows, saved.digest).definition,
        made_at=saved.saved_at,
        made_by=saved.saved_by,
        made_by_name=get_known_name(rows, saved.saved_by),
    )


class RestoreBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    version: int | None = None
    """The version to restore. Without it: the one before the newest, or the last one of a deleted workflow."""
    replaces: int | None = None
    """The version that you have seen as the newest, 0 for a deleted workflow. Without it: whichever there is."""


async def restore_version(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, RestoreBody)
    name = need_saved_name(hub.rows, request.path_params["name"])
    await hub.heavy_work.run_read(lambda: hub.store.read(lambda rows: prepare_saved(rows, name, body.version)))
    await hub.log.do(copy_fields(body, RestoreWorkflow, by=by, name=name))
    return build_json_response(need_workflow(hub.rows, name))


_NAMED = "/api/workflows/{name}"
ENDPOINTS = [
    Endpoint(
        "GET",
        f"{_NAMED}/versions",
        "read",
        list_versions,
        "Its versions, newest first, also of a deleted workflow",
        query=VersionQuery,
        answer=list[VersionShown],
    ),
    Endpoint(
        "POST",
        f"{_NAMED}/restore",
        "operate",
        restore_version,
        "Save an earlier version as the newest one",
        body=RestoreBody,
        answer=Workflow,
    ),
]
