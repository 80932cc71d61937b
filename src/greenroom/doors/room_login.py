"""How the people of a room get in with a browser: their token becomes a cookie, and leaves the address."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from greenroom.doors.credentials import Bucket, cookie_name
from greenroom.hub import Hub
from greenroom.nouns.access.queries import get_principal

_SESSION_S = 30 * 86_400
_GUESSES = Bucket(20, 1)


def enter_room(hub: Hub, request: Request) -> Response | None:
    """The answer to `/?token=...`, as older clients open the page; None when no token is given.

    A page of another site must not log its visitor in: who comes by a link there is asked for the token instead.
    """
    token = request.query_params.get("token")
    if token is None:
        return None
    if request.headers.get("sec-fetch-site") in (None, "none", "same-origin"):
        entered = get_entered(hub, token, "/")
        if entered is not None:
            return entered
        if not _GUESSES.take():
            return Response("Too many wrong tokens: wait a little.", status_code=429, media_type="text/plain")
    return RedirectResponse("/login", status_code=303)


def get_entered(hub: Hub, token: str, wanted: str) -> Response | None:
    """The way in for the person of a room who shows its token. The cookie is the token itself, so both end at once."""
    who = get_principal(hub.rows, token, hub.log.clock.now())
    if who is None or who.room is None or "answer" not in who.rights:
        return None
    response = RedirectResponse(wanted, status_code=303)
    response.set_cookie(
        cookie_name(hub),
        token,
        max_age=_SESSION_S,
        httponly=True,
        samesite="strict",
        secure=hub.settings.tls_cert is not None,
    )
    return response
