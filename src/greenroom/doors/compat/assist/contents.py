"""Translates answers between Agent Assistant's messages and ours. Everything but text is stored as a file."""

import asyncio
import base64
import binascii
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import msgspec

from greenroom.doors.compat.assist.agentassist_pb2 import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    McpResultContent,
    TextContent,
)
from greenroom.errors import Refused
from greenroom.log.blobs import Blobs
from greenroom.rules.asks.model import Ask, AskAnswer, Content, ContentType

TEXT, IMAGE, AUDIO, RESOURCE = 1, 2, 3, 4
_MOST = 32


def extract_text(contents: Iterable[McpResultContent]) -> str:
    """All the text of an answer."""
    return "\n".join(content.text.text for content in contents if content.HasField("text"))


@asynccontextmanager
async def store_files(blobs: Blobs, contents: Iterable[McpResultContent]) -> AsyncIterator[list[Content]]:
    """Keep what is not text while a command that names it is done; what it does not name is dropped."""
    given = [content for content in contents if not content.HasField("text")]
    if len(given) > _MOST:
        raise Refused("too_many_contents", "too_large", limit=_MOST)
    files: list[Content] = []
    try:
        for content, data in [_decode_content(content) for content in given]:
            file = await asyncio.to_thread(blobs.keep, data)
            files.append(msgspec.structs.replace(content, file=file))
        yield files
    finally:
        for kept in files:
            blobs.release(kept.file or "")
            blobs.drop(kept.file or "")


def _decode_content(content: McpResultContent) -> tuple[Content, bytes]:
    if content.HasField("embedded_resource"):
        found = content.embedded_resource
        return _build_file("resource", found.data, found.mime_type, found.uri)
    if content.HasField("image"):
        return _build_file("image", _decode_base64(content.image.data), content.image.mime_type)
    if content.HasField("audio"):
        return _build_file("audio", _decode_base64(content.audio.data), content.audio.mime_type)
    raise Refused("bad_contents.type")


def _decode_base64(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        raise Refused("bad_contents.base64") from None


def _build_file(kind: ContentType, data: bytes, mime: str, uri: str = "") -> tuple[Content, bytes]:
    return Content(type=kind, mime=mime[:100], uri=uri[:2000], size=len(data)), data


def build_contents(blobs: Blobs, ask: Ask, answer: AskAnswer) -> list[McpResultContent]:
    """An answer as the asking side takes it: words first, then what else there is."""
    words = answer.text or describe_choices(ask, answer) or ("approved" if answer.verdict == "approve" else "")
    files = [_build_content(blobs, content) for content in answer.contents]
    return ([build_text_content(words)] if words or not files else []) + files


def build_text_content(words: str) -> McpResultContent:
    return McpResultContent(type=TEXT, text=TextContent(type="text", text=words))


def describe_choices(ask: Ask, answer: AskAnswer) -> str:
    """The chosen options in words; with several questions, each is named."""
    lines = [", ".join(labels) for labels in answer.options]
    if len(ask.questions) < 2:
        return "\n".join(lines)
    named = zip(ask.questions, lines, strict=False)
    return "\n".join(f"{question.header or question.question}: {line}" for question, line in named)


def _build_content(blobs: Blobs, content: Content) -> McpResultContent:
    data = blobs.read(content.file) if content.file else None
    text = base64.b64encode(data or b"").decode()
    match content.type:
        case "text":
            return build_text_content(content.text)
        case "image":
            return McpResultContent(type=IMAGE, image=ImageContent(type="image", data=text, mime_type=content.mime))
        case "audio":
            return McpResultContent(type=AUDIO, audio=AudioContent(type="audio", data=text, mime_type=content.mime))
        case _:
            kept = data if data is not None else content.text.encode()
            held = EmbeddedResource(type="resource", uri=content.uri or content.name, mime_type=content.mime, data=kept)
            return McpResultContent(type=RESOURCE, embedded_resource=held)
