"""Profiles and nodes, over REST."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.endpoint import Endpoint
from greenroom.doors.rest.wire import body_of, json
from greenroom.hub import Hub
from greenroom.log.ids import new_id
from greenroom.nouns.access.model import Principal
from greenroom.nouns.access.tokens import new_token
from greenroom.nouns.agents.profiles import (
    Definition,
    DeleteProfile,
    Profile,
    PutProfile,
    find_profiles,
    need_profile,
)
from greenroom.nouns.nodes.model import NODES, JoinNode, Node
from greenroom.nouns.runs.queries import is_invitable


class ListedProfile(msgspec.Struct):
    name: str
    display_name: str
    description: str
    driver: str
    enabled: bool
    source: str
    is_invitable: bool


async def list_profiles(hub: Hub, by: Principal, request: Request) -> Response:
    return json([_listed(hub, profile) for profile in find_profiles(hub.rows)])


def _listed(hub: Hub, profile: Profile) -> ListedProfile:
    definition = profile.definition
    return ListedProfile(
        name=profile.name,
        display_name=definition.display_name or profile.name,
        description=definition.description,
        driver=definition.driver,
        enabled=definition.enabled,
        source=profile.source,
        is_invitable=is_invitable(hub.rows, definition),
    )


async def show_profile(hub: Hub, by: Principal, request: Request) -> Response:
    return json(need_profile(hub.rows, request.path_params["name"]))


async def put_profile(hub: Hub, by: Principal, request: Request) -> Response:
    body = await body_of(request, Definition)
    name = request.path_params["name"]
    await hub.log.do(PutProfile(by=by, name=name, definition=body))
    return json(need_profile(hub.rows, name))


async def delete_profile(hub: Hub, by: Principal, request: Request) -> Response:
    await hub.log.do(DeleteProfile(by=by, name=request.path_params["name"]))
    return Response(status_code=204)


async def list_nodes(hub: Hub, by: Principal, request: Request) -> Response:
    return json(hub.rows.find(NODES, order="_key"))


class NewNode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str


class JoinedNode(msgspec.Struct):
    node_id: str
    name: str
    token: str


async def join_node(hub: Hub, by: Principal, request: Request) -> Response:
    body = await body_of(request, NewNode)
    token = new_token("node")
    node_id = new_id("node")
    await hub.log.do(
        JoinNode(by=by, node_id=node_id, name=body.name, credential_id=token.credential_id, digest=token.digest)
    )
    return json(JoinedNode(node_id, body.name, token.text), 201)


_ONE = "/api/profiles/{name}"
ENDPOINTS = [
    Endpoint("GET", "/api/profiles", "read", list_profiles, "All profiles", answer=list[ListedProfile]),
    Endpoint("GET", _ONE, "operate", show_profile, "One profile", answer=Profile),
    Endpoint("PUT", _ONE, "operate", put_profile, "Make or replace a profile", body=Definition, answer=Profile),
    Endpoint("DELETE", _ONE, "operate", delete_profile, "Remove a profile", status=204),
    Endpoint("GET", "/api/nodes", "read", list_nodes, "All nodes", answer=list[Node]),
    Endpoint(
        "POST",
        "/api/nodes",
        "operate",
        join_node,
        "Let a machine be a node; its token is told once",
        body=NewNode,
        answer=JoinedNode,
        status=201,
    ),
]
