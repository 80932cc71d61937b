"""The frames between a node and its hub, one JSON object each."""

from typing import Annotated, Any, Literal

import msgspec

from greenroom.json_types import JsonObject
from greenroom.link.orders import UnknownOrder, Work, build_body, get_order_name, read_work
from greenroom.link.reports import Report, read_report
from greenroom.sentences import Sentence

LINK_VERSION = 2
LEASE_S = 15
KEYS_S = 10
"""How long keys may travel from a viewer to the hub. A viewer that gets nothing for so long says that it is cut off."""
NOT_WELCOME = 4400
"""The code with which the hub closes a connection that it does not take; the reason is a sentence for a person."""
ENDED = 4401
"""The code with which it hangs up on a node whose credential was ended."""
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Name = Annotated[str, msgspec.Meta(max_length=200)]


class Hello(msgspec.Struct, frozen=True, kw_only=True, tag="hello", tag_field="op"):
    """A node's first frame: what it is, which runs it holds, and the number of its newest item."""

    version: int
    boot: Name
    labels: list[Name]
    capacity: Count
    drivers: dict[Name, Name]
    live: list[Name]
    newest: Count
    acked: Count = 0
    """The number of the newest item that a hub has had from it; the node has kept none up to this one."""
    insecure: bool = False
    """The connection is not encrypted, and the node was started with permission for that."""


class ItemFrame(msgspec.Struct, frozen=True, kw_only=True, tag="item", tag_field="op"):
    """An item from an agent. The node keeps it until the hub has acknowledged its number."""

    number: Count
    run: str
    at: Count
    heard: Report


class Taken(msgspec.Struct, frozen=True, kw_only=True, tag="taken", tag_field="op"):
    """The node has stored these orders."""

    orders: list[str]


LiveKind = Literal["said", "thought", "screen", "none", "absent", "ended", "away", "unknown"]
"""said, thought: words of the agent · screen: of its terminal · none: it has no terminal · absent: the node does not
hold it · ended: its program has ended · away: the node is gone · unknown: what only a newer node knows."""


class Live(msgspec.Struct, frozen=True, kw_only=True, tag="live", tag_field="op"):
    """Something to be shown and forgotten: words as they come, or the bytes of a terminal."""

    agent: str
    kind: LiveKind
    data: Any = None


class Looked(msgspec.Struct, frozen=True, kw_only=True, tag="looked", tag_field="op"):
    """What prevents a profile from starting on this machine: the answer to Look."""

    id: str
    problems: list[str]
    sentences: list[Sentence] = []
    """The same problems, for a reader of another language; an older node does not send them."""
    missing_program: str = ""
    """The program that the profile names and this machine does not have."""


class PingFrame(msgspec.Struct, frozen=True, kw_only=True, tag="ping", tag_field="op"):
    """The node is there: renews its lease."""


class Welcome(msgspec.Struct, frozen=True, kw_only=True, tag="welcome", tag_field="op"):
    """The hub's first word: the epoch of this connection, and the number up to which it has everything."""

    node: str
    epoch: int
    taken: int
    lease_s: int
    name: str = ""
    """What people call the node; an older hub does not say it."""


class Ack(msgspec.Struct, frozen=True, kw_only=True, tag="ack", tag_field="op"):
    """Items up to this number are in the log."""

    number: int


class Ordered(msgspec.Struct, frozen=True, kw_only=True):
    """Something the node is to do. It is sent again until the node says that it has stored it."""

    id: str
    run: str
    agent: str
    work: Work | UnknownOrder
    token: str | None = None
    """The agent's credential, for a start."""
    credential: str | None = None
    """Its id, which the node sends back when the agent has started with it."""
    good_for_s: float | None = None
    """Of a person's approval: how long it may still be used, from when the hub sends it. None is forever."""


class _OrderFrame(msgspec.Struct, frozen=True, kw_only=True, tag="order", tag_field="op"):
    """An order as it goes over the link: its fields are apart from its name."""

    id: str
    what: str
    run: str
    agent: str
    body: JsonObject
    token: str | None = None
    credential: str | None = None
    good_for_s: float | None = None


