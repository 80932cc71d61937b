"""Requests to addresses that people entered: public ones, or those that the operator listed."""

import ipaddress
import socket
import ssl
from collections.abc import Collection, Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import SplitResult, urlsplit

from greenroom.errors import Refused
from greenroom.sentences import build_sentence

_TIMEOUT_S = 10.0
_PORTS = {"http": 80, "https": 443}


class NotSent(Exception):
    """The other side could not be reached, or did not take it; the sentence says why."""

    def __init__(self, key: str, /, status: int = 0, **params: object) -> None:
        self.said = build_sentence(key, **params)
        super().__init__(str(self.said))
        self.status = status


def need_address(url: str, listed: Collection[str]) -> SplitResult:
    """The parts of an address that may be called; plain HTTP only where the operator has listed the host."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        raise _make_refusal("channel_error.no_address") from None
    if parts.scheme not in _PORTS or not parts.hostname or parts.username or parts.password or len(url) > 2000:
        raise _make_refusal("channel_error.https")
    if parts.scheme == "http" and not _is_listed(parts, port, listed):
        raise _make_refusal("channel_error.not_https")
    return parts


def _make_refusal(why: str) -> Refused:
    return Refused("bad_address", why=build_sentence(why))


def _is_listed(parts: SplitResult, port: int, listed: Collection[str]) -> bool:
    return parts.hostname in listed or f"{parts.hostname}:{port}" in listed


def post(url: str, body: bytes, headers: Mapping[str, str], listed: Collection[str]) -> None:
    """Send once, to the address that the name has now; redirects are not followed. Raises NotSent. Blocks."""
    parts = need_address(url, listed)
    port = parts.port or _PORTS[parts.scheme]
    address = _resolve_address(parts, port, listed)
    connection = _make_connection(parts, port, address)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("POST", target, body, dict(headers))
        answer = connection.getresponse()
        said = answer.read(300).decode("utf-8", "replace").strip()
    except (OSError, HTTPException) as error:
        raise NotSent("channel_error.unreachable", host=parts.hostname, error=error) from error
    finally:
        connection.close()
    if not 200 <= answer.status < 300:
        raise NotSent("channel_error.answered", answer.status, host=parts.hostname, code=answer.status, words=said)


def _resolve_address(parts: SplitResult, port: int, listed: Collection[str]) -> str:
    """The address behind the name, looked up once. One that is not public must be listed."""
    host = parts.hostname or ""
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError) as error:
        raise NotSent("channel_error.not_found", host=host, error=error) from error
    if not _is_listed(parts, port, listed):
        inside = [address for address in found if not ipaddress.ip_address(address.partition("%")[0]).is_global]
        if inside:
            raise NotSent("channel_error.not_public", host=host)
    return sorted(found)[0]


def _make_connection(parts: SplitResult, port: int, address: str) -> HTTPConnection:
    """A connection to this very address, under the name that was asked for."""
    host = parts.hostname or ""
    if parts.scheme == "http":
        connection = HTTPConnection(host, port, timeout=_TIMEOUT_S)
    else:
        connection = HTTPSConnection(host, port, timeout=_TIMEOUT_S, context=ssl.create_default_context())
    connection._create_connection = lambda _, *rest: socket.create_connection((address, port), *rest)  # type: ignore[attr-defined]
    return connection
