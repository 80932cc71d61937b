"""The frames of the sync socket: what a client may send, and frames built from encoded rows."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from greenroom.log.codec import encode
from greenroom.log.signals import SignalKind
from greenroom.sentences import Words, list_wire_fields

Number = Annotated[int, msgspec.Meta(ge=0, le=(1 << 53) - 1)]


class Subscribe(msgspec.Struct, frozen=True, tag_field="op", tag="subscribe"):
    """Send the rows of a view, and whatever changes. With `after`, only what has changed since that seq."""

    id: Number
    view: Annotated[str, msgspec.Meta(max_length=64)]
    key: Annotated[str, msgspec.Meta(min_length=1, max_length=256)] | None = None
    after: Number | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] | None = None


class Unsubscribe(msgspec.Struct, frozen=True, tag_field="op", tag="unsubscribe"):
    """Send no more of a view."""

    id: Number


class SyncPing(msgspec.Struct, frozen=True, tag_field="op", tag="ping"):
    """Answer, so that the client knows that the hub is there."""


Wish = Subscribe | Unsubscribe | SyncPing


class _Numbered(msgspec.Struct):
    id: Number | None = None


_decode: Any = msgspec.json.Decoder(Wish).decode
_decode_number = msgspec.json.Decoder(_Numbered).decode


class BadFrame(Exception):
    """A client's frame that means nothing; `id` is the number in it, where there is one."""

    def __init__(self, number: int | None, message: str) -> None:
        super().__init__(message)
        self.id = number


def parse_frame(text: str) -> Wish:
    """The request in a client's frame; raises BadFrame."""
    try:
        wish: Wish = _decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BadFrame(_get_number(text), f"Not a frame of this protocol: {error}") from None
    return wish


def _get_number(text: str) -> int | None:
    try:
        return _decode_number(text).id
    except (msgspec.MsgspecError, RecursionError):
        return None


class SyncFrame(NamedTuple):
    """A frame as it is sent, and its size in bytes."""

    text: str
    size: int


def build_frame(data: bytes) -> SyncFrame:
    return SyncFrame(data.decode(), len(data))


def encode_frame_row(table: str, key: str, data: bytes, seq: int | None = None) -> bytes:
    """One row of a frame."""
    place = b'{"table":"%b","key":%b,' % (table.encode(), encode(key))
    return b'%b"row":%b}' % (place if seq is None else b'%b"seq":%d,' % (place, seq), data)


def build_snapshot(number: int, seq: int, rows: Iterable[bytes], more: bool) -> SyncFrame:
    """All rows of a view as they are at `seq`; with `more` there are older ones beside them."""
    flag = b"true" if more else b"false"
    return build_frame(
        b'{"op":"snapshot","id":%d,"seq":%d,"more":%b,"rows":[%b]}' % (number, seq, flag, b",".join(rows))
    )


def build_changes(view: str, key: str, seq: int, rows: Iterable[bytes], number: int | None = None) -> SyncFrame:
    """Rows of a view that have changed; a frame without a number is the same for all subscribers."""
    head = b'{"op":"changes",'
    if number is not None:
        head += b'"id":%d,' % number
    head += b'"view":"%b",' % view.encode()
    if key:
        head += b'"key":%b,' % encode(key)
    return build_frame(b'%b"seq":%d,"rows":[%b]}' % (head, seq, b",".join(rows)))


def build_resync(number: int) -> SyncFrame:
    """The client's seq is not of this log's past."""
    return build_frame(b'{"op":"resync","id":%d}' % number)


def build_error(number: int | None, code: str, said: Words) -> SyncFrame:
    told = {"op": "error", "id": number, "error": code, "message": str(said), **list_wire_fields(said)}
    return build_frame(encode(told))


def build_signal(kind: SignalKind | Literal["agents.online", "page.outdated"], payload: Any) -> SyncFrame:
    """A signal: shown and not stored."""
    return build_frame(encode({"op": "signal", "kind": kind, "payload": payload}))


PONG = build_frame(b'{"op":"pong"}')
