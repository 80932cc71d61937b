"""Rows of nodes and their orders."""

from functools import partial
from typing import Any

import msgspec

from greenroom.link.orders import EndOrder, UnknownOrder, read_work
from greenroom.log.copied_fields import copy_fields, take_fields
from greenroom.log.model import Event, Noun, Project, Recorded, Tx
from greenroom.log.row_changes import change_row
from greenroom.rules.nodes.decide import DECIDE
from greenroom.rules.nodes.model import (
    NODES,
    ORDERS,
    ItemsTaken,
    Node,
    NodeConnected,
    NodeDrained,
    NodeJoined,
    NodeLost,
    NodeRemoved,
    NodeRevoked,
    NodeUndrained,
    Order,
    OrderGiven,
    OrdersTaken,
)

_change = partial(change_row, NODES)


def node_joined(tx: Tx, event: NodeJoined, record: Recorded) -> None:
    node = copy_fields(event, Node, id=event.node_id, joined_at=record.at, changed_at=record.at)
    tx.put(NODES, node)


def node_connected(tx: Tx, event: NodeConnected, record: Recorded) -> None:
    node = tx.get(NODES, event.node_id)
    if node is not None:
        taken = max(node.taken, event.acked)  # what a log has lost that a backup replaced comes no more
        tx.put(NODES, take_fields(node, event, state="connected", taken=taken, changed_at=record.at))


def node_lost(tx: Tx, event: NodeLost, record: Recorded) -> None:
    _change(tx, event.node_id, state="unreachable", changed_at=record.at)


def node_revoked(tx: Tx, event: NodeRevoked, record: Recorded) -> None:
    tx.drop_all(ORDERS, {"node_id": event.node_id})
    _change(tx, event.node_id, state="revoked", changed_at=record.at)


def node_drained(tx: Tx, event: NodeDrained, record: Recorded) -> None:
    _change(tx, event.node_id, draining=True, changed_at=record.at)


def node_undrained(tx: Tx, event: NodeUndrained, record: Recorded) -> None:
    _change(tx, event.node_id, draining=False, changed_at=record.at)


def node_removed(tx: Tx, event: NodeRemoved, record: Recorded) -> None:
    tx.drop_all(ORDERS, {"node_id": event.node_id})
    tx.drop(NODES, event.node_id)


def order_given(tx: Tx, event: OrderGiven, record: Recorded) -> None:
    tx.put(
        ORDERS,
        copy_fields(event, Order, id=event.order_id, at=record.at),
    )


def orders_taken(tx: Tx, event: OrdersTaken, record: Recorded) -> None:
    for order_id in event.order_ids:
        tx.drop(ORDERS, order_id)


def items_taken(tx: Tx, event: ItemsTaken, record: Recorded) -> None:
    _change(tx, event.node_id, taken=event.number)


def upcast_order(fields: dict[str, Any]) -> dict[str, Any]:
    """Version 1 had the name of an order apart from what belongs to it. One that makes no sense today does nothing."""
    what, body = fields.pop("op"), fields.pop("body", {})
    work = read_work(what, body, fields["run_id"])
    return {**fields, "work": msgspec.to_builtins(EndOrder() if isinstance(work, UnknownOrder) else work)}


PROJECT: dict[type[Event], Project] = {
    NodeJoined: node_joined,
    NodeConnected: node_connected,
    NodeLost: node_lost,
    NodeRevoked: node_revoked,
    NodeDrained: node_drained,
    NodeUndrained: node_undrained,
    NodeRemoved: node_removed,
    OrderGiven: order_given,
    OrdersTaken: orders_taken,
    ItemsTaken: items_taken,
}

NODES_NOUN = Noun(
    name="nodes",
    tables=(NODES, ORDERS),
    events=tuple(PROJECT),
    decide=DECIDE,
    project=PROJECT,
    upcast={("OrderGiven", 1): upcast_order},
    sources=("greenroom.rules.nodes.model", "greenroom.rules.nodes.project", "greenroom.link.orders"),
)
