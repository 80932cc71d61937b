"""A person's terminal while it is attached to an agent's: sends raw keys, draws the screen, and restores itself."""

import asyncio
import contextlib
import fcntl
import json
import os
import signal
import struct
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, urlencode

import websockets
from websockets.asyncio.client import ClientConnection, connect

from greenroom.cli.client import HubUnreachable
from greenroom.cli.terminal import escape_line
from greenroom.link.frames import KEYS_S

PREFIX_KEY = 0x02
HOW_TO_DETACH = "Ctrl-B D leaves" + (" (tmux: ^B ^B D)" if "TMUX" in os.environ else "")
"""tmux keeps the first Ctrl-B for itself, and its own Ctrl-B D would leave tmux. Short enough for 80 columns."""
_PING_S = 2.0
_RETRY_S = 1.0
_FRAME_BYTES = 4 * 1024 * 1024
_FINAL_CLOSE_CODES = (4403, 1013)
"""The codes with which the hub turns a viewer away: coming back would not help."""
_FINAL_STATUSES = (401, 403, 404)
_ENTER_SCREEN = "\x1b[?1049h\x1b[?7l\x1b[2J"
_LEAVE_SCREEN = "\x1b[0m\x1b[?7h\x1b[?1l\x1b[?2004l\x1b[?25h\x1b[?1049l"
_MODE_NUMBERS = {"cursor_keys": 1, "paste": 2004}


class AttachedTerminal:
    """The screen of the person's terminal, and the keys that they press."""

    def __init__(self, dial: Callable[[str], connect], agent_id: str) -> None:
        self._dial = dial
        self._agent_id = agent_id
        self._is_after_prefix = False
        self._may_type = False
        self._status = "connecting"
        self._disconnect_reason = ""
        """Why nothing is shown or typed at the moment; empty while the agent can be reached."""
        self._lines: dict[int, str] = {}
        self._screen: dict[str, Any] = {}
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue(1024)
        self._viewer_id = ""
        """What the hub calls the last connection."""
        self._last_heard_at = 0.0
        self._hub_clock: int | None = None
        """The newest `at` of the hub, from which it computes how old our keys are."""
        self._has_left = asyncio.Event()
        self.ended: tuple[str, str] | None = None

    async def run(self, link: ClientConnection) -> tuple[str, str]:
        """Run until the person leaves or the agent's terminal ends, and reconnect after a lost connection."""
        loop = asyncio.get_running_loop()
        loop.add_reader(0, self._handle_keys)
        loop.add_signal_handler(signal.SIGWINCH, self._handle_resize)
        try:
            await _wait_for_first(
                [asyncio.create_task(self._keep_connected(link)), asyncio.create_task(self._has_left.wait())]
            )
        finally:
            loop.remove_reader(0)
            loop.remove_signal_handler(signal.SIGWINCH)
        return self.ended or ("lost", "The connection ended.")

    async def _keep_connected(self, link: ClientConnection | None) -> None:
        while self.ended is None:
            try:
                link = link or await self._dial(self._viewer_id)
                await self._serve_connection(link)
            except websockets.InvalidStatus as error:
                if error.response.status_code in _FINAL_STATUSES:
                    self.ended = ("lost", f"The hub does not let you come back ({error}).")
            except (OSError, websockets.WebSocketException):
                pass  # it is tried again
            if link is not None and link.close_code in _FINAL_CLOSE_CODES:
                self.ended = ("lost", f"The connection ended: {link.close_reason}.")
            if self.ended is None:
                link, self._may_type = None, False
                self._show_disconnected("the hub is cut off; keys go nowhere")
                await asyncio.sleep(_RETRY_S)

    async def _serve_connection(self, link: ClientConnection) -> None:
        """Send and receive until this connection ends."""
        self._outgoing = asyncio.Queue(1024)  # drops the keys that were pressed for an earlier connection
        self._last_heard_at, self._hub_clock = time.monotonic(), None
        try:
            await _wait_for_first(
                [
                    asyncio.create_task(work(link))
                    for work in (self._receive_frames, self._send_frames, self._send_pings)
                ]
            )
        except TimeoutError:
            link.transport.abort()  # a proper goodbye would wait for an answer
            raise
        finally:
            await link.close()

    async def _receive_frames(self, link: ClientConnection) -> None:
        async for text in link:
            frame = json.loads(text)
            match frame["op"]:
                case "screen":
                    self._draw_screen(frame)
                case "writer":
                    self._viewer_id, self._hub_clock = frame.get("viewer", ""), frame.get("at")
                    self._handle_writer(frame)
                case "pong":
                    self._last_heard_at, self._hub_clock = time.monotonic(), frame.get("at")
                case "none":
                    self.ended = ("none", "")
                    return
                case "ended":
                    self.ended = ("ended", f"The program of {self._agent_id} has ended (code {frame.get('code')}).")
                    return
                case "away":
                    self._show_disconnected("its node is cut off; keys go nowhere")

    def _handle_writer(self, frame: dict[str, Any]) -> None:
        took_over = frame["you"] and not self._may_type
        self._may_type = frame["you"]
        if took_over:
            self._handle_resize()
        if self._may_type:
            self._show_status("you type")
        elif frame["may_type"]:
            self._show_status(f"you look; {frame['writer'] or 'nobody'} types; Ctrl-B T to type yourself")
        else:
            self._show_status("you look")

    def _draw_screen(self, frame: dict[str, Any]) -> None:
        rows, _ = measure_terminal()
        self._disconnect_reason = ""
        out = []
        if frame["whole"]:
            self._lines = {}
            out.append("\x1b[0m\x1b[2J")
        changed = {int(row): text for row, text in frame["lines"].items()}
        self._lines |= changed
        self._screen = frame
        out += [f"\x1b[{row + 1};1H\x1b[0m\x1b[2K{text}" for row, text in changed.items() if row < rows - 1]
        for name, mode in _MODE_NUMBERS.items():
            out.append(f"\x1b[?{mode}{'h' if name in frame['modes'] else 'l'}")
        write_terminal("".join(out) + self._format_status_line() + self._format_cursor())

    def _format_cursor(self) -> str:
        rows, columns = measure_terminal()
        y, x, shown = self._screen.get("cursor", (0, 0, 1))
        return f"\x1b[{min(y + 1, rows - 1)};{min(x + 1, columns)}H\x1b[?25{'h' if shown else 'l'}"

    def _format_status_line(self) -> str:
        rows, columns = measure_terminal()
        dropped = self._screen.get("dropped_bytes")
        more = f" · {dropped} bytes dropped" if dropped else ""
        text = f" {self._agent_id} · {self._disconnect_reason or self._status}{more} · {HOW_TO_DETACH}"
        return f"\x1b[{rows};1H\x1b[0;7m{escape_line(text)[:columns].ljust(columns)}\x1b[0m"

    def _show_disconnected(self, why: str) -> None:
        self._disconnect_reason = why
        write_terminal(self._format_status_line() + self._format_cursor())

    def _show_status(self, status: str) -> None:
        self._status = status
        write_terminal(self._format_status_line() + self._format_cursor())

    def _handle_resize(self) -> None:
        rows, columns = measure_terminal()
        if self._may_type:
            self._queue_frame({"op": "size", "rows": max(rows - 1, 2), "columns": max(columns, 2)})
        whole = "".join(f"\x1b[{row + 1};1H{text}" for row, text in self._lines.items() if row < rows - 1)
        write_terminal("\x1b[0m\x1b[2J" + whole + self._format_status_line() + self._format_cursor())

    def _handle_keys(self) -> None:
        data = os.read(0, 65536)
        if not data:
            self._has_left.set()
            return
        keys = bytearray()
        for key in data:
            if not self._is_after_prefix:
                self._is_after_prefix = key == PREFIX_KEY
                if not self._is_after_prefix:
                    keys.append(key)
                continue
            self._is_after_prefix = False
            if key in b"dD":
                self.ended = ("left", f"You have left {self._agent_id}; it goes on.")
                self._has_left.set()
            elif key in b"tT":
                self._queue_frame({"op": "take"})
            elif key == PREFIX_KEY:
                keys.append(key)
        if keys and self._may_type and not self._disconnect_reason:
            self._queue_frame({"op": "keys", "data": keys.decode("utf-8", "replace"), "at": self._hub_clock})

    def _queue_frame(self, frame: dict[str, Any]) -> None:
        with contextlib.suppress(asyncio.QueueFull):  # nobody types so much at once
            self._outgoing.put_nowait(json.dumps(frame).encode())

    async def _send_frames(self, link: ClientConnection) -> None:
        while True:
            await link.send((await self._outgoing.get()).decode())

    async def _send_pings(self, link: ClientConnection) -> None:
        """Ping the hub regularly, and end the connection when it is silent for too long."""
        while time.monotonic() - self._last_heard_at < KEYS_S:
            async with asyncio.timeout(KEYS_S):
                await link.send('{"op":"ping"}')
            await asyncio.sleep(_PING_S)
        raise TimeoutError


