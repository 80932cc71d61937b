"""From a path to its endpoint in a few dictionary look-ups, closed to whoever lacks the right."""

from collections.abc import Iterable
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from greenroom.doors.endpoint import PRINCIPAL, PUBLIC, Endpoint
from greenroom.doors.errors import answer_to, refusal
from greenroom.hub import Hub
from greenroom.nouns.access.model import NOBODY
from greenroom.nouns.access.queries import need_right

_ANY = "{}"


class Node:
    """One segment of a path: what may follow it, and what ends here."""

    __slots__ = ("ends", "next")

    def __init__(self) -> None:
        self.next: dict[str, Node] = {}
        self.ends: dict[str, tuple[Endpoint, tuple[str, ...]]] = {}


class Routes:
    """Runs endpoints; every other path belongs to `beyond`. Errors become answers here."""

    def __init__(self, hub: Hub, endpoints: Iterable[Endpoint], beyond: ASGIApp) -> None:
        self._hub = hub
        self._beyond = beyond
        self._root = Node()
        for endpoint in endpoints:
            self._add(endpoint)

    def _add(self, endpoint: Endpoint) -> None:
        node, names = self._root, []
        for segment in endpoint.path.split("/")[1:]:
            if segment.startswith("{"):
                names.append(segment[1:-1])
                segment = _ANY
            node = node.next.setdefault(segment, Node())
        if endpoint.method in node.ends:
            raise ValueError(f"two endpoints at {endpoint.method} {endpoint.path}")
        node.ends[endpoint.method] = (endpoint, tuple(names))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = self._find(scope["path"]) if scope["type"] == "http" else None
        if found is None:
            await self._beyond(scope, receive, send)
            return
        node, values = found
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        end = node.ends.get(method)
        if end is None:
            answer = refusal(405, "method_not_allowed", "Method Not Allowed")
            answer.headers["allow"] = ", ".join(sorted(node.ends))
            await answer(scope, receive, send)
            return
        endpoint, names = end
        scope["path_params"] = dict(zip(names, values, strict=True))
        by = scope.get(PRINCIPAL, NOBODY)
        try:
            if endpoint.needs != PUBLIC:
                need_right(by, endpoint.needs)
            answer = await endpoint.run(self._hub, by, Request(scope, receive, send))
        except ClientDisconnect:
            return
        except Exception as error:
            answer = answer_to(error)
        await answer(scope, receive, send)

    def _find(self, path: str) -> tuple[Node, list[Any]] | None:
        node, values = self._root, []
        for segment in path.split("/")[1:]:
            known = node.next.get(segment) if segment != _ANY else None
            if known is None:
                known = node.next.get(_ANY)
                if known is None or not segment:
                    return None
                values.append(segment)
            node = known
        return (node, values) if node.ends else None
