"""The parts of asks and answers: text inline, everything else as files beside the database."""

import asyncio
import base64
import binascii
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import msgspec

from greenroom.errors import Refused
from greenroom.log.blobs import Blobs
from greenroom.log.copied_fields import copy_fields
from greenroom.rules.asks.model import Content, ContentType
from greenroom.validation import Sent

TYPES = ("text", "image", "audio", "resource")
_MIME = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}")
_WORDS = 500


class ContentInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A piece as a client sends it: text, or bytes in base64."""

    type: Sent[ContentType] = "text"
    text: str = ""
    data: str | None = None
    mime: str = ""
    uri: str = ""
    name: str = ""


@asynccontextmanager
async def keep_contents(blobs: Blobs, given: Iterable[ContentInput], most_bytes: int) -> AsyncIterator[list[Content]]:
    """Keep the bytes of the pieces while a command that names them is done; what it does not name then is dropped."""
    held: list[str] = []
    contents = []
    try:
        for one, data in _decode_contents(given, most_bytes):
            file = None
            if data is not None:
                file = await asyncio.to_thread(blobs.keep, data)
                held.append(file)
            contents.append(
                copy_fields(
                    one,
                    Content,
                    type=one.type,
                    uri=one.uri[:_WORDS],
                    name=one.name[:_WORDS],
                    file=file,
                    size=len(data or b""),
                )
            )
        yield contents
    finally:
        for file in held:
            blobs.release(file)
            blobs.drop(file)


def _decode_contents(given: Iterable[ContentInput], most_bytes: int) -> list[tuple[ContentInput, bytes | None]]:
    out = []
    left = most_bytes
    for one in given:
        if one.type not in TYPES or (one.mime and not _MIME.fullmatch(one.mime)):
            raise Refused("bad_content.type", types=TYPES)
        if one.type != "text" and (one.data is None or not one.mime):
            raise Refused("bad_content.data", type=one.type)
        try:
            data = None if one.data is None else base64.b64decode(one.data, validate=True)
        except (binascii.Error, ValueError):
            raise Refused("bad_content.base64") from None
        left -= len(data or b"")
        if left < 0:
            raise Refused("content_too_large", "too_large", most_bytes=most_bytes)
        out.append((one, data))
    return out


async def read_content(blobs: Blobs, content: Content) -> bytes:
    """The bytes of a piece that is not text; empty when its file is gone."""
    if content.file is None:
        return content.text.encode()
    return await asyncio.to_thread(blobs.read, content.file) or b""
