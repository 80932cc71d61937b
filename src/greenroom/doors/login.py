"""How a browser gets in: a one-time code is exchanged for a cookie that scripts cannot read."""

import asyncio
import html
import re
import time
from urllib.parse import parse_qs

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from greenroom.doors.credentials import Bucket, cookie_name
from greenroom.doors.endpoint import PUBLIC, Endpoint
from greenroom.doors.room_login import get_entered
from greenroom.hub import Hub
from greenroom.log.ids import new_secret
from greenroom.nouns.access.model import HUB, CreateCredential, Principal, RevokeCredential
from greenroom.nouns.access.tokens import new_token

_GUESSES = 20
_CODE_S = 600
_SESSION_MS = 30 * 86_400_000
_PATH = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,500}")


class LoginCodes:
    """Codes that let one browser in, once, for a short while. They die with the hub."""

    def __init__(self) -> None:
        self._codes: dict[str, tuple[float, str]] = {}

    def issue(self, name: str = "browser") -> str:
        """A code; the browser that comes with it is called so."""
        now = time.monotonic()
        self._codes = {code: known for code, known in self._codes.items() if known[0] > now}
        code = new_secret(20)
        self._codes[code] = (now + _CODE_S, name)
        return code

    def take(self, code: str) -> str | None:
        """The name of whoever comes with a good code, which it is not any more; None when it was none."""
        until, name = self._codes.pop(code, (0.0, ""))
        return name if until > time.monotonic() else None


class LoginCode(msgspec.Struct):
    code: str
    expires_in_s: int


def endpoints(codes: LoginCodes) -> list[Endpoint]:
    """The login page, its form, logging out, and codes for another browser."""
    guesses = Bucket(_GUESSES, 1)

    async def show(hub: Hub, by: Principal, request: Request) -> Response:
        return _page(request.query_params.get("code", ""), _local(request.query_params.get("next", "")))

    async def enter(hub: Hub, by: Principal, request: Request) -> Response:
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        wanted = _local("".join(form.get("next", [])))
        if (entered := get_entered(hub, "".join(form.get("code", [])).strip(), wanted)) is not None:
            return entered
        name = codes.take("".join(form.get("code", [])).strip())
        if name is None:
            if not guesses.take():
                return _page("", wanted, "Too many wrong codes: wait a little.", 429)
            problem = "This code is used up or too old. Get a new one with: greenroom token login"
            return _page("", wanted, problem, 401)
        token = new_token("operator")
        expires_at = hub.log.clock.now() + _SESSION_MS
        await hub.log.do(
            CreateCredential(
                by=HUB,
                credential_id=token.credential_id,
                kind="operator",
                name=name,
                digest=token.digest,
                expires_at=expires_at,
                browser=True,
            )
        )
        response = RedirectResponse(wanted, status_code=303)
        response.set_cookie(
            cookie_name(hub),
            token.text,
            max_age=_SESSION_MS // 1000,
            httponly=True,
            samesite="strict",
            secure=hub.settings.tls_cert is not None,
        )
        return response

    async def leave(hub: Hub, by: Principal, request: Request) -> Response:
        if by.credential is not None:
            await end_credential(hub, by, by.credential, "logged out")
        response = RedirectResponse("/login", status_code=303)
        response.delete_cookie(cookie_name(hub), httponly=True, samesite="strict")
        return response

    async def new_code(hub: Hub, by: Principal, request: Request) -> Response:
        code = LoginCode(codes.issue(by.name), _CODE_S)
        return Response(msgspec.json.encode(code), media_type="application/json")

    return [
        Endpoint("GET", "/login", PUBLIC, show, "The login page", answer="text/html"),
        Endpoint("POST", "/login", PUBLIC, enter, "Exchange a one-time code for a cookie", max_bytes=4096, status=303),
        Endpoint("POST", "/logout", "enter", leave, "End this browser's login", max_bytes=4096, status=303),
        Endpoint(
            "POST", "/api/login-codes", "operate", new_code, "A one-time code for another browser", answer=LoginCode
        ),
    ]


async def end_credential(hub: Hub, by: Principal, credential_id: str, reason: str) -> None:
    """End a credential. Who ends its own ends this very call, which may yet be answered."""
    try:
        await hub.log.do(RevokeCredential(by=by, credential_id=credential_id, reason=reason))
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if credential_id != by.credential or task is None:
            raise
        task.uncancel()


def _local(wanted: str) -> str:
    """Where to go after the login: a path of this hub, whatever was asked for."""
    return wanted if _PATH.fullmatch(wanted) else "/"


def _page(code: str, wanted: str, problem: str = "", status: int = 200) -> HTMLResponse:
    """A form that works without scripts; the script beside it goes on at once for who is logged in already."""
    note = f"<p role='alert'>{html.escape(problem)}</p>" if problem else ""
    return HTMLResponse(
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Greenroom</title>"
        "<meta name='viewport' content='width=device-width'><link rel='icon' href='/icon.svg'>"
        "<link rel='stylesheet' href='/login.css'><script src='/login.js' defer></script></head>"
        "<body><main><h1>Greenroom</h1><p>The room where your agents wait, talk and are called.</p>"
        f"{note}<form method='post' action='/login'>"
        f"<input type='hidden' name='next' value='{html.escape(wanted, quote=True)}'>"
        "<label for='code'>One-time code</label><input id='code' name='code' autocomplete='off' autofocus required "
        f"spellcheck='false' value='{html.escape(code, quote=True)}'><button>Enter</button></form>"
        "<p class='hint'>Get a code with <code>greenroom token login</code>, or from another browser's settings.</p>"
        "</main></body></html>",
        status_code=status,
        headers={"referrer-policy": "same-origin"},  # with none at all a browser hides the origin of the form
    )
