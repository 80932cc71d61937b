"""When cron triggers are due: across changes of the clock, absences, and clocks that jump."""

import datetime
import zoneinfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from greenroom.rules.workflows.cron import MAX_CAUGHT_UP, find_due_times, get_next_time
from greenroom.rules.workflows.definition import CatchUp, Trigger

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

BERLIN = "Europe/Berlin"
HOUR = 3_600_000
DAY = 24 * HOUR


def at(text: str, zone: str = "UTC", fold: int = 0) -> int:
    when = datetime.datetime.fromisoformat(text).replace(tzinfo=zoneinfo.ZoneInfo(zone), fold=fold)
    return int(when.timestamp() * 1000)


def nightly(**fields: str) -> Trigger:
    return Trigger(id="t", **{"cron": "30 2 * * *", "timezone": BERLIN} | fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cron", "after", "due"),
    [
        ("0 3 * * *", "2026-01-01T00:00", "2026-01-01T03:00"),
        ("0 3 * * mon-fri", "2026-01-02T03:00", "2026-01-05T03:00"),
        ("@hourly", "2026-01-01T23:30", "2026-01-02T00:00"),
        ("0 0 29 2 *", "2026-01-01T00:00", "2028-02-29T00:00"),
        ("0 0 L * *", "2026-02-01T00:00", "2026-02-28T00:00"),
    ],
)
def test_the_next_time_follows_the_calendar(cron: str, after: str, due: str) -> None:
    assert get_next_time(Trigger(id="t", cron=cron), at(after)) == at(due)


def test_a_time_that_the_clock_leaps_over_comes_at_the_end_of_the_gap() -> None:
    found = get_next_time(nightly(), at("2026-03-29T00:00", BERLIN))
    assert found == at("2026-03-29T03:00", BERLIN)
    assert get_next_time(nightly(), found) == at("2026-03-30T02:30", BERLIN)


def test_a_time_that_comes_twice_is_due_once() -> None:
    first = at("2026-10-25T02:30", BERLIN)
    assert get_next_time(nightly(), at("2026-10-25T00:00", BERLIN)) == first
    assert get_next_time(nightly(), first) == at("2026-10-26T02:30", BERLIN)
    assert find_due_times(nightly(), first, first + 2 * HOUR) == []


def test_every_hour_goes_by_elapsed_time_when_the_clock_is_put_back() -> None:
    hourly = Trigger(id="t", cron="0 * * * *", timezone=BERLIN, catch_up="all")
    begin = at("2026-10-25T00:30", BERLIN)
    assert len(find_due_times(hourly, begin, begin + 5 * HOUR)) == 5


@pytest.mark.parametrize(("catch_up", "count"), [("skip", 0), ("once", 1), ("all", 3)])
def test_what_was_missed_is_made_up_for_as_the_trigger_says(catch_up: CatchUp, count: int) -> None:
    trigger = Trigger(id="t", cron="0 3 * * *", catch_up=catch_up)
    last, now = at("2026-01-01T12:00"), at("2026-01-04T12:00")
    found = find_due_times(trigger, last, now)
    assert len(found) == count
    assert found == [] or found[-1] == at("2026-01-04T03:00")


def test_skipping_what_was_missed_does_not_skip_what_is_due_now() -> None:
    trigger = Trigger(id="t", cron="0 3 * * *", catch_up="skip")
    assert find_due_times(trigger, at("2026-01-01T12:00"), at("2026-01-04T03:00") + 900) == [at("2026-01-04T03:00")]


def test_a_clock_that_jumps_back_starts_nothing_again() -> None:
    trigger = Trigger(id="t", cron="0 3 * * *")
    done = at("2026-01-04T03:00")
    assert find_due_times(trigger, done, done - 2 * DAY) == []
    assert find_due_times(trigger, done, done + HOUR) == []


def test_years_of_absence_are_bounded() -> None:
    trigger = Trigger(id="t", cron="* * * * *", catch_up="all")
    now = at("2026-01-01T00:00")
    found = find_due_times(trigger, now - 3 * 365 * DAY, now)
    assert len(found) == MAX_CAUGHT_UP
    assert found[-1] == now


@PATIENT
@given(
    st.sampled_from(["*/7 * * * *", "0 3 * * *", "30 2 * * *", "15 1-4 * * 0", "0 0 1 * *"]),
    st.sampled_from(["UTC", BERLIN, "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"]),
    st.integers(at("2025-01-01T00:00"), at("2027-01-01T00:00")),
    st.integers(0, 40 * DAY),
    st.lists(st.integers(0, 40 * DAY), max_size=4),
)
def test_looking_often_finds_what_looking_once_finds(
    cron: str, zone: str, begin: int, span: int, looks: list[int]
) -> None:
    trigger = Trigger(id="t", cron=cron, timezone=zone, catch_up="all")
    once: list[int] = []
    last = begin
    while (due := get_next_time(trigger, last)) is not None and due <= begin + span and len(once) < MAX_CAUGHT_UP:
        assert due > last
        once.append(due)
        last = due
    often: list[int] = []
    last, end = begin, (once[-1] if len(once) == MAX_CAUGHT_UP else begin + span)
    for look in sorted(min(begin + moment, end) for moment in [*looks, end - begin]):
        often += find_due_times(trigger, last, look)
        last = look
    assert often == once
