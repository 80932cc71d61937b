"""ACP agents on trial: where each is installed, how it is put on the scripted model, and a desk to work at."""

import os
from pathlib import Path
from typing import Any

import httpx
import msgspec

from greenroom.runtimes.contract import SessionOptions
from greenroom.runtimes.driver_list import DRIVER_INFOS
from greenroom.runtimes.scripted_model import write_model_wiring
from greenroom.testing.hub_process import HubProcess
from tests import ROOT

CLIS = ROOT / ".clis"
MORE = CLIS / "more"
"""Agents that are only tried by `make test-clis`."""
QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "NO_UPDATE_NOTIFIER": "1",
}


class Desk(msgspec.Struct, frozen=True, kw_only=True):
    """Where one agent lives during a test: a home, a working directory, and its credential for the hub."""

    home: Path
    hub_url: str
    token: str
    command: list[str] = []
    env: dict[str, str] = {}
    model: str | None = None
    instructions: str | None = None
    may_spawn: bool = True
    options: dict[str, Any] = {}

    @property
    def directory(self) -> Path:
        return self.home / "desk"

    def opening(self, resume: str | None = None) -> SessionOptions:
        """As a node would make it: the private folder is new each time, the rest stays."""
        scratch = self.home / "scratch"
        for folder in (self.directory, scratch):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        token_file = scratch / "token"
        token_file.write_text(self.token)
        path = os.pathsep.join([*(str(Path(part).parent) for part in self.command[:1]), os.environ["PATH"]])
        return SessionOptions(
            command=self.command,
            directory=self.directory,
            scratch=scratch,
            env={**QUIET, "PATH": path, "HOME": str(self.home), **self.env},
            hub_url=f"{self.hub_url}/mcp",
            token_file=token_file,
            model=self.model,
            instructions=self.instructions,
            resume=resume,
            may_spawn=self.may_spawn,
            options=self.options,
        )


def make_token(hub: HubProcess, name: str) -> str:
    """The credential of an agent of its own."""
    wanted = {"ide": name, "model": "fake"}
    headers = {"Authorization": f"Bearer {hub.token}"}
    answer = httpx.post(f"{hub.url}/api/agents/register", json=wanted, headers=headers)
    return str(answer.raise_for_status().json()["token"])


def rehearsal(home: Path, hub: HubProcess) -> Desk:
    """The scripted agent."""
    env = {"GREENROOM_REHEARSAL_STATE": str(home / "state")}
    return Desk(home=home, hub_url=hub.url, token=make_token(hub, "rehearsal"), env=env)


_BIN = MORE / "node_modules/.bin"
COMMANDS: dict[str, list[str]] = {
    name: [str(_BIN / driver.manifest.command[0]), *driver.manifest.command[1:]]
    for name, driver in DRIVER_INFOS.items()
    if driver.manifest is not None and driver.manifest.libraries is None
} | {
    # The programs themselves, without a wrapper in JavaScript.
    "copilot": [str(CLIS / "node_modules/@github/copilot-linux-x64/copilot"), "--acp"],
    "opencode": [str(MORE / "node_modules/opencode-linux-x64/bin/opencode"), "acp"],
}
"""Every ACP agent that Greenroom knows and does not bring along, where `make test-clis` installs it."""
CACHE = {"copilot": {"XDG_CACHE_HOME": str(CLIS / "cache")}}
"""Copilot unpacks 235 MB there, once."""


def agent(name: str, home: Path, hub: HubProcess, model_url: str) -> Desk:
    """A real agent on the scripted model."""
    wiring = write_model_wiring(name, home, model_url)
    assert wiring is not None
    env = {**wiring.env, **CACHE.get(name, {})}
    token = make_token(hub, name)
    return Desk(home=home, hub_url=hub.url, token=token, command=COMMANDS[name], env=env, model=wiring.model)
