"""The rules for nodes."""

from greenroom.errors import Refused
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import RIGHTS, CredentialCreated, Principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.nodes.model import (
    NODES,
    ORDERS,
    ConnectNode,
    DrainNode,
    JoinNode,
    LoseNode,
    Node,
    NodeConnected,
    NodeDrained,
    NodeJoined,
    NodeLost,
    NodeUndrained,
    OrdersTaken,
    TakeOrders,
    UndrainNode,
)

_LABELS = 32


def join_node(rows: Rows, command: JoinNode, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    name = command.name.strip()
    if not name or len(name) > 64 or not name.isprintable():
        raise Refused("bad_name.node")
    if rows.find(NODES, {"name": name}, limit=1):
        raise Refused("node_exists", "conflict", name=name)
    return [
        copy_fields(command, NodeJoined, name=name),
        CredentialCreated(
            credential_id=command.credential_id,
            kind="node",
            name=name,
            digest=command.digest,
            rights=sorted(RIGHTS["node"]),
            agent_id=command.node_id,
        ),
    ]


def connect_node(rows: Rows, command: ConnectNode, context: Context) -> list[Event]:
    node = need_own_node(rows, need_principal(command), command.node_id)
    if len(command.labels) > _LABELS or not 0 <= command.capacity <= 10_000 or len(command.drivers) > 100:
        raise Refused("bad_hello", limit=_LABELS)
    if node.state == "connected" and node.boot != command.boot:
        raise Refused("node_connected", "conflict", name=node.name)
    return [copy_fields(command, NodeConnected, node_id=node.id, epoch=node.epoch + 1)]


def lose_node(rows: Rows, command: LoseNode, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    node = rows.get(NODES, command.node_id)
    if node is None or node.epoch != command.epoch or node.state != "connected":
        return []
    return [NodeLost(node_id=node.id, epoch=node.epoch)]


def drain_node(rows: Rows, command: DrainNode, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    node = need_node(rows, command.node_id)
    return [] if node.draining else [NodeDrained(node_id=node.id)]


def undrain_node(rows: Rows, command: UndrainNode, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    node = need_node(rows, command.node_id)
    return [NodeUndrained(node_id=node.id)] if node.draining else []


def take_orders(rows: Rows, command: TakeOrders, context: Context) -> list[Event]:
    node = need_connection(rows, need_principal(command), command.node_id, command.epoch)
    waiting = [i for i in command.order_ids if (order := rows.get(ORDERS, i)) and order.node_id == node.id]
    return [OrdersTaken(node_id=node.id, order_ids=waiting)] if waiting else []


def need_node(rows: Rows, wanted: str) -> Node:
    """A node by its id or its name."""
    node = rows.get(NODES, wanted) or next(iter(rows.find(NODES, {"name": wanted}, limit=1)), None)
    if node is None:
        raise Refused("node_not_found", "not_found", name=wanted[:64])
    return node


def need_own_node(rows: Rows, by: Principal, node_id: str) -> Node:
    """The node whose credential this is."""
    node = rows.get(NODES, node_id)
    if node is None or by.kind != "node" or by.agent_id != node.id:
        raise Refused("node_not_found.credential", "not_found")
    return node


def need_connection(rows: Rows, by: Principal, node_id: str, epoch: int) -> Node:
    """The node, if this is its newest connection."""
    node = need_own_node(rows, by, node_id)
    if epoch != node.epoch:
        raise Refused("stale_epoch", "conflict")
    return node


DECIDE: dict[type[Command], Decide] = {
    JoinNode: join_node,
    ConnectNode: connect_node,
    LoseNode: lose_node,
    DrainNode: drain_node,
    UndrainNode: undrain_node,
    TakeOrders: take_orders,
}
