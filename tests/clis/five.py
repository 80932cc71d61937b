"""Five agent CLIs, each at a desk of its own on the scripted model."""

import os
from pathlib import Path

import pytest

from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from tests.runtimes import native_rig
from tests.runtimes.acp_rig import MORE, Desk, agent

FIVE = ("claude", "codex", "copilot", "opencode", "gemini")
NATIVE = ("claude", "codex")


def make_desk(name: str, home: Path, hub: HubProcess, model: FakeModel) -> Desk:
    """A desk, if the CLI is installed; outside CI the test is skipped otherwise."""
    if name in NATIVE:
        return native_rig.make_desk(name, home, model.url, hub)
    if not (MORE / "ready").exists():
        if os.environ.get("CI"):
            pytest.fail(f"{name} is not installed")
        pytest.skip(f"{name} is not installed: run `make test-clis`")
    return agent(name, home, hub, model.url)
