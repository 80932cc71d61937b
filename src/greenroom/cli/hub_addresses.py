"""Addresses of hubs: which are safe to call, and which belong to hubs that share a log."""

import contextlib
import ipaddress
import json
from pathlib import Path
from urllib.parse import urlsplit

from greenroom import settings
from greenroom.errors import Refused
from greenroom.log.data_directory import HUB_FILE


def need_safe_url(url: str, is_insecure_meant: bool) -> bool:
    """Refuse an address over which a credential would go through a network in the clear, unless that is meant.

    Returns whether it would.
    """
    found = urlsplit(url)
    if found.scheme not in ("http", "https") or not found.hostname:
        raise Refused.in_words(
            "bad_url", f"{url!r} is no address of a hub: write https://hub.example:39765, for example."
        )
    if found.scheme == "https" or found.hostname == "localhost":
        return False
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(found.hostname).is_loopback:
            return False
    if not is_insecure_meant:
        raise Refused.in_words(
            "insecure_url",
            f"{url} is not encrypted: give the hub a certificate, or tunnel it to this machine. If the network is"
            " yours alone, say --insecure.",
        )
    return True


def need_valid_url(url: str) -> None:
    """Refuse what cannot be taken apart as an address."""
    try:
        is_whole = urlsplit(url).port != 0
    except ValueError:
        is_whole = False
    if not is_whole:
        raise Refused.in_words(
            "bad_url", f"{url!r} is no address of a hub: write http://127.0.0.1:{settings.PORT}, for example."
        )


def find_other_urls(data: Path) -> list[str]:
    """The hubs that share a log with the one of a data directory: as that one has written down, else as it is set."""
    found: list[str] = []
    try:
        found = json.loads((data / HUB_FILE).read_text()).get("others", [])
    except (OSError, ValueError, AttributeError):
        with contextlib.suppress(settings.BadSettings):
            found = settings.load_settings(data).other_hubs
    urls = [str(url).rstrip("/") for url in found]
    for url in urls:
        need_safe_url(url, is_insecure_meant=False)
    return urls
