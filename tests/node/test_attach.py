"""People at agents' terminals, through the command line in a real terminal and through the hub's socket."""

import contextlib
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from greenroom.testing.timeouts import WAIT_S
from tests.far_node import FarNode
from tests.stage import Stage


class Tmux:
    """A person's terminal."""

    def __init__(self, folder: Path) -> None:
        self._socket = str(folder / "tmux.sock")
        self._run("new-session", "-d", "-x", "90", "-y", "25", "bash --norc")

    def _run(self, *words: str) -> str:
        command = ["tmux", "-f", "/dev/null", "-S", self._socket, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=WAIT_S).stdout

    def type(self, text: str) -> None:
        self._run("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        self._run("send-keys", *keys)

    def screen(self) -> str:
        return self._run("capture-pane", "-p")

    def resize(self, columns: int, rows: int) -> None:
        self._run("resize-window", "-x", str(columns), "-y", str(rows))

    def sees(self, text: str) -> str:
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            if text in (seen := self.screen()):
                return seen
            time.sleep(0.1)
        raise AssertionError(f"in vain looked for {text!r} in:\n{self.screen()}")

    def close(self) -> None:
        self._run("kill-server")


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    terminal = Tmux(tmp_path)
    yield terminal
    terminal.close()


def start(stage: Stage, name: str, command: list[str], **options: Any) -> str:
    """An agent that is a terminal program; returns its id."""
    definition = {"driver": "pty", "command": command, "options": {"prompt": "none", **options}}
    assert stage.api.put(f"/api/profiles/{name}", json=definition).status_code == 200
    run_id = stage.start("sit there", profile=name)
    stage.until(lambda: stage.run(run_id)["status"] == "running", "the run to begin")
    return str(stage.run(run_id)["agent_id"])


def attach(tmux: Tmux, stage: Stage, agent_id: str, *options: str, prefix: Sequence[str] = ()) -> None:
    words = [sys.executable, "-m", "greenroom", "agent", "attach", agent_id, "--data", str(stage.hub.data), *options]
    tmux.type(shlex.join([*prefix, *words]) + "\n")


class Looker:
    """A viewer of the socket."""

    def __init__(self, stage: Stage, agent_id: str, query: str = "", token: str | None = None) -> None:
        url = stage.hub.url.replace("http", "ws", 1) + f"/api/agents/{agent_id}/attach{query}"
        headers = {"Authorization": f"Bearer {token or stage.hub.token}"}
        self._stack = contextlib.ExitStack()
        self.link: ClientConnection = self._stack.enter_context(connect(url, additional_headers=headers, max_size=None))
        self.lines: dict[str, str] = {}
        self.seen: list[dict[str, Any]] = []

    def until(self, true: Any) -> dict[str, Any]:
        deadline = time.monotonic() + WAIT_S
        while True:
            frame: dict[str, Any] = json.loads(self.link.recv(timeout=max(0.1, deadline - time.monotonic())))
            if frame["op"] == "screen":
                self.lines = {**({} if frame["whole"] else self.lines), **frame["lines"]}
            self.seen.append(frame)
            if true(frame):
                return frame

    def sees(self, text: str) -> None:
        self.until(lambda _: any(text in row for row in self.lines.values()))

    def close(self) -> None:
        self._stack.close()

    def send(self, **frame: Any) -> None:
        self.link.send(json.dumps(frame))


@pytest.mark.anywhere
def test_a_person_attaches_types_resizes_leaves_and_the_terminal_is_as_before(stage: Stage, tmux: Tmux) -> None:
    agent_id = start(stage, "shell", ["bash", "--norc"])
    attach(tmux, stage, agent_id)
    tmux.sees("you type")
    tmux.type("echo $((40+2)) is it\n")
    tmux.sees("42 is it")
    tmux.resize(70, 18)
    tmux.type("clear; stty size\n")
    tmux.sees("17 70")
    tmux.press("C-b", "d")
    tmux.sees("You have left")
    tmux.type("echo back $((1+1))\n")
    tmux.sees("back 2")
    attach(tmux, stage, agent_id)
    tmux.sees("17 70")
    tmux.type("exit 0\n")
    tmux.sees("has ended (code 0)")


def test_vim_is_usable_through_attach(stage: Stage, tmux: Tmux, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    agent_id = start(stage, "vim", ["vim", "-u", "NONE", "-N", str(note)])
    attach(tmux, stage, agent_id)
    tmux.sees("~\n~\n~")
    tmux.type("ihello from afar")
    tmux.sees("hello from afar")
    tmux.press("Escape")
    tmux.type(":wq\n")
    tmux.sees("has ended")
    assert note.read_text() == "hello from afar\n"


def test_one_types_others_look_until_one_takes_over(stage: Stage) -> None:
    agent_id = start(stage, "cat", ["cat"])
    first, second = Looker(stage, agent_id), Looker(stage, agent_id)
    assert second.until(lambda frame: frame["op"] == "writer")["you"] is False
    second.send(op="keys", data="unheard\r")
    first.send(op="keys", data="from first\r")
    second.sees("from first")
    second.send(op="take")
    second.until(lambda frame: frame["op"] == "writer" and frame["you"])
    first.until(lambda frame: frame["op"] == "writer" and not frame["you"])
    second.send(op="keys", data="from second\r")
    first.sees("from second")
    late = Looker(stage, agent_id, "?read_only=1")
    late.sees("from first")
    assert not any("unheard" in row for row in late.lines.values())
    late.send(op="take")
    assert late.until(lambda frame: frame["op"] == "writer")["may_type"] is False
    for looker in (first, second, late):
        looker.close()


def test_an_agent_on_another_machine_is_sat_at_like_one_here(stage: Stage, tmp_path: Path) -> None:
    node = FarNode(stage, tmp_path, "far").start(stage.hub.url)
    try:
        node.wait_for("connected")
        definition = {"driver": "pty", "command": ["cat"], "node": "far", "options": {"prompt": "none"}}
        assert stage.api.put("/api/profiles/faraway", json=definition).status_code == 200
        run_id = stage.start("sit there", profile="faraway")
        stage.until(lambda: stage.run(run_id)["status"] == "running", "the run to begin")
        assert stage.run(run_id)["node_id"] == node.id
        looker = Looker(stage, str(stage.run(run_id)["agent_id"]))
        looker.send(op="keys", data="hello over there\r")
        looker.sees("hello over there")
        node.kill()
        looker.close()
        node.start(stage.hub.url)
        assert stage.end(run_id)["status"] == "interrupted"
    finally:
        node.stop()


def test_who_may_not_operate_only_looks_and_strangers_do_not_even_look(stage: Stage) -> None:
    agent_id = start(stage, "cat", ["cat"])
    made = stage.api.post("/api/credentials", json={"kind": "viewer", "name": "guest"}).json()
    guest = Looker(stage, agent_id, token=made["token"])
    assert guest.until(lambda frame: frame["op"] == "writer")["may_type"] is False
    guest.close()
    agent = stage.api.post("/api/agents/register", json={"ide": "x", "model": "y"}).json()
    for token, whose in ((agent["token"], agent_id), ("gr_wrong", agent_id), (stage.hub.token, "agt_nobody")):
        with pytest.raises(InvalidStatus):
            Looker(stage, whose, token=token)


def test_who_comes_before_the_agent_does_is_shown_what_there_is_once_it_is_there(stage: Stage, tmux: Tmux) -> None:
    definition = {"driver": "pty", "command": ["sh", "-c", "echo here I am; cat"], "options": {"prompt": "none"}}
    assert stage.api.put("/api/profiles/late", json=definition).status_code == 200
    run_id = stage.start("sit there", profile="late")
    looker = Looker(stage, str(stage.run(run_id)["agent_id"]), "?read_only=1")
    attach(tmux, stage, run_id)
    looker.sees("here I am")
    tmux.sees("here I am")
    tmux.sees("you type")
    assert not [frame for frame in looker.seen if frame["op"] == "none"]
    looker.close()
    for definition in ({"driver": "rehearsal"}, {"driver": "pty", "command": ["/nowhere/to/be/found"]}):
        assert stage.api.put("/api/profiles/plain", json=definition).status_code == 200
        run_id = stage.start("SLEEP 60", profile="plain")
        looker = Looker(stage, str(stage.run(run_id)["agent_id"]))
        looker.until(lambda frame: frame["op"] == "none")
        looker.close()


def test_an_agent_without_a_terminal_is_shown_by_its_words(stage: Stage, tmux: Tmux) -> None:
    run_id = stage.start("SAY a first word\nSLEEP 2\nSAY a last word")
    attach(tmux, stage, run_id)
    tmux.sees("has no terminal")
    tmux.sees("a first word")
    tmux.sees("a last word")


def test_a_viewer_that_does_not_read_a_flood_costs_little_and_slows_nobody(stage: Stage) -> None:
    noisy = start(stage, "noisy", ["yes", "a flood of words"])
    calm = start(stage, "cat", ["cat"])
    asleep, awake, other = Looker(stage, noisy), Looker(stage, noisy, "?read_only=1"), Looker(stage, calm)
    awake.sees("a flood of words")
    node = psutil.Process(int((stage.hub.data / "node" / "lock").read_text()))
    before = [psutil.Process(pid).memory_info().rss for pid in (stage.hub.pid, node.pid)]
    awake.until(lambda frame: frame["op"] == "screen" and frame["dropped_bytes"] > 20_000_000)
    other.send(op="keys", data="echo\r")
    other.sees("echo")
    assert stage.done("SAY unaffected")["output"] == "unaffected"
    after = [psutil.Process(pid).memory_info().rss for pid in (stage.hub.pid, node.pid)]
    assert all(now - then < 60_000_000 for then, now in zip(before, after, strict=True)), (before, after)
    asleep.sees("a flood of words")
    for looker in (asleep, awake, other):
        looker.close()


def test_viewers_see_on_when_the_hub_is_back(stage: Stage) -> None:
    agent_id = start(stage, "cat", ["cat"])
    looker = Looker(stage, agent_id)
    looker.send(op="keys", data="before\r")
    looker.sees("before")
    looker.close()
    stage.hub.stop()
    stage.hub.start()
    again = Looker(stage, agent_id)
    again.sees("before")
    again.close()


def test_logs_are_the_items_of_the_last_run(stage: Stage) -> None:
    run = stage.done("SAY to be read later")
    command = [sys.executable, "-m", "greenroom", "agent", "logs", run["agent_id"], "--data", str(stage.hub.data)]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, env=dict(os.environ), check=True)
    assert "to be read later" in shown.stdout
