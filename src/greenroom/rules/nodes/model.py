"""Nodes, and the orders that wait for them."""

from typing import ClassVar, Literal

from greenroom.link.orders import Work
from greenroom.log.model import Command, Event, Row, Table

NodeState = Literal["new", "connected", "unreachable", "revoked"]


class Node(Row, frozen=True, kw_only=True):
    """A machine that holds agent processes. `taken` is the number of its newest item that is in the log."""

    id: str
    name: str
    joined_at: int
    state: NodeState = "new"
    """Unreachable is not failed: its agents continue. Revoked: its credential was revoked and its runs ended."""
    epoch: int = 0
    """Counts its connections: what comes over an older one is refused."""
    boot: str = ""
    """Changes when the node's program restarts: what ran before is gone then."""
    taken: int = 0
    labels: list[str] = []
    capacity: int = 0
    drivers: dict[str, str] = {}
    """Drivers found there, with the version of their runtime."""
    local: bool = False
    """The hub's own machine."""
    hub: str = ""
    """The hub that it is connected to, where several share a log."""
    draining: bool = False
    """It keeps the agents that it holds and takes no others."""
    insecure: bool = False
    """Its connection is not encrypted: anybody in between can read it, and act as this node."""
    changed_at: int = 0


class Order(Row, frozen=True, kw_only=True):
    """Something a node is to do. It waits here until the node has stored it."""

    id: str
    node_id: str
    run_id: str
    agent_id: str
    work: Work
    at: int = 0


NODES = Table("node", Node, ("id",), (("name",), ("state",), ("_seq",)))
ORDERS = Table("order", Order, ("id",), (("node_id", "_seq"), ("run_id",)))


class JoinNode(Command, frozen=True, kw_only=True):
    """Let a machine be a node; it gets a credential of its own."""

    node_id: str
    name: str
    credential_id: str
    digest: str
    local: bool = False


class ConnectNode(Command, frozen=True, kw_only=True):
    """A node has connected: what it is, and what it can run."""

    node_id: str
    boot: str
    labels: list[str]
    capacity: int
    drivers: dict[str, str]
    hub: str = ""
    insecure: bool = False
    acked: int = 0
    """Up to which number its items were in the log, as the node knows it."""


class DrainNode(Command, frozen=True, kw_only=True):
    """Let a node keep the agents that it holds, and give it no others."""

    node_id: str


class UndrainNode(Command, frozen=True, kw_only=True):
    """Give agents to a node again."""

    node_id: str


class LoseNode(Command, frozen=True, kw_only=True):
    """A node's connection is gone, or its lease has run out."""

    node_id: str
    epoch: int


class TakeOrders(Command, frozen=True, kw_only=True):
    """A node has stored these orders."""

    node_id: str
    epoch: int
    order_ids: list[str]


class NodeJoined(Event, frozen=True, kw_only=True):
    """A machine may be a node from now on."""

    privileged: ClassVar[bool] = True
    node_id: str
    name: str
    local: bool = False


class NodeConnected(Event, frozen=True, kw_only=True):
    """A node is there; older connections of it count no more."""

    node_id: str
    epoch: int
    boot: str
    labels: list[str]
    capacity: int
    drivers: dict[str, str]
    hub: str = ""
    insecure: bool = False
    acked: int = 0


class NodeDrained(Event, frozen=True, kw_only=True):
    """A node gets no agents from now on."""

    privileged: ClassVar[bool] = True
    node_id: str


class NodeUndrained(Event, frozen=True, kw_only=True):
    """A node gets agents again."""

    privileged: ClassVar[bool] = True
    node_id: str


class NodeRemoved(Event, frozen=True, kw_only=True):
    """A node was removed."""

    privileged: ClassVar[bool] = True
    node_id: str
    name: str


class NodeRevoked(Event, frozen=True, kw_only=True):
    """The last credential of a node was revoked: it may not connect any more, and its runs are lost."""

    node_id: str


class NodeLost(Event, frozen=True, kw_only=True):
    """A node cannot be reached."""

    node_id: str
    epoch: int


class OrderGiven(Event, frozen=True, kw_only=True):
    """A node is to do something."""

    version: ClassVar[int] = 2
    order_id: str
    node_id: str
    run_id: str
    agent_id: str
    work: Work


class OrdersTaken(Event, frozen=True, kw_only=True):
    """A node has stored orders and will carry them out."""

    node_id: str
    order_ids: list[str]


class ItemsTaken(Event, frozen=True, kw_only=True):
    """A node's items up to this number are in the log."""

    node_id: str
    number: int
