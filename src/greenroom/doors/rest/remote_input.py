"""Remote input: text that one device of a person sends to be typed on another that they switched on.

Nothing of it is stored. Only people send and receive: agents have no right to it.
"""

import asyncio
import hmac
from collections import deque
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from greenroom.buckets import Bucket
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest.wire import build_json_response, read_body, read_query, run_while_connected
from greenroom.errors import Refused
from greenroom.ids import new_id, new_secret
from greenroom.rules.access.model import Principal
from greenroom.services.hub import Hub

_KEPT_S = 60.0
_MOST = 100
_CODE = 8


class NewReceiver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(max_length=100)] = ""


class Receiver(msgspec.Struct):
    """A device that types the text it receives."""

    id: str
    name: str
    code: str
    """What a device with another credential of the same person names; shown to who switched it on."""


class ShownReceiver(msgspec.Struct):
    id: str
    name: str


class InputTexts(msgspec.Struct):
    texts: list[str]


class InputText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text to type: on one's own devices, or on that which shows the code."""

    text: Annotated[str, Meta(min_length=1, max_length=65_536)]
    code: str | None = None
    receiver: str | None = None
    """One of one's own devices; without it the text goes to all of them."""


class DeliveryCount(msgspec.Struct):
    delivered: int


class InputWaitQuery(msgspec.Struct, frozen=True):
    for_s: float = 30.0


class InputReceiver:
    """An active receiver: its owner, and the text that waits to be typed."""

    def __init__(self, owner: str, name: str, now_s: float) -> None:
        self.id = new_id("rcv")
        self.owner = owner
        self.name = name
        self.code = new_secret(8)[:_CODE]
        self.texts: deque[str] = deque(maxlen=_MOST)
        self.wake = asyncio.Event()
        self.heard_s = now_s

    def type(self, text: str) -> None:
        self.texts.append(text)
        self.wake.set()


class InputReceivers:
    """All receivers that called recently."""

    def __init__(self) -> None:
        self._devices: dict[str, InputReceiver] = {}
        self._guesses: dict[str, Bucket] = {}

    def switch_on(self, by: Principal, name: str) -> InputReceiver:
        self._forget()
        if len(self.find_owned(by)) >= _MOST:
            raise Refused("too_many_receivers", "limited", limit=_MOST)
        device = InputReceiver(by.id, name, _now_s())
        self._devices[device.id] = device
        return device

    def _forget(self) -> None:
        silent = [device.id for device in self._devices.values() if _now_s() - device.heard_s > _KEPT_S]
        for id in silent:
            del self._devices[id]

    def find_owned(self, by: Principal) -> list[InputReceiver]:
        self._forget()
        return [device for device in self._devices.values() if device.owner == by.id]

    def need(self, by: Principal, id: str) -> InputReceiver:
        device = self._devices.get(id)
        if device is None or device.owner != by.id:
            raise Refused("receiver_not_found", "not_found")
        return device

    def switch_off(self, by: Principal, id: str) -> None:
        device = self.need(by, id)
        del self._devices[device.id]

    def find_addressed(self, by: Principal, text: InputText) -> list[InputReceiver]:
        """Where a text goes: to the device that shows the code, or to one's own."""
        if text.code is None:
            return [self.need(by, text.receiver)] if text.receiver is not None else self.find_owned(by)
        if not self._guesses.setdefault(by.id, Bucket(10, 0.2)).take():
            raise Refused("too_many_failures.codes", "limited")
        self._forget()
        given = text.code.strip().lower().encode()
        return [device for device in self._devices.values() if hmac.compare_digest(device.code.encode(), given)]


def _now_s() -> float:
    return asyncio.get_running_loop().time()


def endpoints() -> list[Endpoint]:
    devices = InputReceivers()

    async def switch_on(hub: Hub, by: Principal, request: Request) -> Response:
        body = await read_body(request, NewReceiver)
        device = devices.switch_on(by, body.name)
        return build_json_response(Receiver(device.id, device.name, device.code), 201)

    async def listed(hub: Hub, by: Principal, request: Request) -> Response:
        return build_json_response([ShownReceiver(device.id, device.name) for device in devices.find_owned(by)])

    async def receive(hub: Hub, by: Principal, request: Request) -> Response:
        device = devices.need(by, request.path_params["receiver_id"])
        wait_s = max(0.0, min(read_query(request, InputWaitQuery).for_s, 50.0))
        device.heard_s = _now_s() + wait_s
        await run_while_connected(request, _wait_for_text(device, wait_s))
        device.heard_s = _now_s()
        texts = list(device.texts)
        device.texts.clear()
        device.wake.clear()
        return build_json_response(InputTexts(texts))

    async def switch_off(hub: Hub, by: Principal, request: Request) -> Response:
        devices.switch_off(by, request.path_params["receiver_id"])
        return Response(status_code=204)

    async def send(hub: Hub, by: Principal, request: Request) -> Response:
        body = await read_body(request, InputText)
        found = devices.find_addressed(by, body)
        for device in found:
            device.type(body.text)
        return build_json_response(DeliveryCount(len(found)))

    one = "/api/input/receivers/{receiver_id}"
    many = "/api/input/receivers"
    return [
        Endpoint(
            "POST",
            "/api/input",
            "answer",
            send,
            "Type text on your devices",
            body=InputText,
            answer=DeliveryCount,
        ),
        Endpoint("GET", many, "answer", listed, "Your devices that type text", answer=list[ShownReceiver]),
        Endpoint(
            "POST",
            many,
            "answer",
            switch_on,
            "Register this device for typing",
            body=NewReceiver,
            answer=Receiver,
            status=201,
        ),
        Endpoint(
            "GET",
            one,
            "answer",
            receive,
            "Wait for text to type",
            query=InputWaitQuery,
            answer=InputTexts,
        ),
        Endpoint("DELETE", one, "answer", switch_off, "Unregister this device", status=204),
    ]


async def _wait_for_text(device: InputReceiver, wait_s: float) -> None:
    try:
        async with asyncio.timeout(wait_s):
            await device.wake.wait()
    except TimeoutError:
        return
