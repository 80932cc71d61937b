"""A watchdog for the event loop: it counts pauses, tells what caused them, and logs what the loop was doing.

A timer on the loop beats, and compares the loop thread's CPU time with the time that passed. A second thread looks at
the beat, and keeps the stack of the loop when it is late. It is no profiler: it says nothing of pauses below the limit.
"""

import asyncio
import contextlib
import logging
import sys
import threading
import time
import traceback
from pathlib import Path
from types import FrameType

import msgspec

logger = logging.getLogger(__name__)
_BEATS = 4
"""In the time of the shortest pause that is reported."""
_FRAMES = 12
_TASKS = Path("/proc/self/task")


class LoopNumbers(msgspec.Struct):
    """Pauses of the event loop since the start. `busy`: it computed; `blocked`: it waited for a disk, a lock or another
    thread; `starved`: the machine gave the hub no time. Only the last is no fault of the hub."""

    busy: int = 0
    blocked: int = 0
    starved: int = 0
    longest_busy_ms: int = 0
    """The most that the loop has computed at a stretch, whether or not that counted as a pause."""


class LoopWatch:
    """Watches the loop that it is run on. `numbers` is what it has seen."""

    def __init__(self, pause_ms: int) -> None:
        self._pause_s = pause_ms / 1000
        self._beat_s = self._pause_s / _BEATS
        self.numbers = LoopNumbers()
        self._due = 0.0
        self._cpu = 0.0
        self._sample: tuple[float, str, float] | None = None
        """The beat that was late, what the loop was doing, and how long threads had waited for a processor."""

    async def run(self) -> None:
        """Watch until cancelled."""
        if not self._pause_s:
            return
        ended = threading.Event()
        self._due, self._cpu = time.monotonic() + self._beat_s, time.thread_time()
        thread = threading.Thread(
            target=self._look, args=(threading.get_ident(), ended), name="greenroom-watch", daemon=True
        )
        thread.start()
        try:
            while True:
                await asyncio.sleep(self._due - time.monotonic())
                self._beat()
        finally:
            ended.set()

    def _beat(self) -> None:
        now, cpu = time.monotonic(), time.thread_time()
        late_s, used_s = now - self._due, cpu - self._cpu
        busy_ms = round(min(late_s, used_s) * 1000)
        self.numbers.longest_busy_ms = max(self.numbers.longest_busy_ms, busy_ms)
        if late_s > self._pause_s - self._beat_s:  # it may have begun up to a beat before this one was due
            self._note(late_s, used_s)
        self._due, self._cpu = time.monotonic() + self._beat_s, cpu

    def _note(self, late_s: float, used_s: float) -> None:
        due, stack, waited_s = self._sample or (0.0, "", 0.0)
        is_sampled = due == self._due
        if used_s > self._pause_s:
            self.numbers.busy += 1
            kind, lasted_s = "computed", used_s
        elif late_s <= self._pause_s:
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

    def _look(self, loop_thread: int, ended: threading.Event) -> None:
        """Keep the stack of the loop once for each beat that is late."""
        while not ended.wait(self._pause_s / 2):
            due = self._due
            late_s = time.monotonic() - due
            if late_s < self._beat_s or (self._sample is not None and self._sample[0] == due):
                continue
            frame = sys._current_frames().get(loop_thread)
            # a sample that comes late itself shows that the process was stopped: it tells nothing of the loop
            if frame is not None and late_s < 2 * self._pause_s:
                self._sample = (due, _describe(frame), _waited_s())


def _describe(frame: FrameType) -> str:
    """The innermost frames, one a line, without text of the sources: reading those takes time."""
    found = [
        f"  {frame.f_code.co_filename}:{line} {frame.f_code.co_qualname}" for frame, line in traceback.walk_stack(frame)
    ]
    return "\n".join(found[:_FRAMES])


def _waited_s() -> float:
    """How long threads of this process have been ready to run without a processor, on Linux."""
    waited = 0
    with contextlib.suppress(OSError):  # no file can be opened just now
        for task in _TASKS.glob("*/schedstat"):
            with contextlib.suppress(OSError, ValueError, IndexError):  # a thread that has just ended
                waited += int(task.read_text().split()[1])
    return waited / 1e9
