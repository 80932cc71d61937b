"""The machine that an address leads to; none if programs would read the address in different ways."""

import ipaddress
import re
from urllib.parse import urlsplit

URL = re.compile(r"\b[a-z][a-z0-9+.-]{0,31}://[^\s'\"<>]+", re.IGNORECASE)
_BARE = re.compile(r"(?:[^@\s/:]+@)?([A-Za-z0-9.-]+\.[A-Za-z0-9-]+|localhost|\[[0-9A-Fa-f:.]+\])\.?(?::.*)?", re.DOTALL)
_QUIET_OPTION = re.compile(r"-[sSfiIv]+|--(silent|show-error|fail|include|head|verbose)")
"""Options that change nothing about where a program goes."""
_STRANGE = re.compile(r"[^\x21-\x7e]|[\\%]")
_NAME = re.compile(r"(?!-)[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_LONGEST = 4096
_PORT = re.compile(r"[0-9]{1,5}")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")


def parse_host(text: str) -> str | None:
    """The host of an address, as a name in lower case or a number in its usual form; None when it is unclear."""
    if len(text) > _LONGEST:
        return None
    address = text.strip()
    head, sign, rest = address.partition("://")
    if sign and not rest.startswith(("/", "\\")):
        address = f"{head}://{rest}"
    elif sign or address.startswith(("/", "\\")):
        return None
    else:
        address = f"//{address}"
    try:
        place = urlsplit(address).netloc
    except ValueError:
        return None
    if not place or _STRANGE.search(place) or place.count("@") > 1:
        return None
    return _parse_plain_host(place.rpartition("@")[2].lower())


def _parse_plain_host(place: str) -> str | None:
    if place.startswith("["):
        inner, _, port = place[1:].partition("]")
        return _parse_ipv6(inner) if not port or _PORT.fullmatch(port.removeprefix(":")) else None
    name, colon, port = place.partition(":")
    name = name.removesuffix(".")
    if (colon and not _PORT.fullmatch(port)) or not _NAME.fullmatch(name):
        return None
    return _parse_ipv4(name) if _NUMBER.fullmatch(name.rpartition(".")[2]) else name


def _parse_ipv6(text: str) -> str | None:
    try:
        found = ipaddress.IPv6Address(text)
    except ValueError:
        return None
    return str(found.ipv4_mapped or found)


def _parse_ipv4(text: str) -> str | None:
    """A number as programs read it: of one to four parts, each decimal, octal or hexadecimal; the last fills up."""
    parts = text.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        numbers = [_parse_number(part) for part in parts]
    except ValueError:
        return None
    last = numbers.pop()
    if any(number > 255 for number in numbers) or last >= 256 ** (4 - len(numbers)):
        return None
    whole = sum(number << (24 - 8 * place) for place, number in enumerate(numbers)) + last
    return str(ipaddress.IPv4Address(whole))


def _parse_number(text: str) -> int:
    if text[:2].lower() == "0x":
        return int(text[2:] or "0", 16)
    return int(text, 8) if len(text) > 1 and text.startswith("0") else int(text)


def find_hosts(word: str, *, is_network: bool) -> tuple[list[str], bool]:
    """The hosts that a word of a command names, and whether it may lead to others. `is_network`: its program reaches
    out, so that whatever is not known to be harmless may be an address too."""
    found = [parse_host(url) for url in URL.findall(word)]
    if not found and is_network:
        if _QUIET_OPTION.fullmatch(word):
            return [], False
        bare = _BARE.fullmatch(word)
        found = [parse_host(bare[1]) if bare else None]
    return [host for host in found if host], None in found
