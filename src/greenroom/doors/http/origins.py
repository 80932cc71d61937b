"""The host names and origins that this hub accepts, compared exactly, by one function for every door."""

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from greenroom.settings import Settings

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_WILDCARDS = ("0.0.0.0", "::", "")  # noqa: S104 compared with, not bound


class Origins:
    """The exact Host and Origin values that are ours."""

    def __init__(self, settings: Settings, port: int) -> None:
        scheme = "https" if settings.tls_cert else "http"
        default_port = 443 if settings.tls_cert else 80
        hosts = set(_add_port(_LOOPBACK, port))
        if settings.host not in _WILDCARDS:
            hosts.update(_add_port([f"[{settings.host}]" if ":" in settings.host else settings.host], port))
        for given in settings.allowed_hosts:
            name = given.lower()
            hosts.add(name)
            if not _has_port(name):
                hosts.add(f"{name}:{port}")
        if port == default_port:
            hosts.update(_LOOPBACK)
        public = urlsplit(settings.public_url.lower())
        if public.netloc:
            hosts.add(public.netloc)
        self.hosts = frozenset(hosts)
        self._hosts = frozenset(host.encode() for host in hosts)
        own = {f"{scheme}://{host}" for host in hosts} | {f"https://{host.lower()}" for host in settings.allowed_hosts}
        self._others = frozenset(settings.allowed_origins)
        self.origins = frozenset(own | ({f"{public.scheme}://{public.netloc}"} if public.netloc else set()))

    def knows_host(self, values: list[bytes]) -> bool:
        """Exactly one Host header, and it is one of ours."""
        return len(values) == 1 and values[0].lower() in self._hosts

    def knows_origin(self, values: list[bytes]) -> bool:
        """Exactly one Origin header, and it is one of ours to the letter."""
        return len(values) == 1 and values[0].decode("latin-1") in self.origins

    def allows_origin(self, values: list[bytes]) -> bool:
        """Exactly one Origin header, and it is ours, or that of a program that the operator has let in."""
        return self.knows_origin(values) or (len(values) == 1 and values[0].decode("latin-1") in self._others)


def _add_port(names: Iterable[str], port: int) -> list[str]:
    return [f"{name}:{port}" for name in names]


def find_addresses(settings: Settings, port: int) -> list[str]:
    """The addresses by which another device can reach this hub, best first; none while it serves this machine only.

    A hub that listens on loopback is reached by its further names through a proxy, which brings TLS.
    """
    names = [name.lower() for name in settings.allowed_hosts if not _is_this_machine(name)]
    found = [settings.public_url.rstrip("/")] if settings.public_url else []
    if _is_this_machine(settings.host):
        found += [f"https://{name}" for name in names]
    else:
        scheme = "https" if settings.tls_cert else "http"
        own = [] if settings.host in _WILDCARDS else [f"[{settings.host}]" if ":" in settings.host else settings.host]
        found += [f"{scheme}://{name}{'' if _has_port(name) else f':{port}'}" for name in [*own, *names]]
    return list(dict.fromkeys(found))


def _has_port(name: str) -> bool:
    return ":" in name.rpartition("]")[2]


def _is_this_machine(name: str) -> bool:
    """Whether a host, with or without a port, is known to lead to the machine that asks."""
    host = urlsplit(f"//{name}").hostname if name.count(":") < 2 or "]" in name else name
    try:
        address = ipaddress.ip_address(host or "")
    except ValueError:
        return host is not None and (host == "localhost" or host.endswith(".localhost"))
    return address.is_loopback
