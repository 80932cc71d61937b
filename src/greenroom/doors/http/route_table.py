"""From a path to what is there, in a few dictionary look-ups."""

from collections.abc import Iterable
from typing import NamedTuple

from greenroom.doors.http.endpoint import Endpoint

_ANY = "{}"


class RouteNode:
    """One segment of a path: what may follow it, and what ends here."""

    __slots__ = ("ends", "next")

    def __init__(self) -> None:
        self.next: dict[str, RouteNode] = {}
        self.ends: dict[str, tuple[Endpoint, tuple[str, ...]]] = {}


class RouteMatch(NamedTuple):
    """A path at which there is something: the endpoint of each method, and the values of the path's own segments."""

    ends: dict[str, tuple[Endpoint, tuple[str, ...]]]
    values: list[str]

    def get_endpoint(self, method: str) -> tuple[Endpoint, dict[str, str]] | None:
        """What a method does here, and the values by name; HEAD does what GET does."""
        end = self.ends.get("GET" if method == "HEAD" else method)
        return None if end is None else (end[0], dict(zip(end[1], self.values, strict=True)))


class RouteTable:
    """All paths of some endpoints. A segment that is named goes before one that can be anything."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._root = RouteNode()
        for endpoint in endpoints:
            self._add(endpoint)

    def _add(self, endpoint: Endpoint) -> None:
        node, names = self._root, []
        for segment in endpoint.path.split("/")[1:]:
            if segment.startswith("{"):
                names.append(segment[1:-1])
                segment = _ANY
            node = node.next.setdefault(segment, RouteNode())
        if endpoint.method in node.ends:
            raise ValueError(f"two endpoints at {endpoint.method} {endpoint.path}")
        node.ends[endpoint.method] = (endpoint, tuple(names))

    def get(self, path: str) -> RouteMatch | None:
        node, values = self._root, []
        for segment in path.split("/")[1:]:
            known = node.next.get(segment) if segment != _ANY else None
            if known is None:
                known = node.next.get(_ANY)
                if known is None or not segment:
                    return None
                values.append(segment)
            node = known
        return RouteMatch(node.ends, values) if node.ends else None
