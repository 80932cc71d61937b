"""The machine's clock jumps while work waits for time: spans keep their length, dates are dates, nothing is twice."""

import itertools
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from greenroom.clock import parse_iso
from greenroom.testing.fake_clock import ClockFile
from greenroom.testing.hub_process import HubProcess
from tests.conftest import checked, end_node
from tests.rules.agents.test_invite import ready, thread_of
from tests.rules.workflows.plays import Play
from tests.services.test_waker import over, post, runs_of
from tests.stage import Stage

HOUR_S, DAY_S = 3600, 86_400
_SHORT_S = 8
"""Long enough that the clock can be set meanwhile."""


@pytest.fixture
def clock(tmp_path: Path) -> ClockFile:
    return ClockFile(tmp_path)


@pytest.fixture
def stage(tmp_path: Path, clock: ClockFile) -> Iterator[Stage]:
    hub = HubProcess(tmp_path / "data", env={"GREENROOM_LOCAL_NODE": "1", **clock.env})
    try:
        for running in checked(hub):
            with Stage(running) as stage:
                yield stage
    finally:
        end_node(hub.data)


def timed(seconds: int) -> list[dict[str, Any]]:
    """A step of each kind that waits for so long."""
    return [
        {"id": "wait", "wait": {"seconds": seconds}},
        {"id": "work", "prompt": "HANG", "timeout_s": seconds, "on_error": "ignore"},
        {
            "id": "again",
            "set": {"a": "1 / inputs.nothing"},
            "retry": {"max": 1, "backoff_s": seconds, "jitter": 0, "on": ["expression"]},
            "on_error": "ignore",
        },
        {"id": "gate", "level": {"kind": "confirmed", "timeout_s": seconds}, "on_error": "ignore"},
        {"id": "below", "workflow": "inner", "on_error": "ignore"},
    ]


def start(play: Play, seconds: int, *more: dict[str, Any]) -> str:
    inner = {"name": "inner", "steps": [{"id": "a", "wait": {"webhook": "never"}}], "limits": {"timeout_s": seconds}}
    nothing = {"nothing": {"type": "integer", "default": 0, "required": False}}
    steps = timed(seconds)
    run_id = play.start(*steps, *more, takes=nothing, workflows={"inner": inner}, policy="allow_debt")
    begun = {"wait": "waiting", "work": "running", "again": "delayed", "gate": "waiting", "below": "running"}
    play.stage.until(lambda: begun.items() <= waits(play, run_id).items(), "all to be begun")
    return run_id


def waits(play: Play, run_id: str) -> dict[str, str]:
    return {step["id"]: step["status"] for step in play.steps(run_id).values()}


def test_a_clock_put_forward_by_a_day_brings_dates_and_ends_no_span(stage: Stage, clock: ClockFile) -> None:
    play = Play(stage)
    by_day = {"id": "date", "wait": {"until": f"run.started_at + {12 * HOUR_S * 1000}"}}
    run_id = start(play, 2 * HOUR_S, by_day)
    agent_run = stage.start("HANG", timeout_s=HOUR_S)
    stage.until(lambda: stage.run(agent_run)["status"] == "running", "the agent to work")
    before = waits(play, run_id)
    clock.set_s(DAY_S)
    play.until(run_id, "date", "completed")
    assert waits(play, run_id) == {**before, "date": "completed"}
    assert stage.run(agent_run)["status"] == "running"
    ask = play.ask_of(run_id, "gate")
    assert stage.decide(ask, "approve").status_code == 200, "people have the time that they were given"
    play.until(run_id, "gate", "completed")
    assert stage.done("SAY still connected")["output"] == "still connected"
    clock.set_s(0)
    assert stage.done("SAY and again")["output"] == "and again"
    assert stage.run(agent_run)["status"] == "running"


@pytest.mark.parametrize("down", [False, True], ids=["while it runs", "while it is down"])
def test_a_clock_put_back_makes_nothing_wait_for_longer(stage: Stage, clock: ClockFile, down: bool) -> None:
    play = Play(stage)
    agent_run = stage.start("HANG", timeout_s=_SHORT_S)
    run_id = start(play, _SHORT_S)
    if down:
        stage.hub.kill()
    clock.set_s(-DAY_S)
    if down:
        stage.hub.restart()
    run, steps = play.end(run_id), play.steps(run_id)
    assert run["status"] == "completed", run
    told = {one: step["error"] for one, step in steps.items() if step["error"]}
    assert told["work"] == f"it was not done within {_SHORT_S} s"
    assert f"the workflow was not done within {_SHORT_S} s" in told["below"]
    assert "in time" in told["gate"]
    assert [attempt["number"] for attempt in steps["again"]["attempts"]] == [1, 2]
    paused = stage.until(lambda: stage.run(agent_run).get("waiting_for"), "the agent's time to be over")
    assert "time" in paused
    clock.set_s(-HOUR_S)
    later, _ = play.done({"id": "wait", "wait": {"seconds": 1}})
    assert later["status"] == "completed"


def test_a_trigger_fires_once_for_each_time_however_the_clock_jumps(stage: Stage, clock: ClockFile) -> None:
    def set_before_a_minute(days: float) -> None:
        """A few seconds before the next full minute of a day that is so far from today."""
        clock.set_s(days * DAY_S + 56 - time.time() % 60)

    def times() -> list[str]:
        runs = stage.api.get("/api/workflow-runs", params={"workflow": "nightly"}).json()
        found = [stage.api.get(f"/api/workflow-runs/{run['id']}").json()["facts"]["inputs"]["at"] for run in runs]
        assert len(set(found)) == len(found), found
        return found

    def has_more_than(known: int) -> bool:
        return len(times()) > known

    trigger = {"id": "clock", "cron": "* * * * *", "inputs": {"at": "trigger.time"}}
    steps = [{"id": "note", "set": {"at": "inputs.at"}}]
    definition = {"name": "nightly", "inputs": {"at": "string"}, "steps": steps, "triggers": [trigger]}
    stage.api.put("/api/workflows/nightly", json={"definition": definition}).raise_for_status()
    (armed,) = stage.api.get("/api/triggers", params={"workflow": "nightly"}).json()
    stage.api.post(f"/api/triggers/{armed['id']}/arm").raise_for_status()
    for days in (0.0, 1.0, 1 / 24, -1.0):
        known = len(times())
        set_before_a_minute(days)
        stage.until(partial(has_more_than, known), f"a start at {days} days from now")


def put_back(stage: Stage, clock: ClockFile, by_s: int) -> None:
    """Set the clock back, and see that the hub has noticed."""
    topics = itertools.count()

    def is_noticed() -> bool:
        made = stage.api.post("/api/threads", json={"topic": f"{by_s} s, {next(topics)}"}).json()
        return parse_iso(made["created_at"]) < (time.time() - by_s + 60) * 1000

    clock.set_s(-by_s)
    stage.until(is_noticed, "the hub to go along with the clock")


def test_a_mention_wakes_an_agent_whatever_the_clock_was_set_to(stage: Stage, clock: ClockFile) -> None:
    ready(stage)
    stage.profile("light", wake_on=["mention"])
    thread = thread_of(stage, "waking")
    put_back(stage, clock, HOUR_S)
    post(stage, thread, "@light\nSLEEP 6")
    stage.until(lambda: runs_of(stage, "light"), "the first wake")
    put_back(stage, clock, DAY_S)
    post(stage, thread, "@light look again")
    first, second = sorted(over(stage, "light", 2), key=lambda run: int(run["seq"]))
    assert "look again" in second["prompt"], "it had not read it, and was woken for it"
    assert second["agent_id"] == first["agent_id"]
