"""Credentials over REST, for operators: list, create and revoke them."""

from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from greenroom.clock import format_iso
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.login import end_credential
from greenroom.doors.rest import shapes
from greenroom.doors.rest.verbs import build_verb_endpoints
from greenroom.doors.rest.wire import (
    build_json_response,
    get_idempotency_key,
    need_same_request,
    read_body,
    read_json_response,
)
from greenroom.ids import new_id
from greenroom.link.tokens import CredentialKind, new_token
from greenroom.log.copied_fields import copy_fields
from greenroom.rules.access import model as access
from greenroom.rules.access.model import (
    CREDENTIAL_KINDS,
    CreateCredential,
    CredentialCreated,
    Principal,
    RevokeCredential,
)
from greenroom.rules.access.queries import find_credentials
from greenroom.rules.access.verbs import CREDENTIAL_VERBS
from greenroom.rules.agents.queries import agent_not_found, get_agent
from greenroom.rules.threads.queries import need_thread
from greenroom.services.hub import Hub
from greenroom.validation import Sent


class RestCredential(msgspec.Struct):
    id: str
    kind: CredentialKind
    name: str
    rights: list[str]
    agent_id: str | None
    threads: list[str] | None
    room: str | None
    created_at: str
    created_by: str
    expires_at: str | None
    revoked_at: str | None
    browser: bool
    person: str
    """The name of the person whose token or login it is; empty if it is not a person's, or the person set no name."""
    device: str
    """Of a login: the browser and its system."""
    address: str
    """Of a login: where it was last used from."""
    last_used_at: str | None
    """Of a login: when it was last used, to within ten minutes."""


class NewCredential(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A credential to give. An agent's belongs to a new agent unless one is named, or it may register several."""

    kind: Sent[CredentialKind]
    name: str
    rights: list[str] | None = None
    agent_id: str | None = None
    threads: list[str] | None = None
    room: str | None = None
    expires_in_s: Annotated[int, Meta(ge=1, le=10 * 366 * 86_400)] | None = None


class IssuedCredential(RestCredential):
    """A credential and its token, which is shown this once; a repeat of the request does not show it again."""

    token: str | None


async def list_credentials(hub: Hub, by: Principal, request: Request) -> Response:
    return await read_json_response(hub, lambda rows: [_build_credential(row) for row in find_credentials(rows)])


def _build_credential(row: access.Credential) -> RestCredential:
    return copy_fields(
        row,
        RestCredential,
        created_at=format_iso(row.created_at),
        expires_at=None if row.expires_at is None else format_iso(row.expires_at),
        revoked_at=None if row.revoked_at is None else format_iso(row.revoked_at),
        last_used_at=None if row.last_used_at is None else format_iso(row.last_used_at),
    )


async def create_credential(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, NewCredential)
    agent_id = body.agent_id
    if agent_id is not None and get_agent(hub.rows, agent_id) is None:
        raise agent_not_found(agent_id)
    for thread_id in body.threads or ():
        need_thread(hub.rows, by, thread_id)
    if body.kind == "agent" and agent_id is None and "register" not in (body.rights or ()):
        agent_id = new_id("agt")
    token = new_token(body.kind if body.kind in CREDENTIAL_KINDS else "none")
    expires_at = None if body.expires_in_s is None else hub.log.clock.now() + body.expires_in_s * 1000
    done = await hub.log.do(
        copy_fields(
            body,
            CreateCredential,
            by=by,
            key=get_idempotency_key(request),
            credential_id=token.credential_id,
            digest=token.digest,
            agent_id=agent_id,
            expires_at=expires_at,
        )
    )
    made: CredentialCreated = done.first(CredentialCreated)
    need_same_request(done, (made.kind, made.name) == (body.kind, body.name.strip()))
    row = hub.rows.get(access.CREDENTIALS, made.credential_id)
    assert row is not None  # noqa: S101 credentials are never dropped
    shown = None if done.repeated else token.text
    return build_json_response(IssuedCredential(**msgspec.structs.asdict(_build_credential(row)), token=shown), 201)


async def _revoke_credential(hub: Hub, command: RevokeCredential) -> shapes.Ok:
    await end_credential(hub, command)
    return shapes.Ok()


ENDPOINTS = [
    Endpoint(
        "GET",
        "/api/credentials",
        "operate",
        list_credentials,
        "All valid credentials, and the 500 that were revoked last",
        answer=list[RestCredential],
    ),
    Endpoint(
        "POST",
        "/api/credentials",
        "operate",
        create_credential,
        "Create a credential; its token is shown once",
        body=NewCredential,
        answer=IssuedCredential,
        status=201,
        keyed=True,
    ),
    *build_verb_endpoints(CREDENTIAL_VERBS, handlers={RevokeCredential: _revoke_credential}),
]
