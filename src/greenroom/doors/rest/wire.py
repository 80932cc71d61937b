"""Decodes requests into typed values and encodes values as JSON. An error names its place in the request."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from greenroom.doors.http.errors import HttpRefused
from greenroom.doors.http.http_call import WHOLE, Whole
from greenroom.errors import Refused
from greenroom.log.model import Done
from greenroom.log.store import Snapshot
from greenroom.sentences import build_sentence
from greenroom.sentences.english import render_english
from greenroom.services.hub import Hub
from greenroom.validation import explain_error

T = TypeVar("T")
encode = msgspec.json.Encoder().encode
Number = Annotated[int, Meta(ge=0, le=2**53)]
"""A seq, or a time in milliseconds: as far as clients in JavaScript can count, and no store is given more."""
Limit = Annotated[int, Meta(ge=0)]
"""How many of a list are wanted at most; each list has a bound of its own."""
_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_decoders: dict[type[Any], Callable[[bytes], Any]] = {}


async def read_raw_body(request: Request) -> bytes:
    """The whole body; the guard has seen to its size."""
    parts = []
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


async def read_body(request: Request, kind: type[T]) -> T:
    """The body as `kind`; one that may be left out has a default for every field."""
    return decode_json(await read_raw_body(request) or b"{}", kind)


def decode_json(data: bytes, kind: type[T]) -> T:
    """JSON as `kind`. Too deep, not UTF-8, not JSON, or of another form: refused with the place."""
    try:
        decode = _decoders.get(kind)
        if decode is None:
            decode = _decoders.setdefault(kind, msgspec.json.Decoder(kind).decode)
        return decode(data)  # type: ignore[no-any-return]
    except RecursionError:
        raise build_bad_request("bad_request.body_too_deep") from None
    except msgspec.ValidationError as error:
        key, problem = explain_error(error, kind)
        if key:
            raise build_bad_request("bad_request.body_field", key=key, problem=problem) from None
        raise build_bad_request("bad_request.body", error=problem) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise build_bad_request("bad_request.body", error=error) from None


def read_query(request: Request, kind: type[T]) -> T:
    """The query string as `kind`."""
    try:
        return msgspec.convert(dict(request.query_params), kind, strict=False)
    except msgspec.ValidationError as error:
        key, problem = explain_error(error, kind)
        raise build_bad_request("bad_request.query", name=key, problem=problem) from None


async def run_while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do long work for as long as the caller waits for it. To be used once the body has been read."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientDisconnect
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def get_idempotency_key(request: Request) -> str | None:
    """The caller's own id for a request, so that a repeat is recognised."""
    keys = [value for name, value in request.scope["headers"] if name == b"idempotency-key"]
    if not keys:
        return None
    key: str = keys[0].decode("latin-1")
    if len(keys) > 1 or not _KEY.fullmatch(key):
        raise build_bad_request("bad_request.idempotency_key")
    return key


def need_same_request(done: Done, is_same: bool) -> None:
    """Refuse a key that came back with another request."""
    if done.repeated and not is_same:
        raise Refused("key_reused.request", "conflict")


def build_bad_request(key: str, /, **params: object) -> HttpRefused:
    """A call that is not as it should be; the key begins with "bad_request."."""
    return HttpRefused(400, "bad_request", build_sentence(key, **params))


class JsonResponse(Response):
    """A body of JSON. Its headers are put down as they are: all answers have the same two."""

    media_type = "application/json"

    def __init__(self, body: bytes, status: int) -> None:
        self.status_code, self.body, self.background = status, body, None
        self._body = body
        self.raw_headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        whole: Whole | None = scope.get(WHOLE)
        if whole is None or not whole(self.status_code, self._body):
            await super().__call__(scope, receive, send)


async def read_json_response(hub: Hub, read: Callable[[Snapshot], Any]) -> Response:
    """A JSON response, read and encoded in a thread, because a list may be long and other requests must not wait."""
    return JsonResponse(await hub.store.read(lambda view: encode(render_english(read(view)))), 200)


def build_json_response(value: Any, status: int = 200) -> Response:
    """An answer in JSON."""
    return JsonResponse(encode(render_english(value)), status)
