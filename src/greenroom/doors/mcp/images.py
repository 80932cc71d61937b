"""Checks the images of a message: one that a model's API cannot read would break the whole conversation."""

import asyncio
import base64
import binascii
import re
from typing import TYPE_CHECKING

from greenroom.doors.mcp.tool import ImageBlock, TextBlock
from greenroom.json_types import Metadata
from greenroom.rules.access.model import Principal
from greenroom.rules.threads.model import UPLOADS
from greenroom.rules.threads.queries import may_see_upload

if TYPE_CHECKING:
    from greenroom.services.hub import Hub

_MAX_IMAGES = 20
_MAX_BYTES = 5 * 1024 * 1024
"""What the APIs of today's models take."""
_UPLOAD = re.compile(r"(?:.*/)?([A-Za-z0-9_-]+)(?:\.\w+)?")
_DATA_URL = re.compile(r"data:([\w/+.-]+)?(?:;[\w=.-]+)*;base64,", re.ASCII)


async def build_image_blocks(hub: "Hub", by: Principal, metadata: Metadata, room: int) -> list[TextBlock | ImageBlock]:
    """A block for each image that a message carries, or a line that says why it is not shown.

    `room` is how many characters of images the answer has left.
    """
    given = metadata.get("attachments") or metadata.get("images") or metadata.get("image") or []
    blocks: list[TextBlock | ImageBlock] = []
    for attachment in (given if isinstance(given, list) else [given])[:_MAX_IMAGES]:
        if not isinstance(attachment, dict):
            continue
        block = await _build_block(hub, by, attachment)
        if isinstance(block, ImageBlock):
            room -= len(block.data)
            if room < 0:
                block = TextBlock("[image not shown: the answer is full; read this message alone, with limit=1]")
        blocks.append(block)
    return blocks


async def _build_block(hub: "Hub", by: Principal, attachment: Metadata) -> TextBlock | ImageBlock:
    name = _find_text(attachment, "name", "url", "src", "upload_id", "id") or "image"
    inline = _find_text(attachment, "data", "base64", "b64", "data_url")
    encoded = _decode_inline_image(inline) if inline else await _read_upload(hub, by, attachment)
    kind = detect_image_type(base64.b64decode(encoded[:32])) if encoded else None
    if encoded is None or kind is None:
        return TextBlock(
            f"[attachment not shown: {name[:200]!r} is not a PNG, JPEG, GIF or WebP image of at most 5 MiB]"
        )
    return ImageBlock(encoded, kind)


def _decode_inline_image(text: str) -> str | None:
    """The base64 of an image inside the message, put in order; None when it is none or too large."""
    plain = "".join(_DATA_URL.sub("", text, count=1).split())
    if len(plain) > _MAX_BYTES * 4 // 3 + 4:
        return None
    try:
        base64.b64decode(plain, validate=True)
    except (binascii.Error, ValueError):
        return None
    return plain


async def _read_upload(hub: "Hub", by: Principal, attachment: Metadata) -> str | None:
    match = _UPLOAD.fullmatch(_find_text(attachment, "upload_id", "id", "url", "src"))
    upload = hub.rows.get(UPLOADS, match[1]) if match else None
    if upload is None or upload.size > _MAX_BYTES or not may_see_upload(hub.rows, by, upload):
        return None
    data = await asyncio.to_thread(hub.blobs.read, upload.blob)
    return None if data is None else base64.b64encode(data).decode()


def detect_image_type(start: bytes) -> str | None:
    """The media type of an image by its first bytes, whatever it says of itself."""
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if start.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if start.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return None


def _find_text(attachment: Metadata, *names: str) -> str:
    return next((value for name in names if isinstance(value := attachment.get(name), str) and value), "")
