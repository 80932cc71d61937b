"""What a person or a watchdog meets first: the front page, and whether the hub is well."""

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from greenroom.doors.credentials import cookie_name
from greenroom.doors.endpoint import PUBLIC, Endpoint
from greenroom.doors.rest.wire import json
from greenroom.hub import Hub
from greenroom.nouns.access.model import Principal
from greenroom.nouns.access.queries import get_principal
from greenroom.nouns.agents.queries import find_agents
from greenroom.nouns.threads.queries import count_threads


class HubHealth(msgspec.Struct):
    status: str = "ok"
    service: str = "Greenroom"


async def show_health(hub: Hub, by: Principal, request: Request) -> Response:
    return json(HubHealth())


async def show_front(hub: Hub, by: Principal, request: Request) -> Response:
    token = request.cookies.get(cookie_name(hub))
    who = token and get_principal(hub.rows, token, hub.log.clock.now())
    if not who or "read" not in who.rights:
        return RedirectResponse("/login", status_code=303)
    return HTMLResponse(
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Greenroom</title>"
        "<meta name='viewport' content='width=device-width'><h1>Greenroom</h1>"
        f"<p>{count_threads(hub.rows, who)} threads, {len(find_agents(hub.rows, who))} agents.</p>"
        "<p><a href='/openapi.json'>The API</a></p>"
        "<form method='post' action='/logout'><button>Log out</button></form></html>"
    )


ENDPOINTS = [
    Endpoint("GET", "/", PUBLIC, show_front, "The front page, or the way to the login", answer="text/html"),
    Endpoint("GET", "/health", PUBLIC, show_health, "Whether the hub is well", answer=HubHealth),
]
