"""A node as on another machine: a data directory and a credential of its own, dialling a hub by its address."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from greenroom.testing.timeouts import WAIT_S
from tests.stage import Stage


class FarNode:
    """`greenroom node --join`, started and killed at will."""

    def __init__(self, stage: Stage, folder: Path, name: str, *args: str, prefix: Sequence[str] = ()) -> None:
        joined = stage.api.post("/api/nodes", json={"name": name})
        assert joined.status_code == 201, joined.text
        self.stage = stage
        self.name = name
        self.id = str(joined.json()["node_id"])
        self.pin = joined.json()["pin"]
        self.data = folder / name
        self.data.mkdir(parents=True)
        self.token_file = self.data / "node.token"
        self.token_file.write_text(joined.json()["token"])
        self.args = args
        self.prefix = prefix
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *urls: str) -> "FarNode":
        command = [sys.executable, "-m", "greenroom", "node", "--token-file", str(self.token_file)]
        for url in urls:
            command += ["--join", url]
        inherited = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        with (self.data / "node.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, *command, "--data", str(self.data), *self.args],
                env={"HOME": str(self.data), **inherited},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self

    @property
    def log(self) -> str:
        return (self.data / "node.log").read_text()

    @property
    def state(self) -> str:
        nodes = self.stage.api.get("/api/nodes").json()
        return str(next(node.get("state", "new") for node in nodes if node["id"] == self.id))

    def wait_for(self, state: str) -> None:
        self.stage.until(lambda: self.state == state, f"{self.name} to be {state}; it says: {self.log}")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(WAIT_S)

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(WAIT_S)
