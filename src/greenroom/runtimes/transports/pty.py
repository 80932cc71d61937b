"""A program in a terminal: always drained, written to without blocking, and over when its process is."""

import asyncio
import contextlib
import re
from collections.abc import Callable, Iterator

from greenroom.runtimes.contract import Terminal
from greenroom.runtimes.prompt_text import PromptQuoting

Watcher = Callable[[bytes], None]
ENTER = b"\r"
_FLOOD_BYTES = 256 * 1024
_FLOOD_S = 0.03
"""So many bytes in so short a time are a flood, which is let wait: 8 MiB a second are enough for any screen."""
_LAST_S = 0.5
_TAIL = 8192
_KEYS = 256
_MODES = re.compile(rb"\x1b\[\?([\d;]{4,64})([hl])")
_PASTE = b"2004"
_ESCAPES = re.compile(
    r"\x1b(?:\[[ -?]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|[^\x20-\x7e\xa0-\U0010ffff\n\t]"
)


class TerminalLine:
    """Drains a terminal, and hands every piece to whoever watches."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._watchers: list[Watcher] = []
        self._tail = b""
        self._pastes = False
        self._held: list[bytes] | None = None
        self.keys_of_people = 0
        """How many bytes people have typed since somebody set this to 0."""
        self._keys: asyncio.Queue[bytes] = asyncio.Queue(_KEYS)
        self._wrote = asyncio.Event()
        self._over: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._running = asyncio.create_task(self._run(), name=f"terminal of {terminal.pid}")

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Be given each piece of what the program writes; returns how to stop."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def type(self, keys: bytes) -> None:
        """Press keys for a person. When the program has left too many unread, they are lost, as on any terminal."""
        self.keys_of_people += len(keys)
        if self._held is None:
            self.press(keys)
        elif len(self._held) < _KEYS:
            self._held.append(keys)

    def press(self, keys: bytes) -> None:
        """Press keys for the driver, which are never held back."""
        with contextlib.suppress(asyncio.QueueFull):
            self._keys.put_nowait(keys)

    @contextlib.contextmanager
    def hold_typed_keys(self) -> Iterator[None]:
        """Let what people type wait meanwhile, so that it does not get into the driver's text."""
        self._held = []
        try:
            yield
        finally:
            held, self._held = self._held, None
            for keys in held:
                self.press(keys)

    def paste(self, text: str, way: PromptQuoting) -> None:
        """Put a text in and press Enter: as one paste where the program knows pastes, else line by line."""
        self.put(text, way)
        self.press(ENTER)

    def put(self, text: str, way: PromptQuoting) -> None:
        """Put a text in, without pressing Enter after it. No character of it is a key or ends the paste."""
        quoted = way.quote(text, by_line=not self._pastes).encode()
        if self._pastes:
            self.press(b"\x1b[200~" + quoted + b"\x1b[201~")
        else:
            self.press(quoted.replace(b"\n", ENTER))

    def resize(self, rows: int, columns: int) -> None:
        if not self._over.done():
            self._terminal.resize(rows, columns)

    async def wait_until_quiet(self, for_s: float, within_s: float) -> None:
        """Wait, for a bounded time, until the program has written something and paused: it is then ready for keys."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._wrote.wait()
                while self._wrote.is_set():
                    self._wrote.clear()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(for_s):
                            await self._wrote.wait()

    async def wait_for_pattern(self, pattern: str, within_s: float) -> bool:
        """Wait until the program has written something; False if it has not in that time."""
        wanted = re.compile(pattern)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while not wanted.search(self.last_words()):
                    self._wrote.clear()
                    await self._wrote.wait()
                return True
        return False

    async def wait_for_exit(self) -> int:
        """The exit code, once the program has ended and its last words are read."""
        return await asyncio.shield(self._over)

    @property
    def is_over(self) -> bool:
        return self._over.done()

    def forget_words(self) -> None:
        """From now on, only what the program writes next counts as its last words."""
        self._tail = b""

    def last_words(self) -> str:
        """The end of what it wrote, as plain text."""
        return _ESCAPES.sub("", self._tail.decode("utf-8", "replace"))

    async def close(self) -> None:
        """End the program and all it started."""
        await self._terminal.end()
        await self._running

    async def _run(self) -> None:
        draining = asyncio.create_task(self._drain(), name=f"drain {self._terminal.pid}")
        typing = asyncio.create_task(self._type(), name=f"type {self._terminal.pid}")
        code = await self._terminal.wait()
        await asyncio.wait([draining], timeout=_LAST_S)  # a grandchild may hold the terminal open
        for task in (draining, typing):
            task.cancel()
        await asyncio.gather(draining, typing, return_exceptions=True)
        await self._terminal.end(0)
        self._wrote.set()
        self._over.set_result(code)

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        count, since = 0, loop.time()
        while piece := await self._terminal.read():
            self._tail = (self._tail + piece)[-_TAIL:]
            for found in _MODES.finditer(piece):
                self._pastes = found[2] == b"h" if _PASTE in found[1].split(b";") else self._pastes
            for watcher in tuple(self._watchers):
                watcher(piece)
            self._wrote.set()
            count += len(piece)
            if count >= _FLOOD_BYTES:
                await asyncio.sleep(max(0.0, since + _FLOOD_S - loop.time()))
                count, since = 0, loop.time()

    async def _type(self) -> None:
        while True:
            await self._terminal.write(await self._keys.get())
