"""The hub as the doors see it: the log, and what the nouns offer beyond rows and commands."""

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from greenroom.buckets import Bucket
from greenroom.link.loop_watch import LoopWatch
from greenroom.log.blobs import Blobs
from greenroom.log.heavy_work import HeavyWork
from greenroom.log.log import Log
from greenroom.log.model import Rows
from greenroom.log.signals import Signals
from greenroom.log.store import Store
from greenroom.services.ask_service import AskService
from greenroom.services.bus import Bus
from greenroom.services.login_use_recorder import LoginUseRecorder
from greenroom.services.presence import Presence
from greenroom.services.refusal_recorder import RefusalRecorder
from greenroom.settings import Settings


@dataclass(frozen=True)
class Hub:
    """Everything a door needs; made in one place, greenroom.app."""

    settings: Settings
    data: Path
    instance: str
    """A name for this data directory that is no secret, for the cookie."""
    store: Store
    log: Log
    blobs: Blobs
    signals: Signals
    presence: Presence
    bus: Bus
    asks: AskService
    started: float = field(default_factory=time.monotonic)
    reactor_errors: list[str] = field(default_factory=list)
    refusals: RefusalRecorder = field(init=False)
    login_uses: LoginUseRecorder = field(init=False)
    loop_watch: LoopWatch = field(init=False)
    heavy_work: HeavyWork = field(default_factory=HeavyWork)
    limited: Counter[str] = field(default_factory=Counter)
    """How often each limit for valid credentials was reached since the start, by the name of its setting."""
    byte_buckets: dict[str, Bucket] = field(default_factory=dict)
    """What each credential may still send, whichever door it uses."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "refusals", RefusalRecorder(self.log))
        object.__setattr__(self, "login_uses", LoginUseRecorder(self.log))
        object.__setattr__(self, "loop_watch", LoopWatch(self.settings.loop_pause_ms))

    @property
    def rows(self) -> Rows:
        """The committed present."""
        return self.log.rows
