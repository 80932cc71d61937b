"""How a person attaches to an agent: to its own terminal, or to its runtime's program beside it."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import msgspec


class AttachCommand(msgspec.Struct, frozen=True):
    """A runtime's own terminal program on a live session: an argument vector, and additions to the environment."""

    command: list[str]
    env: dict[str, str] = {}


@runtime_checkable
class Attachable(Protocol):
    """A session in which a person can sit through the runtime's own terminal program, beside whoever drives it."""

    def attach_command(self) -> AttachCommand | None:
        """The program, for the opening's directory and environment; None if there is none."""
        ...


class AttachableTerminal(Protocol):
    """The terminal that an agent lives in. Its session drains it; others may look, and press keys."""

    def watch(self, watcher: Callable[[bytes], None]) -> Callable[[], None]:
        """Be given each piece of what the program writes; returns how to stop."""
        ...

    def type(self, keys: bytes) -> None:
        """Press keys, without waiting for the program to read them."""
        ...

    def resize(self, rows: int, columns: int) -> None: ...

    async def wait_for_exit(self) -> int:
        """The exit code, once the program has ended and its last words are read."""
        ...

    async def close(self) -> None:
        """End the program and all it started."""
        ...


@runtime_checkable
class TerminalSession(Protocol):
    """A session whose agent lives in a terminal; `finish` tells such a session that the agent says it is done."""

    def get_terminal(self) -> AttachableTerminal: ...

    async def finish(self) -> None:
        """The agent has said through the hub that its turn is over; TurnEnded follows."""
        ...
