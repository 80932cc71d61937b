"""A watchdog for the event loop: counts pauses, finds their cause, and logs what the loop was doing.

A timer on the loop beats while there is work, and compares the loop thread's CPU time with the time that passed. A
second thread looks at the beat, and keeps the stack of the loop when it is late. Both rest while nothing is queued on
the loop, so that they do not wake an idle hub. It is no profiler: it says nothing of pauses below the limit.
"""

import asyncio
import contextlib
import logging
import math
import sys
import threading
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

logger = logging.getLogger(__name__)
_BEATS = 4
"""In the time of the shortest pause that is reported."""
_FRAMES = 12
_QUEUE = "call_soon"
"""The method of the loop through which every step of every task is queued."""
_TASKS = Path("/proc/self/task")
_OWN = Path("/proc/thread-self/schedstat")


class LoopNumbers(msgspec.Struct):
    """Pauses of the event loop since the start. `busy`: it computed; `held`: another thread computed and kept the
    interpreter; `blocked`: it waited for a disk, a lock or another thread; `starved`: the machine gave the hub no time.
    Only the last is no fault of the hub."""

    busy: int = 0
    held: int = 0
    blocked: int = 0
    starved: int = 0
    longest_busy_ms: int = 0
    """The most that the loop has computed at a stretch, whether or not that counted as a pause."""


class LoopWatch:
    """Watches the loop that it runs on. `numbers` has its counts."""

    def __init__(self, pause_ms: int) -> None:
        self._pause_s = pause_ms / 1000
        self._beat_s = self._pause_s / _BEATS
        self.numbers = LoopNumbers()
        self._due = 0.0
        self._cpu = self._others_cpu = self._waited = 0.0
        self._ended = threading.Event()
        self._beats = threading.Event()
        """Set while a beat is due."""
        self._sample: tuple[float, str, float] | None = None
        """The beat that was late, what the loop was doing, and how long threads had waited for a processor."""

    async def run(self) -> None:
        """Watch until cancelled."""
        if not self._pause_s:
            return
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._look, args=(threading.get_ident(),), name="greenroom-watch", daemon=True).start()
        self._expect_beat(loop)
        try:
            await loop.create_future()
        finally:
            self._ended.set()
            self._beats.set()
            self._timer.cancel()
            vars(loop).pop(_QUEUE, None)

    def _expect_beat(self, loop: asyncio.AbstractEventLoop) -> None:
        self._due, self._cpu = time.monotonic() + self._beat_s, time.thread_time()
        self._others_cpu, self._waited = time.process_time() - self._cpu, _loop_waited_s()
        self._timer = loop.call_later(self._beat_s, self._beat, loop)
        self._beats.set()

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        self._judge()
        self._expect_beat(loop)
        loop.call_soon(self._rest, loop)  # after all that is queued by now
        self._notice_work(loop)

    def _notice_work(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let the next thing that is queued keep the beat going, or start it again."""

        def call_soon(*args: Any, **named: Any) -> asyncio.Handle:
            vars(loop).pop(_QUEUE, None)  # or somebody has kept it from before
            if not self._beats.is_set():
                self._expect_beat(loop)
            return loop.call_soon(*args, **named)

        vars(loop)[_QUEUE] = call_soon

    def _rest(self, loop: asyncio.AbstractEventLoop) -> None:
        """Stop the beat if nothing has been queued since the last one."""
        if _QUEUE in vars(loop):
            self._timer.cancel()
            self._judge()
            self._beats.clear()

    def _judge(self) -> None:
        """See whether the beat that is due comes late."""
        late_s, used_s = time.monotonic() - self._due, time.thread_time() - self._cpu
        busy_ms = round(min(late_s, used_s) * 1000)
        self.numbers.longest_busy_ms = max(self.numbers.longest_busy_ms, busy_ms)
        if late_s > self._pause_s - self._beat_s:  # it may have begun up to a beat before this one was due
            self._note(late_s, used_s)

    def _note(self, late_s: float, used_s: float) -> None:
        due, stack, waited_s = self._sample or (0.0, "", 0.0)
        is_sampled = due == self._due
        others_s = time.process_time() - time.thread_time() - self._others_cpu
        held_s = min(others_s, late_s - (_loop_waited_s() - self._waited))
        if used_s > self._pause_s:
            self.numbers.busy += 1
            kind, lasted_s = "computed", used_s
        elif late_s <= self._pause_s:
            return
        elif held_s > self._pause_s:
            self.numbers.held += 1
            logger.warning("Another thread computed for %d ms, and the event loop answered nobody.", held_s * 1000)
            return
        elif is_sampled and _TASKS.exists() and _waited_s() - waited_s < late_s / 4:
            self.numbers.blocked += 1
            kind, lasted_s = "was blocked", late_s
        else:
            self.numbers.starved += 1
            logger.debug("The machine gave the event loop no time for %d ms.", late_s * 1000)
            return
        told = f" It was here:\n{stack}" if is_sampled else ""
        logger.warning("The event loop %s for %d ms, and answered nobody.%s", kind, lasted_s * 1000, told)

    def _look(self, loop_thread: int) -> None:
        """Keep the stack of the loop once for each beat that is late."""
        while self._beats.wait() and not self._ended.wait(self._pause_s / 2):
            due = self._due
            late_s = time.monotonic() - due
            if late_s < self._beat_s or (self._sample is not None and self._sample[0] == due):
                continue
            frame = sys._current_frames().get(loop_thread)
            # a sample that is late itself shows that the process was stopped: it says nothing about the loop
            if frame is not None and late_s < 2 * self._pause_s:
                self._sample = (due, _describe(frame), _waited_s())


def _describe(frame: FrameType) -> str:
    """The innermost frames, one a line, without text of the sources: reading those takes time."""
    found = [
        f"  {frame.f_code.co_filename}:{line} {frame.f_code.co_qualname}" for frame, line in traceback.walk_stack(frame)
    ]
    return "\n".join(found[:_FRAMES])


def _loop_waited_s() -> float:
    """How long the calling thread has been ready to run without a processor; endless where nobody tells."""
    try:
        return int(_OWN.read_bytes().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return math.inf


def _waited_s() -> float:
    """How long threads of this process have been ready to run without a processor, on Linux."""
    waited = 0
    with contextlib.suppress(OSError):  # no file can be opened at the moment
        for task in _TASKS.glob("*/schedstat"):
            with contextlib.suppress(OSError, ValueError, IndexError):  # a thread that has just ended
                waited += int(task.read_text().split()[1])
    return waited / 1e9
