"""Checks that bytes are the image that they claim to be, and refuses a file that is also a page."""

import re
import zlib
from collections.abc import Callable
from typing import NamedTuple

from greenroom.errors import Refused

_SIDE = 20_000
_AREA = 100_000_000
_PNG = b"\x89PNG\r\n\x1a\n"
_SCAN_END = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")
_LONE_MARKERS = frozenset({0x01, *range(0xD0, 0xD9)})
_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_ACTIVE = (b"<script", b"<iframe", b"<!doctype", b"javascript:", b"<?php")
_ACTIVE_HEAD = (b"<html", b"<svg", b"<?xml", b"%pdf-")
_HEAD = 4096


class CheckedImage(NamedTuple):
    """The part of a file that is kept."""

    mime: str
    data: bytes


class _Measure(NamedTuple):
    """How large a picture is, and where it ends in its file."""

    width: int
    height: int
    end: int


class _Broken(Exception):
    """The bytes do not follow the format."""


def need_image(data: bytes, extension: str) -> CheckedImage:
    """The image that a file is, or a refusal that says what is wrong with it.

    Cameras put previews and films behind a photo; they are left out, and so is whatever else hides there.
    """
    mime, measure = _KINDS[extension]
    try:
        width, height, end = measure(data)
    except (_Broken, IndexError) as error:
        if isinstance(error, _Broken):
            raise Refused("bad_image.broken", mime=mime, reason=error) from None
        raise Refused("bad_image.not_whole", mime=mime) from None
    if not (0 < width <= _SIDE and 0 < height <= _SIDE and width * height <= _AREA):
        raise Refused("image_too_large.pixels", "too_large", width=width, height=height)
    image = CheckedImage(mime, data[:end])
    folded = image.data.lower()
    if any(mark in folded for mark in _ACTIVE) or any(mark in folded[:_HEAD] for mark in _ACTIVE_HEAD):
        raise Refused("bad_image.script")
    return image


def _read_number(data: bytes, at: int, size: int, order: str = "big") -> int:
    if at + size > len(data):
        raise _Broken("it ends too early")
    return int.from_bytes(data[at : at + size], order)  # type: ignore[arg-type]


def _need_end(data: bytes, at: int) -> None:
    if at != len(data):
        raise _Broken("it ends too early" if at > len(data) else f"{len(data) - at} bytes follow its end")


def _measure_png(data: bytes) -> _Measure:
    if not data.startswith(_PNG):
        raise _Broken("it does not begin like one")
    at = len(_PNG)
    kinds: list[bytes] = []
    while not kinds or kinds[-1] != b"IEND":
        size = _read_number(data, at, 4)
        kind, body = data[at + 4 : at + 8], data[at + 4 : at + 8 + size]
        if zlib.crc32(body) != _read_number(data, at + 8 + size, 4):
            raise _Broken("a checksum is wrong")
        kinds.append(kind)
        at += 12 + size
    _need_end(data, at)
    if kinds[0] != b"IHDR" or b"IDAT" not in kinds:
        raise _Broken("it has no picture")
    return _Measure(_read_number(data, 16, 4), _read_number(data, 20, 4), at)


def _measure_jpeg(data: bytes) -> _Measure:
    if not data.startswith(b"\xff\xd8\xff"):
        raise _Broken("it does not begin like one")
    at, size = 2, (0, 0)
    while True:
        while data[at : at + 2] == b"\xff\xff":
            at += 1
        if data[at] != 0xFF:
            raise _Broken("a marker is missing")
        marker = data[at + 1]
        at += 2
        if marker == 0xD9:
            break
        if marker in _LONE_MARKERS:
            continue
        if marker in _FRAME_MARKERS:
            size = (_read_number(data, at + 5, 2), _read_number(data, at + 3, 2))
        at += _read_number(data, at, 2)
        if marker == 0xDA:
            found = _SCAN_END.search(data, at)
            if found is None:
                raise _Broken("it ends too early")
            at = found.start()
    return _Measure(*size, at)


def _measure_gif(data: bytes) -> _Measure:
    if data[:6] not in (b"GIF87a", b"GIF89a"):
        raise _Broken("it does not begin like one")
    at = 13 + _compute_color_table_bytes(data[10])
    while (kind := data[at]) != 0x3B:
        if kind == 0x2C:
            at += 11 + _compute_color_table_bytes(data[at + 9])
        elif kind == 0x21:
            at += 2
        else:
            raise _Broken("a block is unknown")
        while data[at]:
            at += 1 + data[at]
        at += 1
    _need_end(data, at + 1)
    return _Measure(_read_number(data, 6, 2, "little"), _read_number(data, 8, 2, "little"), at + 1)


def _compute_color_table_bytes(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _measure_webp(data: bytes) -> _Measure:
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        raise _Broken("it does not begin like one")
    _need_end(data, 8 + _read_number(data, 4, 4, "little"))
    size, at, has_picture = (0, 0), 12, False
    while at < len(data):
        kind, length = data[at : at + 4], _read_number(data, at + 4, 4, "little")
        at += 8
        if kind == b"VP8X":
            size = (_read_number(data, at + 4, 3, "little") + 1, _read_number(data, at + 7, 3, "little") + 1)
        elif kind == b"VP8L" and data[at] == 0x2F:
            bits = _read_number(data, at + 1, 4, "little")
            size = max(size, ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1))
        elif kind == b"VP8 " and data[at + 3 : at + 6] == b"\x9d\x01\x2a":
            frame = (_read_number(data, at + 6, 2, "little") & 0x3FFF, _read_number(data, at + 8, 2, "little") & 0x3FFF)
            size = max(size, frame)
        has_picture |= kind in (b"VP8 ", b"VP8L", b"ANMF")
        at += length + (length & 1)
    _need_end(data, at)
    if not has_picture:
        raise _Broken("it has no picture")
    return _Measure(*size, at)


_KINDS: dict[str, tuple[str, Callable[[bytes], _Measure]]] = {
    ".jpg": ("image/jpeg", _measure_jpeg),
    ".jpeg": ("image/jpeg", _measure_jpeg),
    ".png": ("image/png", _measure_png),
    ".gif": ("image/gif", _measure_gif),
    ".webp": ("image/webp", _measure_webp),
}
EXTENSIONS = tuple(_KINDS)
