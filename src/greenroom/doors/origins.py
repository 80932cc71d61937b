"""Which names this hub answers to. One function, exact comparison, for every door."""

from collections.abc import Iterable

from greenroom.settings import Settings

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_WILDCARDS = ("0.0.0.0", "::", "")  # noqa: S104 compared with, not bound


class Origins:
    """The exact Host and Origin values that are ours."""

    def __init__(self, settings: Settings, port: int) -> None:
        scheme = "https" if settings.tls_cert else "http"
        default_port = 443 if settings.tls_cert else 80
        hosts = set(_with_port(_LOOPBACK, port))
        if settings.host not in _WILDCARDS:
            hosts.update(_with_port([f"[{settings.host}]" if ":" in settings.host else settings.host], port))
        for given in settings.allowed_hosts:
            name = given.lower()
            hosts.add(name)
            if ":" not in name.rpartition("]")[2]:
                hosts.add(f"{name}:{port}")
        if port == default_port:
            hosts.update(_LOOPBACK)
        self.hosts = frozenset(hosts)
        self._hosts = frozenset(host.encode() for host in hosts)
        self.origins = frozenset(
            {f"{scheme}://{host}" for host in hosts} | {f"https://{host.lower()}" for host in settings.allowed_hosts}
        )

    def knows_host(self, values: list[bytes]) -> bool:
        """Exactly one Host header, and it is one of ours."""
        return len(values) == 1 and values[0].lower() in self._hosts

    def knows_origin(self, values: list[bytes]) -> bool:
        """Exactly one Origin header, and it is one of ours to the letter."""
        return len(values) == 1 and values[0].decode("latin-1") in self.origins


def _with_port(names: Iterable[str], port: int) -> list[str]:
    return [f"{name}:{port}" for name in names]
