"""Records the events of OpenCode's server, for the tests: `python -m tests.runtimes.opencode_recorder`."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.agents.opencode import driver
from greenroom.runtimes.agents.opencode.server import OpencodeServer
from greenroom.runtimes.conformance_trial import DriverTrial
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.model_script import FAKE_SCRIPT
from greenroom.runtimes.spawn_tracker import TrackingSpawner
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from tests.runtimes.acp_recorder import cleaner, get_fixture
from tests.runtimes.acp_rig import agent
from tests.runtimes.native_recorder import play

FIXTURE = get_fixture("opencode")
_KEPT = ("message.", "permission.", "question.", "session.status", "session.idle", "session.error")
_CUT = ("responseHeaders", "path", "diff", "snapshot")
_CHOICES = [{"label": "A", "description": "the first"}, {"label": "B", "description": "the second"}]
_ASKED = [{"header": "One", "question": "Which one?", "options": _CHOICES}]
SCRIPTS = {
    "write": "USE_TOOL write made.txt hello",
    "question": f"USE_TOOL question {json.dumps({'questions': _ASKED})}",
}
_lines: list[tuple[str, Any]] = []


class RecordingServer(OpencodeServer):
    """The server with all that it tells, and what is asked of it."""

    async def read_line(self) -> bytes:
        line = await super().read_line()
        if line:
            event = json.loads(line)
            if str(event["type"]).startswith(_KEPT):
                _lines.append(("agent", _cut(event)))
        return line

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        _lines.append(("client", {"method": method, "path": path, "body": body}))
        return await super().request(method, path, body)


def _cut(value: Any) -> Any:
    match value:
        case dict():
            return {key: _cut(inner) for key, inner in value.items() if key not in _CUT}
        case list():
            return [_cut(inner) for inner in value]
        case _:
            return value


def record(folder: Path) -> list[tuple[str, Any]]:
    """Play the scenario with the real server."""
    driver.OpencodeServer = RecordingServer  # type: ignore[misc]
    with FakeModel() as model, HubProcess(folder / "hub") as hub:
        desk = agent("opencode", folder / "home", hub, model.url)
        desk = msgspec.structs.replace(desk, options={"attach": True})
        trial = DriverTrial(load_driver("opencode"), desk.opening, TrackingSpawner(ProcessSpawner()), FAKE_SCRIPT)
        asyncio.run(play(trial, SCRIPTS))
        clean = cleaner(desk, model.url)
    return [(who, clean(message)) for who, message in _lines]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="greenroom-") as made:
        lines = record(Path(made))
    texts = [json.dumps({who: message}, ensure_ascii=False) for who, message in lines]
    FIXTURE.write_text("\n".join(texts) + "\n")
    print(f"{len(lines)} messages")
