"""Nodes over REST: which there are, letting one in, taking one out of use, and putting one out."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.http.server import get_certificate_pin
from greenroom.doors.rest.wire import build_json_response, read_body, read_query
from greenroom.ids import new_id
from greenroom.link.tokens import new_token
from greenroom.rules.access.model import Principal
from greenroom.rules.nodes.decide import need_node
from greenroom.rules.nodes.model import NODES, DrainNode, JoinNode, Node, UndrainNode
from greenroom.rules.runs.commands import RemoveNode
from greenroom.services.hub import Hub


async def list_nodes(hub: Hub, by: Principal, request: Request) -> Response:
    return build_json_response([] if by.is_confined else hub.rows.find(NODES, order="_key"))


class NewNode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str


class JoinedNode(msgspec.Struct):
    node_id: str
    name: str
    token: str
    pin: str | None
    """The digest of this hub's certificate, for the node to recognise it by; None where the hub has none itself."""


async def join_node(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, NewNode)
    token = new_token("node")
    node_id = new_id("node")
    await hub.log.do(
        JoinNode(by=by, node_id=node_id, name=body.name, credential_id=token.credential_id, digest=token.digest)
    )
    return build_json_response(JoinedNode(node_id, body.name, token.text, get_certificate_pin(hub.settings)), 201)


async def drain_node(hub: Hub, by: Principal, request: Request) -> Response:
    node = need_node(hub.rows, request.path_params["node_id"])
    await hub.log.do(DrainNode(by=by, node_id=node.id))
    return build_json_response(need_node(hub.rows, node.id))


async def undrain_node(hub: Hub, by: Principal, request: Request) -> Response:
    node = need_node(hub.rows, request.path_params["node_id"])
    await hub.log.do(UndrainNode(by=by, node_id=node.id))
    return build_json_response(need_node(hub.rows, node.id))


class Removal(msgspec.Struct, frozen=True, kw_only=True):
    force: bool = False


async def remove_node(hub: Hub, by: Principal, request: Request) -> Response:
    force = read_query(request, Removal).force
    await hub.log.do(RemoveNode(by=by, node_id=request.path_params["node_id"], force=force))
    return Response(status_code=204)


_ONE = "/api/nodes/{node_id}"
ENDPOINTS = [
    Endpoint("GET", "/api/nodes", "read", list_nodes, "All nodes", answer=list[Node]),
    Endpoint(
        "POST",
        "/api/nodes",
        "operate",
        join_node,
        "Add a node; its token is shown once",
        body=NewNode,
        answer=JoinedNode,
        status=201,
    ),
    Endpoint(
        "POST",
        f"{_ONE}/drain",
        "operate",
        drain_node,
        "Give a node no new agents; it keeps the ones that it has",
        answer=Node,
    ),
    Endpoint("POST", f"{_ONE}/undrain", "operate", undrain_node, "Give a node new agents again", answer=Node),
    Endpoint(
        "DELETE",
        _ONE,
        "operate",
        remove_node,
        "Remove a node and revoke its credential; with agents at work only with force=true",
        query=Removal,
        status=204,
    ),
]
