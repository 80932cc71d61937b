"""Records what a real ACP agent says, for the tests of the translation: `python -m tests.runtimes.acp_recorder NAME`.

Paths, addresses and secrets of the machine are replaced, and what no driver reads is cut.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from greenroom.node.processes import Child, ProcessSpawner
from greenroom.runtimes import agents
from greenroom.runtimes.conformance_trial import DriverTrial
from greenroom.runtimes.contract import PermissionAsked
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.scripted_model import choose_script
from greenroom.runtimes.spawn_tracker import TrackingSpawner
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from tests.runtimes.acp_rig import Desk, agent, rehearsal

_LONG = 300
_CUT: dict[str, Any] = {
    "availableCommands": [],
    "availableSkillDetails": [],
    "configOptions": [],
    "authMethods": [],
    "models": {},
    "modes": {},
    "agentCapabilities": {},
    "clientInfo": {},
}
"""Long lists that are the vendor's own words and that the translation never reads."""


def get_fixture(driver: str) -> Path:
    """Where the recording of a driver is, in the folder of its agent."""
    (agent,) = [one.name for one in agents.AGENTS if driver in {info.name for info in one.drivers}]
    return Path(agents.__file__).parent / agent / "fixtures" / f"{driver}.jsonl"


class RecordingSpawner(ProcessSpawner):
    """Starts children that remember every line of their pipes."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[str, Any]] = []

    async def spawn(self, command: list[str], directory: Path, env: dict[str, str]) -> Child:
        child = await super().spawn(command, directory, env)
        read_line, write = child.read_line, child.write

        async def read_and_note() -> bytes:
            line = await read_line()
            self._note("agent", line)
            return line

        async def note_and_write(data: bytes) -> None:
            self._note("client", data)
            await write(data)

        child.read_line = read_and_note  # type: ignore[method-assign]
        child.write = note_and_write  # type: ignore[method-assign]
        return child

    def _note(self, who: str, line: bytes) -> None:
        if line.strip().startswith(b"{"):
            self.lines.append((who, json.loads(line)))


async def play(trial: DriverTrial) -> None:
    """What every fixture holds: an answer, a tool of the hub, a yes, a no, and a cancelled turn."""

    async def refuse(permission: PermissionAsked) -> None:
        await trial.session.decide(permission.permission, "deny")

    await trial.open()
    await trial.run_turn(trial.build_say_prompt("hello there"))
    await trial.run_turn(trial.script.hub_tool.replace("TEXT", "called"))
    await trial.run_turn(trial.build_touch_prompt("allowed", "did it")[0])
    await trial.run_turn(trial.build_touch_prompt("refused", "not said")[0], refuse)
    await trial.session.prompt(trial.script.slow)
    await trial.wait_until_said()
    await trial.session.cancel()
    await trial.finish_turn()
    await trial.close()


def record(name: str, folder: Path) -> list[tuple[str, Any]]:
    """Play the scenario with the real agent."""
    spawner = RecordingSpawner()
    with FakeModel() as model, HubProcess(folder / "hub") as hub:
        desk = rehearsal(folder / "home", hub) if name == "rehearsal" else agent(name, folder / "home", hub, model.url)
        asyncio.run(play(DriverTrial(load_driver(name), desk.opening, TrackingSpawner(spawner), choose_script(name))))
        clean = cleaner(desk, model.url)
    return [(who, clean(message)) for who, message in spawner.lines]


def cleaner(desk: Desk, model_url: str) -> Callable[[Any], Any]:
    """What makes a message fit for everybody."""
    told = {str(desk.home): "/home/agent", desk.hub_url: "http://hub", model_url: "http://model", desk.token: "TOKEN"}

    def clean(value: Any) -> Any:
        match value:
            case dict():
                return {key: _CUT[key] if key in _CUT else clean(inner) for key, inner in value.items()}
            case list():
                return [clean(inner) for inner in value]
            case str():
                for secret, name in told.items():
                    value = value.replace(secret, name)
                return value if len(value) <= _LONG else value[:_LONG] + "…"
            case _:
                return value

    return clean


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory(prefix="greenroom-") as made:
            lines = record(name, Path(made))
        texts = [json.dumps({who: message}, ensure_ascii=False) for who, message in lines]
        get_fixture(name).parent.mkdir(exist_ok=True)
        get_fixture(name).write_text("\n".join(texts) + "\n")
        print(f"{name}: {len(lines)} messages")
