"""How a browser logs in: it exchanges a one-time code for a cookie that scripts cannot read."""

import asyncio
import re
import time
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from greenroom.buckets import Bucket
from greenroom.doors.http.credentials import build_cookie_name, read_peer_address
from greenroom.doors.http.routes import PUBLIC, Endpoint
from greenroom.doors.http.user_agent import describe_device
from greenroom.doors.login_form import build_login_page
from greenroom.ids import new_secret
from greenroom.link.tokens import CredentialKind, hash_token, new_key, new_token
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import CREDENTIALS, HUB, OWNER_ID, CreateCredential, Principal, RevokeCredential
from greenroom.rules.access.queries import get_principal
from greenroom.services.hub import Hub

_GUESSES = 20
_CODE_S = 600
_SESSION_MS = 30 * 86_400_000
_PATH = re.compile(r"(?!.*(?://|/\.\.))/[\x21-\x5b\x5d-\x7e]{0,500}")


class IssuedCode(NamedTuple):
    """A code that was given out: until when it is good, and who logs in with it."""

    until: float
    person_id: str
    name: str


class LoginCodes:
    """Codes that log one browser in, once, for a short while. They die with the hub."""

    def __init__(self) -> None:
        self._codes: dict[str, IssuedCode] = {}

    def issue(self, person_id: str, name: str) -> str:
        """A code for a browser of this person; its login is named as the credential that the code was made with."""
        now = time.monotonic()
        self._codes = {code: known for code, known in self._codes.items() if known.until > now}
        code = new_secret(20)
        self._codes[code] = IssuedCode(now + _CODE_S, person_id, name)
        return code

    def take(self, code: str) -> IssuedCode | None:
        """Use up a code; None when it is not good, or not any more."""
        found = self._codes.pop(code, None)
        return found if found is not None and found.until > time.monotonic() else None


class LoginCode(msgspec.Struct):
    code: str
    expires_in_s: int


def endpoints(codes: LoginCodes) -> list[Endpoint]:
    """The login page, its form, logging out, and codes for another browser."""
    guesses = Bucket(_GUESSES, 1)

    async def show(hub: Hub, by: Principal, request: Request) -> Response:
        code, wanted = request.query_params.get("code", ""), _sanitize_path(request.query_params.get("next", ""))
        return build_login_page(request, code, wanted)

    async def enter(hub: Hub, by: Principal, request: Request) -> Response:
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        wanted = _sanitize_path("".join(form.get("next", [])))
        typed = _extract_code("".join(form.get("code", [])))
        if (person := get_person_of_room(hub, typed)) is not None:
            fields = {"rights": sorted(person.rights), "room": person.room, "login_of": person.id}
            return await log_in(hub, request, wanted, kind="room", name=person.name, until=person.expires_at, **fields)
        code = codes.take(typed)
        if code is None:
            if not guesses.take():
                return build_login_page(request, "", wanted, "too_many", 429)
            return build_login_page(request, "", wanted, "bad_code", 401)
        return await log_in(hub, request, wanted, kind="operator", name=code.name, person_id=code.person_id)

    async def leave(hub: Hub, by: Principal, request: Request) -> Response:
        if by.credential is not None:
            await end_credential(hub, RevokeCredential(by=by, credential_id=by.credential, reason="logged out"))
        response = RedirectResponse("/login", status_code=303)
        response.delete_cookie(build_cookie_name(hub), httponly=True, samesite="strict")
        return response

    async def new_code(hub: Hub, by: Principal, request: Request) -> Response:
        own = None if by.credential is None else hub.rows.get(CREDENTIALS, by.credential)
        code = LoginCode(codes.issue(by.person_id or OWNER_ID, own.name if own else by.name), _CODE_S)
        return Response(msgspec.json.encode(code), media_type="application/json")

    return [
        Endpoint("GET", "/login", PUBLIC, show, "The login page", answer="text/html"),
        Endpoint("POST", "/login", PUBLIC, enter, "Exchange a one-time code for a cookie", max_bytes=4096, status=303),
        Endpoint("POST", "/logout", "enter", leave, "End this browser's login", max_bytes=4096, status=303),
        Endpoint(
            "POST", "/api/login-codes", "operate", new_code, "A one-time code for another browser", answer=LoginCode
        ),
    ]


async def log_in(
    hub: Hub, request: Request, wanted: str, *, kind: CredentialKind, until: int | None = None, **fields: Any
) -> Response:
    """A new login for this browser. The cookie is one half of it; the page takes the other from behind the `#`, which
    no server is ever sent."""
    token, key = new_token(kind), new_key()
    expires_at = hub.log.clock.now() + _SESSION_MS
    await hub.log.do(
        CreateCredential(
            by=HUB,
            credential_id=token.credential_id,
            kind=kind,
            digest=token.digest,
            key_digest=hash_token(key),
            expires_at=expires_at if until is None else min(until, expires_at),
            browser=True,
            device=describe_device(request.headers.get("user-agent", "")),
            address=read_peer_address(request.scope),
            **fields,
        )
    )
    response = RedirectResponse(f"{wanted.partition('#')[0]}#key={key}", status_code=303)
    response.set_cookie(
        build_cookie_name(hub),
        token.text,
        max_age=_SESSION_MS // 1000,
        httponly=True,
        samesite="strict",
        secure=hub.settings.tls_cert is not None,
    )
    return response


def enter_room(request: Request) -> Response | None:
    """The response to `/?token=...`, as older clients open the page: a form that logs in once the person presses its
    button. None without a token. A person who follows a link of another site must type the token.
    """
    token = request.query_params.get("token")
    if token is None:
        return None
    is_own = request.headers.get("sec-fetch-site") in (None, "none", "same-origin")
    return build_login_page(request, token, "/") if is_own else RedirectResponse("/login", status_code=303)


def get_person_of_room(hub: Hub, token: str) -> Principal | None:
    """The person of a room whose token this is."""
    who = get_principal(hub.rows, token, hub.log.clock.now())
    return who if who is not None and who.room is not None and "answer" in who.rights else None


async def end_credential(hub: Hub, command: RevokeCredential) -> None:
    """End a credential. Who ends its own ends this very call, which may yet be answered."""
    try:
        await hub.log.do(command)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if command.credential_id != need_principal(command).credential or task is None:
            raise
        task.uncancel()


def _extract_code(text: str) -> str:
    """The code that is meant: people also paste the whole link that `greenroom token login` prints."""
    words = text.strip()
    link = urlsplit(words) if words.startswith(("http://", "https://")) else None
    return words if link is None else "".join(parse_qs(link.query).get("code", []))


def _sanitize_path(wanted: str) -> str:
    """Where to go after the login: a path of this hub, whatever was asked for."""
    return wanted if _PATH.fullmatch(wanted) else "/"