_SHARED = set(Ordered.__struct_fields__) & set(_OrderFrame.__struct_fields__)


class Watch(msgspec.Struct, frozen=True, kw_only=True, tag="watch", tag_field="op"):
    """Somebody watches an agent's terminal, or nobody does any more: send its screen, then its changes."""

    agent: str
    on: bool


class TerminalInput(msgspec.Struct, frozen=True, kw_only=True, tag="typed", tag_field="op"):
    """Keys for an agent's terminal, or its new size."""

    agent: str
    data: str = ""
    rows: int = 0
    columns: int = 0


class Look(msgspec.Struct, frozen=True, kw_only=True, tag="look", tag_field="op"):
    """See whether a profile could be started there, without starting anything."""

    id: str
    definition: JsonObject


class Stopping(msgspec.Struct, frozen=True, kw_only=True, tag="stopping", tag_field="op"):
    """The hub stops and will be back; a local node that holds no agent may go too."""


class PongFrame(msgspec.Struct, frozen=True, kw_only=True, tag="pong", tag_field="op"):
    """The hub is there."""


FromNode = Hello | ItemFrame | Taken | Live | Looked | PingFrame
FromHub = Welcome | Ack | Ordered | Watch | TerminalInput | Look | Stopping | PongFrame
encode = msgspec.json.Encoder().encode
_decode_from_node = msgspec.json.Decoder(FromNode).decode
_decode_from_hub = msgspec.json.Decoder(
    Welcome | Ack | _OrderFrame | Watch | TerminalInput | Look | Stopping | PongFrame
).decode


def encode_from_hub(frame: FromHub) -> bytes:
    if not isinstance(frame, Ordered):
        return encode(frame)
    work, shared = frame.work, {name: getattr(frame, name) for name in _SHARED}
    return encode(_OrderFrame(what=get_order_name(work), body=build_body(work, frame.run), **shared))


def decode_from_hub(text: str | bytes) -> FromHub:
    """A frame of a hub; raises DecodeError when it is none. An order of a hub of another version is read as well."""
    frame = _decode_from_hub(text)
    if not isinstance(frame, _OrderFrame):
        other: FromHub = frame
        return other
    shared = {name: getattr(frame, name) for name in _SHARED}
    return Ordered(work=read_work(frame.what, frame.body, frame.run), **shared)


class _AnyItem(msgspec.Struct, tag="item", tag_field="op"):
    """An item with a report that is not one of ours."""

    number: Count
    run: str
    at: Count
    heard: JsonObject


class _AnyLive(msgspec.Struct, tag="live", tag_field="op"):
    """Something to be shown that is not one of ours."""

    agent: str


def _read_other(frame: _AnyItem | _AnyLive) -> FromNode:
    if isinstance(frame, _AnyLive):
        return Live(agent=frame.agent, kind="unknown")
    return ItemFrame(number=frame.number, run=frame.run, at=frame.at, heard=read_report(frame.heard))


def decode_from_node(text: str) -> FromNode:
    """A frame of a node; raises DecodeError when it is none. An item of a node of another version is read as well."""
    try:
        try:
            found: FromNode = _decode_from_node(text)
        except msgspec.ValidationError:
            found = _read_other(msgspec.json.decode(text, type=_AnyItem | _AnyLive))
    except RecursionError:
        raise msgspec.DecodeError("it is nested too deeply") from None
    return found


class _Version(msgspec.Struct):
    op: str = ""
    version: Any = None


def decode_hello(text: str) -> Hello:
    """A node's first word; raises ValueError with a sentence when it is not one of this version."""
    try:
        said = msgspec.json.decode(text, type=_Version)
        if said.op == "hello" and said.version != LINK_VERSION:
            raise ValueError(
                f"this hub speaks version {LINK_VERSION} of the node's protocol, the node {str(said.version)[:20]}:"
                " install the same release on both"
            )
        return msgspec.json.decode(text, type=Hello)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"the node's first word is not a hello: {error}"[:100]) from None
