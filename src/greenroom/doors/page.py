"""The web page: the files that `make page` built into the package, and the paths that are its own."""

import json
import mimetypes
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from greenroom.doors.credentials import cookie_name
from greenroom.hub import Hub
from greenroom.nouns.access.queries import get_principal

FOLDER = Path(__file__).parent.parent / "page"
_INDEX = "index.html"
_PANELS = "panels.json"
_HASHED = "/assets/"
_FOREVER = "private, max-age=31536000, immutable"
_SHORT = "no-cache"
_SANDBOX = {
    "/diagram.html": {
        "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:;"
        " frame-ancestors 'self'; base-uri 'none'; form-action 'none'; sandbox allow-scripts",
        "x-frame-options": "SAMEORIGIN",
    },
    "/diagram.js": {"cross-origin-resource-policy": "cross-origin"},
    "/mermaid.js": {"cross-origin-resource-policy": "cross-origin", "cache-control": "public, max-age=86400"},
}
"""What draws diagrams runs in a frame without an origin: no cookie, no request, nothing of the page within reach."""
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
_TYPES = {".js": "text/javascript", ".webmanifest": "application/manifest+json", ".woff2": "font/woff2"}
_UNBUILT = (
    "<!doctype html><html lang='en'><meta charset='utf-8'><title>Greenroom</title>"
    "<h1>Greenroom</h1><p>The hub runs, but its page was not built: that takes Node.js 20 or newer and "
    "<code>make page</code>.</p><p>Everything works over the command line (<code>greenroom --help</code>), "
    "<a href='/openapi.json'>REST</a> and MCP.</p><form method='post' action='/logout'><button>Log out</button></form>"
)


@dataclass(frozen=True)
class Built:
    """What a build left: every file by its path, and the first segments of the paths that the page itself resolves."""

    files: dict[str, Path]
    panels: frozenset[str]

    @property
    def is_there(self) -> bool:
        return f"/{_INDEX}" in self.files


def built() -> Built:
    """The build as it is now."""
    with suppress(FileNotFoundError):
        return _built(FOLDER, (FOLDER / _PANELS).stat().st_mtime_ns)
    return Built({}, frozenset())


@lru_cache(maxsize=1)
def _built(folder: Path, made_at: int) -> Built:
    """Looked at anew when it was made anew; the list of panels is written last."""
    files = {f"/{path.relative_to(folder).as_posix()}": path for path in folder.rglob("*") if path.is_file()}
    return Built(files, frozenset(json.loads((folder / _PANELS).read_text())))


def is_public(method: str, path: str) -> bool:
    """Whether a call is for a part of the page that holds nothing of anybody: its frame, and what the login needs."""
    return (
        method in ("GET", "HEAD")
        and path.startswith("/")
        and (_is_route(path) or (path.count("/") == 1 and path in built().files))
    )


def is_for_sandbox(scope: Scope) -> bool:
    """Whether a call is for what the frame of diagrams is made of: it has no origin, and these files no secret."""
    return scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and scope["path"] in _SANDBOX


def _is_route(path: str) -> bool:
    return path.split("/", 2)[1] in built().panels


class PageDoor:
    """Serves the page; every other path belongs to `beyond`."""

    def __init__(self, hub: Hub, beyond: ASGIApp) -> None:
        self._hub = hub
        self._beyond = beyond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = None
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            if _is_route(scope["path"]):
                answer = front(self._hub, scope)
            elif scope["path"] not in (f"/{_INDEX}", f"/{_PANELS}"):
                answer = _file(scope, scope["path"])
        await (answer or self._beyond)(scope, receive, send)


def front(hub: Hub, scope: Scope) -> Response:
    """The page for whoever is logged in; others are sent to the login, and come back to where they wanted to go."""
    if not _is_known(hub, scope):
        path = scope["path"]
        return RedirectResponse("/login" if path == "/" else f"/login?next={quote(path)}", status_code=303)
    if not built().is_there:
        return Response(_UNBUILT, media_type="text/html")
    return _file(scope, f"/{_INDEX}") or Response(status_code=404)


def _is_known(hub: Hub, scope: Scope) -> bool:
    name = cookie_name(hub)
    for header, value in scope["headers"]:
        if header == b"cookie":
            for pair in value.decode("latin-1").split(";"):
                key, _, token = pair.strip().partition("=")
                if key == name:
                    who = get_principal(hub.rows, token, hub.log.clock.now())
                    return who is not None and not who.rights.isdisjoint(("read", "answer"))
    return False


def _file(scope: Scope, path: str) -> Response | None:
    """A file of the build, compressed if the client takes it so."""
    files = built().files
    found = files.get(path)
    if found is None or path.endswith((".br", ".gz")):
        return None
    headers = {"cache-control": _FOREVER if path.startswith(_HASHED) else _SHORT, "vary": "accept-encoding"}
    headers |= _SANDBOX.get(path, {})
    accepted = _accepted(scope["headers"])
    for encoding, ending in _ENCODINGS:
        if encoding in accepted and path + ending in files:
            headers["content-encoding"] = encoding
            return Response(files[path + ending].read_bytes(), headers=headers, media_type=_type_of(path))
    return Response(found.read_bytes(), headers=headers, media_type=_type_of(path))


def _accepted(headers: Iterable[tuple[bytes, bytes]]) -> set[str]:
    said = b",".join(value for name, value in headers if name == b"accept-encoding").decode("latin-1")
    return {part.partition(";")[0].strip() for part in said.split(",")}


def _type_of(path: str) -> str:
    return _TYPES.get(Path(path).suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"
