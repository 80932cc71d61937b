"""A hub whose node finds the five real CLIs, and profiles of them on the scripted model."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from greenroom.runtimes.scripted_model import write_model_wiring
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.clis.five import NATIVE
from tests.conftest import checked, end_node
from tests.runtimes.acp_rig import CACHE, CLIS, COMMANDS, MORE
from tests.runtimes.native_rig import PROGRAMS
from tests.stage import Stage

FOUND = {**{name: [str(path)] for name, path in PROGRAMS.items()}, **COMMANDS}


def run_stage(folder: Path) -> Iterator[Stage]:
    """The hub, checked on the way out, and no node of it left."""
    path = os.pathsep.join([*(str(Path(command[0]).parent) for command in FOUND.values()), os.environ["PATH"]])
    hub = HubProcess(folder / "data", env={"GREENROOM_LOCAL_NODE": "1", "PATH": path})
    try:
        for running in checked(hub):
            with Stage(running) as stage:
                yield stage
    finally:
        end_node(hub.data)


def install(
    stage: Stage, name: str, home: Path, model: FakeModel, args: Sequence[str] = (), env: Mapping[str, str] = {}
) -> None:
    """A profile of a CLI, named after it, if it is installed; outside CI the test is skipped otherwise."""
    if not ((CLIS if name in (*NATIVE, "copilot") else MORE) / "ready").exists():
        pytest.fail(f"{name} is not installed") if os.environ.get("CI") else pytest.skip("run `make test-clis`")
    wiring = write_model_wiring(name, home, model.url)
    assert wiring is not None
    whole = {**wiring.env, **CACHE.get(name, {}), "HOME": str(home), **env}
    profile = {"driver": name, "command": [*FOUND[name], *args], "env": whole, "model": wiring.model}
    stage.profile(name, **profile, start_timeout_s=int(WAIT_S))
    nodes = stage.api.get
    stage.until(lambda: name in nodes("/api/nodes").json()[0].get("drivers", {}), f"{name} to be found")
