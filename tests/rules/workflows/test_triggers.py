"""Triggers of stored workflows: armed by a person, fired by the clock and by the ends of other workflows."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from greenroom.app import open_hub
from greenroom.clock import SystemClock, parse_iso
from greenroom.errors import Refused
from greenroom.rules.access.model import HUB
from greenroom.rules.workflows.commands import DeleteWorkflow, PutWorkflow, StartWorkflow
from greenroom.rules.workflows.model import WORKFLOW_RUNS, WorkflowRun
from greenroom.rules.workflows.parser.loader import read_plain
from greenroom.rules.workflows.triggers.decide import MAX_CHAIN
from greenroom.rules.workflows.triggers.model import TRIGGERS, ArmTrigger, FireTrigger, TriggerState, build_trigger_id
from greenroom.sentences import build_sentence
from greenroom.services.hub import Hub
from greenroom.services.trigger_watch import CronTimer
from greenroom.settings import Settings
from greenroom.testing.timeouts import WAIT_S

HOUR = 3_600_000


class SetClock(SystemClock):
    """A clock that stands where it is put."""

    def __init__(self, at: str) -> None:
        self.ms = parse_iso(at)

    def now(self) -> int:
        return self.ms


class Scene:
    """A hub in this process, and what is done with its triggers."""

    def __init__(self, hub: Hub, clock: SetClock) -> None:
        self.hub, self.clock = hub, clock

    async def put(self, *triggers: dict[str, Any], name: str = "w", **more: Any) -> None:
        plain = {"name": name, "steps": [{"id": "a", "set": {"x": 1}}], "triggers": list(triggers), **more}
        await self.hub.log.do(PutWorkflow(by=HUB, definition=read_plain(plain), overwrite=True))

    async def arm(self, name: str = "t", workflow: str = "w", armed: bool = True) -> None:
        await self.hub.log.do(ArmTrigger(by=HUB, trigger_id=build_trigger_id(workflow, name), armed=armed))

    def trigger(self, name: str = "t", workflow: str = "w") -> TriggerState:
        found = self.hub.rows.get(TRIGGERS, build_trigger_id(workflow, name))
        assert found is not None
        return found

    def runs(self, workflow: str = "w") -> list[WorkflowRun]:
        return self.hub.rows.find(WORKFLOW_RUNS, {"workflow": workflow}, order="created_at")

    async def look(self, at: str | int) -> None:
        self.clock.ms = parse_iso(at) if isinstance(at, str) else at
        await CronTimer(self.hub.log).start_due()

    async def until(self, true: Callable[[], Any]) -> None:
        moved = asyncio.Event()
        leave = self.hub.log.subscribe(lambda _: moved.set())
        async with asyncio.timeout(WAIT_S):
            while not true():
                await moved.wait()
                moved.clear()
        leave()


def play(data: Path, scene: Callable[[Scene], Awaitable[None]], at: str = "2026-01-01T12:00:00Z") -> None:
    async def run() -> None:
        clock = SetClock(at)
        async with open_hub(data, Settings(local_node=False), clock) as hub:
            await scene(Scene(hub, clock))
            assert not hub.reactor_errors

    asyncio.run(run())


def test_a_trigger_starts_nothing_before_a_person_has_armed_it(tmp_path: Path) -> None:
    async def scene(s: Scene) -> None:
        await s.put({"id": "t", "cron": "0 3 * * *"})
        await s.look("2026-01-03T12:00:00Z")
        assert not s.runs()
        await s.arm()
        await s.look("2026-01-03T13:00:00Z")
        assert not s.runs(), "what came before it was armed does not count"
        await s.look("2026-01-04T03:00:00Z")
        assert len(s.runs()) == 1

    play(tmp_path, scene)


def test_the_clock_starts_a_run_once_with_its_time_as_an_input(tmp_path: Path) -> None:
    async def scene(s: Scene) -> None:
        trigger = {"id": "t", "cron": "30 3 * * *", "timezone": "Europe/Berlin", "inputs": {"since": "trigger.time"}}
        await s.put(trigger, inputs={"since": "string"}, output="inputs.since")
        await s.arm()
        for _ in range(3):
            await s.look("2026-01-02T02:30:00.500Z")
        await s.until(lambda: s.runs() and s.runs()[0].status == "completed")
        assert [run.output for run in s.runs()] == ["2026-01-02T02:30:00.000Z"]
        assert s.runs()[0].trigger == "cron t"
        assert (s.trigger().starts, s.trigger().last_run) == (1, s.runs()[0].id)

    play(tmp_path, scene)


@pytest.mark.parametrize(("catch_up", "count"), [("skip", 0), ("once", 1), ("all", 3)])
def test_what_was_missed_while_the_hub_was_away_is_made_up_for(tmp_path: Path, catch_up: str, count: int) -> None:
    async def before(s: Scene) -> None:
        await s.put({"id": "t", "cron": "0 3 * * *", "catch_up": catch_up})
        await s.arm()

    async def after(s: Scene) -> None:
        await s.look("2026-01-04T12:00:00Z")
        assert len(s.runs()) == count
        await s.look("2026-01-04T12:00:01Z")
        assert len(s.runs()) == count

    play(tmp_path, before)
    play(tmp_path, after, "2026-01-04T12:00:00Z")


def test_a_clock_that_jumps_starts_nothing_twice_and_does_not_silence_the_trigger(tmp_path: Path) -> None:
    async def scene(s: Scene) -> None:
        await s.put({"id": "t", "cron": "0 3 * * *"})
        await s.arm()
        await s.look("2026-01-02T03:00:00Z")
        await s.look("2026-01-01T20:00:00Z")
        await s.look("2026-01-02T03:00:00Z")
        assert len(s.runs()) == 1
        await s.look("2027-06-01T12:00:00Z")
        assert len(s.runs()) == 2
        await s.look("2026-01-02T12:00:00Z")
        await s.look("2026-01-03T03:00:01Z")
        assert len(s.runs()) == 3

    play(tmp_path, scene)


def test_a_trigger_that_cannot_start_its_workflow_says_why(tmp_path: Path) -> None:
    async def scene(s: Scene) -> None:
        inputs = {"n": {"type": "integer"}}
        await s.put({"id": "t", "cron": "@hourly", "inputs": {"n": "trigger.time"}}, inputs=inputs)
        await s.arm()
        await s.look("2026-01-01T13:00:00Z")
        assert not s.runs()
        assert "integer" in str(s.trigger().error)
        assert s.trigger().due == parse_iso("2026-01-01T14:00:00Z")

    play(tmp_path, scene)


def test_a_new_version_keeps_what_was_armed_and_drops_what_is_gone(tmp_path: Path) -> None:
    async def scene(s: Scene) -> None:
        await s.put({"id": "t", "cron": "0 3 * * *"}, {"id": "u", "webhook": True})
        await s.arm()
        await s.put({"id": "t", "cron": "0 5 * * *"}, description="later")
        assert s.trigger().armed
        await s.look("2026-01-01T12:00:01Z")
        assert s.trigger().due == parse_iso("2026-01-02T05:00:00Z")
        assert s.hub.rows.get(TRIGGERS, build_trigger_id("w", "u")) is None
        await s.put({"id": "t", "cron": "0 5 * * *", "enabled": False})
        assert not s.trigger().armed
        with pytest.raises(Refused):
            await s.arm()
        await s.hub.log.do(DeleteWorkflow(by=HUB, name="w"))
        assert s.hub.rows.get(TRIGGERS, build_trigger_id("w", "t")) is None

    play(tmp_path, scene)


def test_the_end_of_another_workflow_starts_one_and_a_circle_comes_to_an_end(tmp_path: Path) -> None:
    async def scene(s: Scene) -> None:
        await s.put({"id": "t", "after": "b", "inputs": {"n": "trigger.output.a.x"}}, inputs={"n": {"type": "integer"}})
        await s.put({"id": "t", "after": "w"}, name="b")
        await s.arm()
        await s.arm(workflow="b")
        await s.hub.log.do(StartWorkflow(by=HUB, run_id="wfr_first", workflow="b"))
        await s.until(lambda: s.trigger().error or s.trigger(workflow="b").error)
        assert 8 <= len(s.runs()) + len(s.runs("b")) <= 12
        circle = build_sentence("trigger_circle", limit=MAX_CHAIN)
        assert circle in (s.trigger().error, s.trigger(workflow="b").error)

    play(tmp_path, scene)


def test_a_trigger_fires_so_often_a_minute_and_no_more(tmp_path: Path) -> None:
    async def scene(s: Scene) -> None:
        await s.put({"id": "t", "webhook": True})

        async def fire(number: int) -> None:
            key = build_trigger_id("w", "t")
            told = FireTrigger(by=HUB, trigger_id=key, occurrence=f"n{number}", at=number, facts={"body": None})
            await s.hub.log.do(told)

        with pytest.raises(Refused) as refused:
            await fire(0)
        assert refused.value.code == "trigger_not_armed"
        await s.arm()
        for number in range(30):
            await fire(number)
        with pytest.raises(Refused) as refused:
            await fire(31)
        assert refused.value.code == "trigger_too_often"
        s.clock.ms += 60_000
        await fire(32)
        assert s.trigger().starts == 31

    play(tmp_path, scene)