async def _wait_for_first(tasks: list[asyncio.Task[Any]]) -> None:
    """Wait until one task is over, cancel the others, and raise what it failed with."""
    done, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    for task in done:
        task.result()


def measure_terminal() -> tuple[int, int]:
    """Rows and columns of the person's terminal."""
    rows, columns, _, _ = struct.unpack("HHHH", fcntl.ioctl(1, termios.TIOCGWINSZ, bytes(8)))
    return rows or 24, columns or 80


def write_terminal(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


@contextlib.contextmanager
def raw_terminal() -> Iterator[None]:
    """Read every key as it is pressed, on a separate screen; afterwards the terminal is restored."""
    before = termios.tcgetattr(0)
    tty.setraw(0)
    write_terminal(_ENTER_SCREEN)
    try:
        yield
    finally:
        write_terminal(_LEAVE_SCREEN)
        termios.tcsetattr(0, termios.TCSAFLUSH, before)


def attach_terminal(url: str, token: str, agent_id: str, is_read_only: bool) -> tuple[str, str]:
    """Attach to an agent's terminal; returns how that ended (left, ended, none, lost) and a sentence about it."""
    return asyncio.run(_attach_terminal(url, token, agent_id, is_read_only))


async def _attach_terminal(url: str, token: str, agent_id: str, is_read_only: bool) -> tuple[str, str]:
    target = url.replace("http", "ws", 1) + f"/api/agents/{quote(agent_id, safe='')}/attach"
    headers = {"Authorization": f"Bearer {token}"}

    def dial(earlier: str) -> connect:
        query = urlencode({"read_only": int(is_read_only), "was": earlier})
        return connect(f"{target}?{query}", additional_headers=headers, max_size=_FRAME_BYTES, ping_interval=None)

    try:
        link = await dial("")
        with raw_terminal():
            return await AttachedTerminal(dial, agent_id).run(link)
    except (OSError, websockets.WebSocketException) as error:
        raise HubUnreachable(f"The hub at {url} does not let you attach ({error}).") from error
