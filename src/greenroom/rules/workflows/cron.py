"""When a cron trigger is due, as pure functions of its text, its time zone and the time."""

import datetime
import functools
import zoneinfo

from cronsim import CronSim, CronSimError

from greenroom.rules.workflows.definition import CatchUp, Trigger
from greenroom.sentences import Sentence, build_sentence

MAX_CAUGHT_UP = 100
"""The most starts that are made up for at once."""
WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


def find_cron_error(text: str) -> Sentence | None:
    """What is wrong with a cron text."""
    spec = _normalize_spec(text)
    if len(spec.split()) != 5:
        return build_sentence("workflow_problem.cron_fields", text=text[:64], count=len(spec.split()))
    if len(spec) > 200:
        return build_sentence("workflow_problem.cron_too_long")
    try:
        begin = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
        next(CronSim(spec, begin))
    except CronSimError as error:
        return build_sentence("workflow_problem.cron_unreadable", text=text[:64], error=str(error).lower())
    except StopIteration:
        return build_sentence("workflow_problem.cron_never", text=text[:64])
    return None


def find_timezone_error(name: str) -> Sentence | None:
    """What is wrong with the name of a time zone."""
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return build_sentence("workflow_problem.timezone", name=name[:64])
    return None


def get_next_time(trigger: Trigger, after: int) -> int | None:
    """The first time after `after` (milliseconds) at which the trigger is due.

    Where the clock is put forward, times that do not exist come at the moment after the gap; where it is put back, a
    time of day comes once, at its first turn. A trigger for every hour or minute goes by elapsed time.
    """
    zone = _load_zone(trigger.timezone)
    begin = datetime.datetime.fromtimestamp(after / 1000, zone)
    try:
        found = next(CronSim(_normalize_spec(trigger.cron or ""), begin))
    except (StopIteration, OverflowError):
        return None
    return int(found.timestamp() * 1000)


def find_due_times(trigger: Trigger, last: int, now: int) -> list[int]:
    """The times to start for, when the trigger was last looked at at `last`; the newest ones when there are too many.

    skip: only one that has come within the last minute · once: the newest that was missed · all: every one.
    A clock that was put back brings no time a second time, because `last` has already passed it.
    """
    found: list[int] = []
    at = last
    while (due := get_next_time(trigger, at)) is not None and due <= now:
        found.append(due)
        at = due
        if len(found) > MAX_CAUGHT_UP:
            at = _skip_absence(at, now, trigger)
            found = found[-MAX_CAUGHT_UP:]
    return _choose_times(found, trigger.catch_up, now)


def _skip_absence(at: int, now: int, trigger: Trigger) -> int:
    """After a long absence begin again so near to now that no more than the allowed number of times can be ahead."""
    following = get_next_time(trigger, at)
    if following is None:
        return at
    apart = max(following - at, 60_000)
    return max(at, now - MAX_CAUGHT_UP * apart)


def _choose_times(found: list[int], catch_up: CatchUp, now: int) -> list[int]:
    if catch_up == "skip":
        return [due for due in found[-1:] if now - due < 60_000]
    return found[-1:] if catch_up == "once" else found[-MAX_CAUGHT_UP:]


def _normalize_spec(text: str) -> str:
    return WORDS.get(text.strip().lower(), text.strip().upper())


@functools.lru_cache(maxsize=64)
def _load_zone(name: str) -> zoneinfo.ZoneInfo:
    return zoneinfo.ZoneInfo(name)
