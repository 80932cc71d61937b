"""Triggers over REST: operators arm them, and calls with a signature instead of a credential fire them."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.buckets import Bucket
from greenroom.doors.http.credentials import read_peer_address
from greenroom.doors.http.errors import HttpRefused
from greenroom.doors.http.routes import PUBLIC, Endpoint
from greenroom.doors.rest.verbs import build_verb_endpoints
from greenroom.doors.rest.wire import build_json_response, read_query, read_raw_body
from greenroom.errors import Refused
from greenroom.rules.access.model import RIGHTS, Principal
from greenroom.rules.workflows.triggers import webhook_signature
from greenroom.rules.workflows.triggers.decide import need_trigger
from greenroom.rules.workflows.triggers.model import (
    TRIGGERS,
    FireTrigger,
    SignalHook,
    TriggerFailed,
    TriggerFired,
    TriggerState,
)
from greenroom.rules.workflows.verbs import TRIGGER_VERBS
from greenroom.sentences import Words, build_sentence
from greenroom.services.hub import Hub
from greenroom.services.webhook_key import ensure_webhook_key

_HIDDEN = ("authorization", "cookie", "x-agent-token", *webhook_signature.HEADERS)
_MAX_HEADER = 500
_FAILURES = 20
_FAILURES_A_SECOND = 1.0
_MAX_PEERS = 10_000


class TriggerQuery(msgspec.Struct):
    """Which triggers are meant."""

    workflow: str | None = None


class Secret(msgspec.Struct):
    """What a caller signs with, and where it calls."""

    path: str
    secret: str
    """Of the older form, which Greenroom had before Standard Webhooks."""
    standard_secret: str
    """Of Standard Webhooks."""


class Fired(msgspec.Struct):
    """What a call has started; or why nothing."""

    run_id: str | None = None
    error: Words | None = None


class Signalled(msgspec.Struct):
    """The call was given to the steps that waited for it."""

    ok: bool = True


async def list_triggers(hub: Hub, by: Principal, request: Request) -> Response:
    workflow = read_query(request, TriggerQuery).workflow
    return build_json_response(
        hub.rows.find(TRIGGERS, {"workflow": workflow} if workflow else None, order="_key", limit=1000)
    )


async def show_secret(hub: Hub, by: Principal, request: Request) -> Response:
    trigger = need_trigger(hub.rows, request.path_params["trigger_id"])
    return build_json_response(_build_secret(hub, trigger.id, f"/api/triggers/{trigger.id}"))


async def show_hook_secret(hub: Hub, by: Principal, request: Request) -> Response:
    hook = request.path_params["hook"]
    return build_json_response(_build_secret(hub, f"hook {hook}", f"/api/hooks/{hook}"))


def _build_secret(hub: Hub, door: str, path: str) -> Secret:
    key = ensure_webhook_key(hub.data)
    return Secret(path, webhook_signature.derive_legacy_secret(key, door), webhook_signature.derive_secret(key, door))


class SignedCalls:
    """The endpoints for calls that are proven by a signature. A client that sends many wrong ones has to slow down."""

    def __init__(self) -> None:
        self._failures: dict[str, Bucket] = {}

    async def fire_trigger(self, hub: Hub, by: Principal, request: Request) -> Response:
        trigger_id = request.path_params["trigger_id"]
        body, signed = await self._need_signed(hub, request, trigger_id)
        trigger = hub.rows.get(TRIGGERS, trigger_id)
        if trigger is None or trigger.kind != "webhook" or not trigger.armed:
            raise _build_unproven(webhook_signature.build_wrong_signature())
        facts = {"body": _parse_body(body), "headers": _select_headers(request)}
        now = hub.log.clock.now()
        command = FireTrigger(
            by=_build_caller(trigger_id),
            trigger_id=trigger_id,
            occurrence=signed.nonce,
            at=now,
            facts=facts,
            nonce=signed.nonce,
            signed_at=signed.signed_at,
        )
        done = await hub.log.do(command)
        for record in done.records:
            if isinstance(record.event, TriggerFired):
                return build_json_response(Fired(run_id=record.event.run_id), 202)
            if isinstance(record.event, TriggerFailed):
                return build_json_response(Fired(error=record.event.error), 422)
        return build_json_response(Fired(error="nothing was started"), 422)

    async def signal_steps(self, hub: Hub, by: Principal, request: Request) -> Response:
        hook = request.path_params["hook"]
        door = f"hook {hook}"
        body, signed = await self._need_signed(hub, request, door)
        value = _parse_body(body)
        await hub.log.do(
            SignalHook(by=_build_caller(door), hook=hook, nonce=signed.nonce, signed_at=signed.signed_at, value=value)
        )
        return build_json_response(Signalled())

    async def _need_signed(self, hub: Hub, request: Request, door: str) -> tuple[bytes, webhook_signature.SignedCall]:
        """The body of a call with a valid signature, and what the signature proves."""
        body = await read_raw_body(request)
        try:
            return body, webhook_signature.need_signed_call(
                ensure_webhook_key(hub.data), door, request.headers, body, hub.log.clock.now()
            )
        except Refused as no:
            self._count_failure(read_peer_address(request.scope))
            raise _build_unproven(no) from None

    def _count_failure(self, peer: str) -> None:
        if len(self._failures) > _MAX_PEERS:
            self._failures.clear()
        if not self._failures.setdefault(peer, Bucket(_FAILURES, _FAILURES_A_SECOND)).take():
            raise HttpRefused(429, "too_many_failures", build_sentence("too_many_failures.signatures"))


def _build_unproven(no: Refused) -> HttpRefused:
    """Refuse as for a wrong credential."""
    return HttpRefused(401, no.code, no.said)


def _build_caller(door: str) -> Principal:
    """Whoever can sign for a door."""
    return Principal(id=f"webhook {door}"[:100], kind="webhook", name=door[:64], rights=RIGHTS["webhook"])


def _parse_body(body: bytes) -> object:
    """The body as JSON, or as text where it is none."""
    try:
        return msgspec.json.decode(body) if body.strip() else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body.decode(errors="replace")


def _select_headers(request: Request) -> dict[str, str]:
    """The headers that describe a call; none that prove who makes it."""
    found = {name.lower(): value[:_MAX_HEADER] for name, value in request.headers.items()}
    return {name: value for name, value in found.items() if name.startswith("x-") and name not in _HIDDEN}


_ENDPOINTS = [
    Endpoint(
        "GET",
        "/api/triggers",
        "operate",
        list_triggers,
        "The triggers of stored workflows",
        answer=list[TriggerState],
        query=TriggerQuery,
    ),
    *build_verb_endpoints(TRIGGER_VERBS),
    Endpoint(
        "GET",
        "/api/triggers/{trigger_id}/secret",
        "operate",
        show_secret,
        "The key that signs calls of a trigger",
        answer=Secret,
    ),
    Endpoint(
        "GET",
        "/api/hooks/{hook}/secret",
        "operate",
        show_hook_secret,
        "The key that signs calls of a hook",
        answer=Secret,
    ),
]


def endpoints() -> list[Endpoint]:
    """What this part of the door serves."""
    calls = SignedCalls()
    return [
        *_ENDPOINTS,
        Endpoint(
            "POST",
            "/api/triggers/{trigger_id}",
            PUBLIC,
            calls.fire_trigger,
            "Start a workflow by a signed call",
            answer=Fired,
            status=202,
        ),
        Endpoint(
            "POST",
            "/api/hooks/{hook}",
            PUBLIC,
            calls.signal_steps,
            "Call steps that wait for a signed call",
            answer=Signalled,
        ),
    ]
