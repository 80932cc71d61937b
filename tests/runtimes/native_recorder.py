"""Records what Claude Code and Codex say, for the tests of the translation: `python -m tests.runtimes.native_recorder`.

Paths, addresses and secrets of the machine are replaced, and what no driver reads is cut.
"""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from greenroom.runtimes.conformance_trial import DriverTrial
from greenroom.runtimes.contract import PermissionAsked, QuestionAsked, TurnEnded
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.model_script import FAKE_SCRIPT
from greenroom.runtimes.spawn_tracker import TrackingSpawner
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from tests.runtimes.acp_recorder import RecordingSpawner, cleaner, get_fixture
from tests.runtimes.native_rig import PROGRAMS, make_desk

_CHOICES = [{"label": "A", "description": "the first"}, {"label": "B", "description": "the second"}]
_ASKED = [
    {"id": "one", "header": "One", "question": "Which one?", "options": _CHOICES, "multiSelect": False},
    {"id": "two", "header": "Two", "question": "Which other?", "options": _CHOICES, "multiSelect": True},
]
_PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: made.txt\n+hello\n*** End Patch\nEOF\n"
SCRIPTS = {
    "claude": {
        "question": f"USE_TOOL AskUserQuestion {json.dumps({'questions': _ASKED})}",
        "write": "USE_TOOL write made.txt hello",
    },
    "codex": {
        "question": f"USE_TOOL request_user_input {json.dumps({'questions': _ASKED})}",
        "write": f"FORCE_TOOL exec_command {json.dumps({'cmd': _PATCH})}",
        "helper": 'USE_TOOL spawn_agent {"message": "USE_TOOL bash touch helped\\nSAY helped"}\n'
        'USE_TOOL wait_agent {"targets": ["{{agent_id}}"], "timeout_ms": 10000}',
    },
}
"""What each is made to do besides: ask its person, write a file, and have a helper."""
OPTIONS = {"claude": {}, "codex": {"config": {"features.default_mode_request_user_input": True}}}
_CUT = ("commands", "models", "tools", "slash_commands", "terminal_slash_commands", "agents", "skills", "plugins")
_CUT += ("output_styles", "available_output_styles", "account", "subagent_stats", "userAgent", "tool_description")
_CUT += ("user_message_uuid", "user_message_uuids", "api_message_id", "emittedAtMs", "permission_suggestions")
_DROPPED = ("remoteControl/status/changed", "configWarning", "account/rateLimits/updated", "warning")
_DROPPED += ("thread/readState/changed", "thread/status/changed", "mcpServer/startupStatus/updated")


async def play(trial: DriverTrial, scripts: dict[str, str]) -> None:
    """What both fixtures hold, in this order, and then what each has for itself."""

    async def refuse(permission: PermissionAsked) -> None:
        await trial.session.decide(permission.permission, "deny")

    async def cancel(permission: PermissionAsked) -> None:
        await trial.session.cancel()

    await trial.open()
    await trial.run_turn(trial.build_say_prompt("hello there"))
    await trial.run_turn(trial.script.hub_tool.replace("TEXT", "called"))
    await trial.run_turn(trial.build_touch_prompt("allowed", "did it")[0])
    await trial.run_turn(trial.build_touch_prompt("refused", "went on")[0], refuse)
    await trial.run_turn(trial.build_touch_prompt("withdrawn", "not said")[0], cancel)
    await trial.session.prompt(trial.script.slow)
    await trial.wait_until_said()
    await trial.session.cancel()
    await trial.finish_turn()
    await trial.run_turn(scripts["write"], refuse)
    await trial.session.prompt(scripts["question"])
    while not isinstance(heard := await trial.read_next(), TurnEnded):
        if isinstance(heard, QuestionAsked):
            await trial.session.decide(heard.permission, "allow", text="B")
    if "helper" in scripts:
        await trial.run_turn(scripts["helper"])
    await trial.run_turn("ERROR 400")
    await trial.close()


def record(name: str, folder: Path) -> list[tuple[str, Any]]:
    """Play the scenario with the real CLI."""
    spawner = RecordingSpawner()
    with FakeModel() as model, HubProcess(folder / "hub") as hub:
        desk = make_desk(name, folder / "home", model.url, hub)
        desk = msgspec.structs.replace(desk, options=OPTIONS[name])
        asyncio.run(
            play(DriverTrial(load_driver(name), desk.opening, TrackingSpawner(spawner), FAKE_SCRIPT), SCRIPTS[name])
        )
        clean = cleaner(desk, model.url)
    lines = [(who, message) for who, message in spawner.lines if not _is_dropped(message)]
    return [(who, clean(_cut(message))) for who, message in lines]


def _is_dropped(message: Any) -> bool:
    return message.get("method") in _DROPPED or message.get("type") == "system"


def _cut(value: Any) -> Any:
    """Without the vendor's own long lists."""
    match value:
        case dict():
            return {key: _cut(inner) for key, inner in value.items() if key not in _CUT}
        case list():
            return [_cut(inner) for inner in value]
        case _:
            return value


if __name__ == "__main__":
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory(prefix="greenroom-") as made:
            lines = record(name, Path(made))
        texts = [json.dumps({who: message}, ensure_ascii=False) for who, message in lines]
        get_fixture(name).write_text("\n".join(texts) + "\n")
        print(f"{name}: {len(lines)} messages")
