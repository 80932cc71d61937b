"""What the server needs to know of a dialect."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from greenroom.testing.fake_llm.answer import Reply
from greenroom.testing.fake_llm.request import Json, ModelRequest


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one family of clients asks, and how it wants the answer: streamed, or as a whole."""

    name: str
    parse: Callable[[Json], ModelRequest]
    stream: Callable[[Reply], Iterator[bytes]]
    whole: Callable[[Reply], Json]
