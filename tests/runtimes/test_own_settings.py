"""Settings that a project brings along: they may narrow what real agents do, and never spare them the asking."""

import asyncio
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.agents import AGENTS
from greenroom.runtimes.agents.claude.own_rules import has_own_rules
from greenroom.runtimes.conformance_trial import DriverTrial
from greenroom.runtimes.contract import PermissionAsked
from greenroom.runtimes.driver_list import load_driver
from greenroom.runtimes.scripted_model import choose_script
from greenroom.runtimes.spawn_tracker import TrackingSpawner
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.runtimes import native_rig
from tests.runtimes.acp_rig import Desk
from tests.runtimes.test_acp_agents import make_desk

pytestmark = pytest.mark.anyio
CLAUDE = {
    ".claude/settings.json": {"permissions": {"allow": ["Bash", "Bash(*)"], "defaultMode": "acceptEdits"}},
    ".claude/settings.local.json": {"permissions": {"allow": ["Bash(touch:*)"]}},
}
CODEX = {".codex/config.toml": 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n'}
FREE = {
    "tools": {"allowed": ["run_shell_command"], "approvalMode": "yolo"},
    "general": {"defaultApprovalMode": "yolo"},
    "permissions": {"allow": ["run_shell_command", "Bash(touch *)"]},
}
OPENCODE = {
    "its agent": {"agent": {"build": {"permission": {"bash": "allow"}}}},
    "an agent of its own": {
        "agent": {"free": {"mode": "primary", "permission": {"bash": "allow"}}},
        "default_agent": "free",
    },
    "a rule behind the others": {"permission": {"*": "allow", "bash": {"*": "allow"}, "*sh": "allow"}},
}


def cases() -> Iterator[Any]:
    yield pytest.param("claude", CLAUDE, id="claude")
    yield pytest.param("codex", CODEX, id="codex")
    yield pytest.param("claude-agent-acp", CLAUDE, id="claude-agent-acp", marks=pytest.mark.clis)
    for agent in AGENTS:
        file = agent.mcp_config.file if agent.mcp_config else ""
        if agent.drivers and file.endswith("/settings.json"):  # a folder's own has the same name as a person's
            yield pytest.param(agent.name, {file: FREE}, id=agent.name, marks=pytest.mark.clis)
    for name, settings in OPENCODE.items():
        files = {"opencode.json": settings}
        yield pytest.param("opencode", files, id=f"opencode, {name}", marks=pytest.mark.clis)


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


def furnished(name: str, home: Path, hub: HubProcess, model: FakeModel, files: dict[str, Any]) -> Desk:
    native = name in native_rig.PROGRAMS
    desk = native_rig.make_desk(name, home, model.url, hub) if native else make_desk(name, home, hub, model)
    for file, told in files.items():
        path = desk.directory / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(told if isinstance(told, str) else json.dumps(told))
    return desk


@pytest.mark.parametrize(
    ("told", "spares"),
    [
        (None, False),
        ('{"permissions": {"deny": ["WebFetch"], "ask": ["Bash"]}, "model": "opus"}', False),
        ('{"permissions": {"allow": ["Bash(git:*)"]}}', True),
        ('{"permissions": {"additionalDirectories": ["/"]}}', True),
        ('{"hooks": {}}', True),
        ('{"permissions": "all"}', True),
        ("[]", True),
        ("no JSON", True),
    ],
)
def test_a_folder_above_counts_and_a_persons_home_does_not(tmp_path: Path, told: str | None, spares: bool) -> None:
    folder = tmp_path / "project" / "part"
    folder.mkdir(parents=True)
    if told is not None:
        (tmp_path / "project" / ".claude").mkdir()
        (tmp_path / "project" / ".claude" / "settings.local.json").write_text(told)
    assert has_own_rules(folder, "") is spares
    assert not has_own_rules(folder, str(tmp_path / "project"))


@pytest.mark.parametrize(("name", "files"), list(cases()))
async def test_ap_21_what_a_projects_files_allow_is_asked_all_the_same(
    name: str, files: dict[str, Any], tmp_path: Path, shared_hub: HubProcess, model: FakeModel, spawner: ProcessSpawner
) -> None:
    desk = furnished(name, tmp_path / "home", shared_hub, model, files)
    trial = DriverTrial(
        load_driver(name), partial(native_rig.make_opening, desk), TrackingSpawner(spawner), choose_script(name)
    )
    asked: list[PermissionAsked] = []

    async def refuse(wanted: PermissionAsked) -> None:
        asked.append(wanted)
        await trial.session.decide(wanted.permission, "deny", text="not now")

    async with asyncio.timeout(WAIT_S):
        await trial.open()
        try:
            await trial.run_turn("USE_TOOL bash touch ran\nSAY done", refuse)
        finally:
            await trial.close()
    assert len(asked) == 1
    assert "touch ran" in str(asked[0].input)
    assert not (desk.directory / "ran").exists()
