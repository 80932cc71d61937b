"""The frames of one connection: each binary frame is one message."""

from google.protobuf.json_format import Parse, ParseError
from google.protobuf.message import DecodeError
from starlette.types import Message, Receive

from greenroom.doors.compat.assist.agentassist_pb2 import WebsocketMessage


def parse_frame(data: bytes | str, *, is_text: bool = False) -> WebsocketMessage | None:
    """The message in a frame of the kind that the connection speaks; None when it holds none."""
    try:
        if isinstance(data, str):
            return Parse(data, WebsocketMessage(), ignore_unknown_fields=True) if is_text else None
        return None if is_text else WebsocketMessage.FromString(data)
    except (DecodeError, ParseError, RecursionError):
        return None


async def receive_frame(receive: Receive) -> bytes | str | None:
    """The next frame; None when the connection is over."""
    message = await receive()
    if message["type"] == "websocket.disconnect":
        return None
    data: bytes | None = message.get("bytes")
    return data if data is not None else str(message.get("text") or "")


def build_frame(data: bytes | str) -> Message:
    return {"type": "websocket.send", "text" if isinstance(data, str) else "bytes": data}
