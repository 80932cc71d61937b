"""Encodes and decodes events, old versions included."""

from collections.abc import Iterable
from typing import Any

import msgspec

from greenroom.log.model import Event, Noun, Recorded, Upcast

encode = msgspec.json.Encoder().encode


class UnknownEvent(Exception):
    """The log holds an event that this version of the program does not know."""


class Codec:
    """Knows every event of the composed nouns by name and version."""

    def __init__(self, nouns: Iterable[Noun]) -> None:
        self._decoders: dict[str, Any] = {}
        self._versions: dict[str, int] = {}
        self._upcast: dict[tuple[str, int], Upcast] = {}
        for noun in nouns:
            for kind in noun.events:
                if kind.__name__ in self._decoders:
                    raise ValueError(f"two nouns bring an event called {kind.__name__}")
                self._decoders[kind.__name__] = msgspec.json.Decoder(kind)
                self._versions[kind.__name__] = kind.version
            self._upcast.update(noun.upcast)

    def decode(self, seq: int, at: int, by: str, name: str, version: int, data: bytes) -> Recorded:
        """The event as today's program knows it."""
        decoder = self._decoders.get(name)
        if decoder is None:
            raise UnknownEvent(f"event {seq} is a {name}, which this version does not know: use a newer greenroom")
        current, size = self._versions[name], len(data)
        if version > current:
            raise UnknownEvent(f"event {seq} is a {name} of version {version}, this program knows {current}")
        if version < current:
            fields: dict[str, Any] = msgspec.json.decode(data)
            for old in range(version, current):
                fields = self._upcast[(name, old)](fields)
            data = encode(fields)
        return Recorded(seq, at, by, decoder.decode(data), size)

    @staticmethod
    def encode(event: Event) -> bytes:
        return encode(event)
