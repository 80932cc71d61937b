"""Nodes over REST: list, add, drain and remove them."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.http.server import get_certificate_pin
from greenroom.doors.rest.verbs import VerbResult, build_verb_endpoints
from greenroom.doors.rest.wire import build_json_response, read_body
from greenroom.ids import new_id
from greenroom.link.tokens import new_token
from greenroom.rules.access.model import Principal
from greenroom.rules.nodes.decide import need_node
from greenroom.rules.nodes.model import NODES, DrainNode, JoinNode, Node, UndrainNode
from greenroom.rules.nodes.verbs import NODE_VERBS
from greenroom.rules.runs.verbs import NODE_REMOVAL_VERBS
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


def _build_node(result: VerbResult) -> Node:
    return need_node(result.hub.rows, result.id)


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
    *build_verb_endpoints(NODE_VERBS, dict.fromkeys((DrainNode, UndrainNode), _build_node)),
    *build_verb_endpoints(NODE_REMOVAL_VERBS),
]
