"""The web page: the files that `make page` built into the package, and the page's own paths."""

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

from greenroom.doors.http.credentials import build_cookie_name, find_cookies
from greenroom.rules.access.queries import is_login
from greenroom.services.hub import Hub

FOLDER = Path(__file__).parent.parent / "page"
_INDEX = "index.html"
_PANELS = "panels.json"
_BUILD = "build.txt"
_FORMER_PANELS = frozenset({"tokens"})
"""Paths that panels had before; the page leads on from there."""
_HASHED = "/assets/"
_FOREVER = "private, max-age=31536000, immutable"
_SHORT = "no-cache"
_SANDBOX = {
    "/diagram.html": {
        "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:;"
        " frame-ancestors 'self'; base-uri 'none'; form-action 'none'; sandbox allow-scripts",
        "x-frame-options": "SAMEORIGIN",
    },
    "/diagram-guard.js": {"cross-origin-resource-policy": "cross-origin"},
    "/diagram.js": {"cross-origin-resource-policy": "cross-origin"},
    "/mermaid.js": {"cross-origin-resource-policy": "cross-origin", "cache-control": "public, max-age=86400"},
}
"""What draws diagrams runs in a frame without an origin: no cookie, no request, nothing of the page within reach."""
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
_TYPES = {".js": "text/javascript", ".webmanifest": "application/manifest+json", ".woff2": "font/woff2"}
_UNBUILT = (
    "<!doctype html><html lang='en'><meta charset='utf-8'><title>Greenroom</title>"
    "<h1>Greenroom</h1><p>The hub runs, but its page was not built: that takes Node.js 20 or newer and "
    "<code>make page</code>.</p><p>Everything works over the command line (<code>greenroom --help</code>), REST and"
    " MCP.</p>"
)


@dataclass(frozen=True)
class PageBuild:
    """What a build left: every file by its path, and the first segments of the paths that the page itself resolves."""

    files: dict[str, Path]
    panels: frozenset[str]
    build: str = ""
    """The id of the build, which the page knows of itself too."""

    @property
    def is_there(self) -> bool:
        return f"/{_INDEX}" in self.files


def load_build() -> PageBuild:
    """The build as it is now."""
    with suppress(FileNotFoundError):
        return _load_build(FOLDER, (FOLDER / _PANELS).stat().st_mtime_ns)
    return PageBuild({}, frozenset())


@lru_cache(maxsize=1)
def _load_build(folder: Path, made_at: int) -> PageBuild:
    """Read again when it was rebuilt; the list of panels is written last."""
    files = {f"/{path.relative_to(folder).as_posix()}": path for path in folder.rglob("*") if path.is_file()}
    panels = frozenset(json.loads((folder / _PANELS).read_text()))
    return PageBuild(files, panels, files[f"/{_BUILD}"].read_text() if f"/{_BUILD}" in files else "")


def is_outdated(build: str | None) -> bool:
    """Whether a page is of another build than the one that is served now. Other clients send no build."""
    return bool(build) and build != load_build().build


def is_public(method: str, path: str) -> bool:
    """Whether a call is for the page itself: its files are the same everywhere and hold nothing of anybody."""
    return method in ("GET", "HEAD") and path.startswith("/") and (_is_route(path) or path in load_build().files)


def is_for_sandbox(scope: Scope) -> bool:
    """Whether a call is for what the frame of diagrams is made of: it has no origin, and these files no secret."""
    return scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and scope["path"] in _SANDBOX


def _is_route(path: str) -> bool:
    first = path.split("/", 2)[1]
    return first in load_build().panels or first in _FORMER_PANELS


class PageDoor:
    """Serves the page; every other path belongs to `beyond`."""

    def __init__(self, hub: Hub, beyond: ASGIApp) -> None:
        self._hub = hub
        self._beyond = beyond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = None
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            if _is_route(scope["path"]):
                answer = show_front_page(self._hub, scope)
            elif scope["path"] not in (f"/{_INDEX}", f"/{_PANELS}", f"/{_BUILD}"):
                answer = _get_file(scope, scope["path"])
        await (answer or self._beyond)(scope, receive, send)


def wants_page(scope: Scope) -> bool:
    """Whether somebody has opened an address in a browser: programs ask for something else than HTML."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return False
    return any(b"text/html" in value for name, value in scope["headers"] if name == b"accept")


def redirect_to_login(path: str) -> Response:
    """The way to the login, and from there to where somebody wanted to go."""
    return RedirectResponse("/login" if path == "/" else f"/login?next={quote(path)}", status_code=303)


def show_not_found(hub: Hub, scope: Scope) -> Response:
    """For an address that leads nowhere: the page, which says so itself, or the login."""
    page = _get_file(scope, f"/{_INDEX}") if _is_known(hub, scope) else None
    if page is None:
        return redirect_to_login(scope["path"])
    page.status_code = 404
    return page


def show_front_page(hub: Hub, scope: Scope) -> Response:
    """The page for whoever is logged in; others are sent to the login, and come back to where they wanted to go."""
    if not _is_known(hub, scope):
        return redirect_to_login(scope["path"])
    if not load_build().is_there:
        return Response(_UNBUILT, media_type="text/html")
    return _get_file(scope, f"/{_INDEX}") or Response(status_code=404)


def _is_known(hub: Hub, scope: Scope) -> bool:
    sent = find_cookies((value for name, value in scope["headers"] if name == b"cookie"), build_cookie_name(hub))
    return len(sent) == 1 and is_login(hub.rows, sent[0], hub.log.clock.now())


def _get_file(scope: Scope, path: str) -> Response | None:
    """A file of the build, compressed if the client takes it so."""
    files = load_build().files
    found = files.get(path)
    if found is None or path.endswith((".br", ".gz")):
        return None
    headers = {"cache-control": _FOREVER if path.startswith(_HASHED) else _SHORT, "vary": "accept-encoding"}
    headers |= _SANDBOX.get(path, {})
    accepted = _parse_accepted_encodings(scope["headers"])
    for encoding, ending in _ENCODINGS:
        if encoding in accepted and path + ending in files:
            headers["content-encoding"] = encoding
            return Response(files[path + ending].read_bytes(), headers=headers, media_type=_guess_media_type(path))
    return Response(found.read_bytes(), headers=headers, media_type=_guess_media_type(path))


def _parse_accepted_encodings(headers: Iterable[tuple[bytes, bytes]]) -> set[str]:
    said = b",".join(value for name, value in headers if name == b"accept-encoding").decode("latin-1")
    return {part.partition(";")[0].strip() for part in said.split(",")}


def _guess_media_type(path: str) -> str:
    return _TYPES.get(Path(path).suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"
