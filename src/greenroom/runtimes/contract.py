"""The driver contract: a driver opens a session of a runtime and reports facts. The code above knows nothing else."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from greenroom.json_types import ToolArguments, UncheckedOptions
from greenroom.link.orders import Decision
from greenroom.link.reports import (
    CallFinished,
    CallStarted,
    Died,
    Heard,
    Opened,
    PermissionAsked,
    PermissionWithdrawn,
    QuestionAsked,
    Said,
    Thought,
    TurnEnded,
    Usage,
)

__all__ = [
    "CallFinished",
    "CallStarted",
    "Decision",
    "Died",
    "Driver",
    "Heard",
    "InstalledRuntime",
    "ModelLister",
    "Opened",
    "PermissionAsked",
    "PermissionWithdrawn",
    "Process",
    "QuestionAsked",
    "RuntimeSession",
    "Said",
    "SessionOptions",
    "Spawner",
    "TaskSession",
    "Terminal",
    "Thought",
    "TurnEnded",
    "Usage",
]


class InstalledRuntime(msgspec.Struct, frozen=True):
    """A runtime that is installed on this machine."""

    version: str
    path: str


class SessionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """All that a driver needs to open a session. Secrets are in files or `env`, never in `command`."""

    command: list[str]
    """The program as an argument vector; never a shell line."""
    directory: Path
    """The agent's working directory."""
    scratch: Path
    """A private folder (0700) for configuration that the runtime needs; gone when the session is closed."""
    env: dict[str, str]
    """The whole environment of the process, made from the allow-list."""
    hub_url: str | None = None
    """The hub's MCP endpoint for this agent, and where its credential is."""
    token_file: Path | None = None
    hub_asked: asyncio.Event | None = None
    """Set once the agent has asked the hub for its tools; None where nobody can know."""
    model: str | None = None
    temperature: float | None = None
    """Not every runtime accepts it: see `DriverInfo.untold`."""
    instructions: str | None = None
    resume: str | None = None
    """The runtime's own id of an earlier session to resume."""
    may_spawn: bool = True
    """Whether the agent may start others, its runtime's own helpers included, if the driver can set that."""
    options: UncheckedOptions = {}
    """What only this driver understands, from the profile."""


@runtime_checkable
class TaskSession(Protocol):
    """A session whose runtime remembers its tasks, and finishes one that its earlier process started."""

    def set_task(self, task: str, *, resumes: bool, is_step: bool = False) -> None:
        """Say which task the next prompt belongs to, and whether to finish it rather than start it.

        `is_step` says that it is a step of a workflow.
        """
        ...


class RuntimeSession(Protocol):
    """A live conversation with a runtime. What an agent does wrong is a fact in it, not an exception."""

    def listen(self) -> AsyncIterator[Heard]:
        """Everything, in order, from Opened to Died; ends after Died. Read by one reader; never drops anything."""
        ...

    async def prompt(self, text: str) -> None:
        """Begin a turn. Only called when no turn is under way."""
        ...

    async def steer(self, text: str) -> bool:
        """Say something into the running turn; False if this runtime cannot, and the text must wait for the next."""
        ...

    async def decide(
        self, permission: str, decision: Decision, *, text: str = "", arguments: ToolArguments | None = None
    ) -> None:
        """Answer a permission or a question; `arguments` replace the call's where the runtime allows it."""
        ...

    async def cancel(self) -> None:
        """Stop the running turn; TurnEnded follows, and the session lives on."""
        ...

    async def close(self) -> None:
        """End the process and everything it started; Died follows. May be called twice."""
        ...


class Process(Protocol):
    """A child process under supervision: in a session and group of its own, its whole tree ended by `end`."""

    pid: int

    async def read(self, most: int = 65536) -> bytes:
        """Bytes of its stdout; empty at the end."""
        ...

    async def read_line(self) -> bytes:
        """One line of its stdout, however long (up to a limit of 64 MiB); empty at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """To its stdin."""
        ...

    def close_stdin(self) -> None: ...

    async def wait(self) -> int:
        """Its exit code, once it has ended."""
        ...

    async def end(self, grace_s: float = 2.0) -> None:
        """Ask it and all its descendants to end, then make them."""
        ...

    def last_words(self) -> str:
        """The end of its stderr, which is always drained."""
        ...


class Terminal(Protocol):
    """A child process in a terminal of its own."""

    pid: int

    async def read(self) -> bytes:
        """What it wrote; empty at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Keys for it."""
        ...

    def resize(self, rows: int, columns: int) -> None: ...

    async def wait(self) -> int: ...

    async def end(self, grace_s: float = 2.0) -> None: ...


class Spawner(Protocol):
    """How a driver starts processes; the node gives it, so that nothing is ever left behind."""

    async def spawn(self, command: list[str], directory: Path, env: dict[str, str]) -> Process: ...

    async def spawn_terminal(
        self, command: list[str], directory: Path, env: dict[str, str], rows: int, columns: int
    ) -> Terminal: ...


@runtime_checkable
class ModelLister(Protocol):
    """A driver whose runtime can list its models, and uses another in place of one that it does not know."""

    async def find_models(self, command: list[str], env: dict[str, str], directory: Path) -> list[str] | None:
        """The names of the models, without spending a token; None if the runtime cannot be asked."""
        ...


class Driver(Protocol):
    """The code that speaks to one kind of runtime."""

    name: str

    async def find(self, env: dict[str, str]) -> InstalledRuntime | None:
        """Whether the runtime is installed, without spending a token; None if it is not."""
        ...

    async def open(self, opening: SessionOptions, spawner: Spawner) -> RuntimeSession:
        """Start or resume a session. Raises OSError or ValueError with a sentence when that cannot even begin."""
        ...
