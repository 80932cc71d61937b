"""Frames of one connection: each binary frame is one message; what is sent waits in the device until it is taken."""

import asyncio

from google.protobuf.json_format import Parse, ParseError
from google.protobuf.message import DecodeError
from starlette.types import Message, Receive, Send

from greenroom.doors.assist.agentassist_pb2 import WebsocketMessage
from greenroom.doors.assist.rooms import Device

_SEND_S = 20.0


def parse(data: bytes | str, *, is_text: bool = False) -> WebsocketMessage | None:
    """The message in a frame of the kind that the connection speaks; None when it holds none."""
    try:
        if isinstance(data, str):
            return Parse(data, WebsocketMessage(), ignore_unknown_fields=True) if is_text else None
        return None if is_text else WebsocketMessage.FromString(data)
    except (DecodeError, ParseError, RecursionError):
        return None


async def next_frame(receive: Receive) -> bytes | str | None:
    """The next frame; None when the connection is over."""
    message = await receive()
    if message["type"] == "websocket.disconnect":
        return None
    data: bytes | None = message.get("bytes")
    return data if data is not None else str(message.get("text") or "")


def frame_of(data: bytes | str) -> Message:
    return {"type": "websocket.send", "text" if isinstance(data, str) else "bytes": data}


async def write(device: Device, send: Send) -> None:
    """Send what waits, until the connection ends."""
    while True:
        await device.wake.wait()
        device.wake.clear()
        unsent, device.unsent = device.unsent, []
        for data in unsent if device.ending is None else ():
            async with asyncio.timeout(_SEND_S):
                await send(frame_of(data))
        if device.ending is not None:
            code, reason = device.ending
            if code != 1000:
                await send({"type": "websocket.close", "code": code, "reason": reason})
            return
