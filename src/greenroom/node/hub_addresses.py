"""The addresses at which a node finds its hub, and how it verifies that it is the right one."""

import hashlib
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec


class HubAddress(NamedTuple):
    """A hub's base address, the node's credential there, and the certificates that it may show: any trusted if none."""

    url: str
    token: str
    pins: frozenset[str] = frozenset()
    insecure: bool = False


Address = Callable[[], HubAddress]
"""The address to connect to next."""


class HubRotation:
    """Hubs that share a log, in turn: when one is gone, the node connects to the next."""

    def __init__(self, urls: Sequence[str], token_file: Path, pins: Sequence[str], insecure: Sequence[str]) -> None:
        self._urls = [url.rstrip("/") for url in urls]
        self._token_file = token_file
        self._pins = frozenset(pins)
        self._insecure = frozenset(url.rstrip("/") for url in insecure)
        self._dialled = 0

    def __call__(self) -> HubAddress:
        url = self._urls[self._dialled % len(self._urls)]
        self._dialled += 1
        return HubAddress(url, read_token(self._token_file), self._pins, url in self._insecure)


class _Hub(msgspec.Struct):
    url: str
    pin: str | None = None


def make_local_address(hub_file: Path, token_file: Path) -> Address:
    """The current address of the hub on this machine: it may have another port after a restart."""

    def address() -> HubAddress:
        hub = msgspec.json.decode(hub_file.read_bytes(), type=_Hub)
        return HubAddress(hub.url, read_token(token_file), frozenset({hub.pin} if hub.pin else ()))

    return address


def read_token(path: Path) -> str:
    """A credential from its file."""
    return path.read_text().strip()


class CertificateMismatch(ssl.SSLCertVerificationError):
    """Somebody shows a certificate that is not one of the pinned ones."""


class _PinnedContext(ssl.SSLContext):
    pins: frozenset[str] = frozenset()


class _PinnedTls(ssl.SSLObject):
    """Verifies the certificate before anything is sent to the server that showed it."""

    def do_handshake(self) -> None:
        super().do_handshake()
        context, shown = self.context, self.getpeercert(binary_form=True)
        pin = hashlib.sha256(shown or b"").hexdigest()
        if isinstance(context, _PinnedContext) and pin not in context.pins:
            raise CertificateMismatch(
                f"the hub shows another certificate (sha256 {pin}) than it had when this node was let in. If it has a"
                " new one, the digest is `pin` in hub.json on its machine: compare the two, and give it by --pin"
            )


def make_tls_context(where: HubAddress) -> ssl.SSLContext | None:
    """How to recognise the hub; None where nothing is encrypted. A pinned certificate needs no other's word."""
    if not where.url.startswith("https:"):
        return None
    if not where.pins:
        return ssl.create_default_context()
    context = _PinnedContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.sslobject_class = _PinnedTls
    context.pins = where.pins
    return context
