"""Small real images, made byte by byte, and things that only look like images."""

import struct
import zlib


def png(width: int = 2, height: int = 2, *, extra: bytes = b"", text: bytes = b"") -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\x10\x80\x10" * 2 for _ in range(2))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + (chunk(b"tEXt", text) if text else b"")
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
        + extra
    )


def jpeg(*, comment: bytes = b"", extra: bytes = b"") -> bytes:
    def segment(marker: int, data: bytes) -> bytes:
        return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data

    return (
        b"\xff\xd8"
        + segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")
        + (segment(0xFE, comment) if comment else b"")
        + segment(0xDB, b"\0" + b"\1" * 64)
        + segment(0xC0, b"\x08\0\2\0\2\1\1\x11\0")
        + segment(0xC4, b"\0" + b"\0" * 16)
        + segment(0xDA, b"\1\1\0\0\x3f\0")
        + b"\x12\xff\x00\x34\xff\xd0\x56"
        + b"\xff\xff\xd9"
        + extra
    )


def gif(*, extra: bytes = b"") -> bytes:
    return (
        b"GIF89a\2\0\2\0\x80\0\0\0\0\0\xff\xff\xff"
        + b"\x21\xf9\4\0\0\0\0\0"
        + b"\x2c\0\0\0\0\2\0\2\0\0"
        + b"\2\2\x44\x01\0"
        + b"\x3b"
        + extra
    )


def webp(kind: bytes = b"VP8L", *, extra: bytes = b"") -> bytes:
    bodies = {
        b"VP8L": b"\x2f" + struct.pack("<I", 1 | 1 << 14) + b"\0",
        b"VP8 ": b"\0\0\0\x9d\x01\x2a\2\0\2\0\0",
    }
    body = bodies[kind]
    chunks = b"WEBP" + kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) & 1)
    return b"RIFF" + struct.pack("<I", len(chunks)) + chunks + extra
