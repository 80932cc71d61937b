"""`greenroom ask` and `greenroom watch`, as a person uses them."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from greenroom.testing.timeouts import WAIT_S
from tests.rules.asks.desk import Desk


def ask(desk: Desk, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "greenroom", "ask", *words, "--data", str(desk.hub.data)]
    return subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)


def test_a_question_is_listed_shown_put_off_and_answered(desk: Desk, tmp_path: Path) -> None:
    asked = desk.ask("Which\x1b[31m colour?", text="red or blue")
    listed = ask(desk, "list").stdout
    assert asked["id"] in listed
    assert "\x1b" not in listed
    assert "red or blue" in ask(desk, "show", asked["id"]).stdout
    assert ask(desk, "snooze", asked["id"], "--for", "10m").returncode == 0
    assert desk.show(asked["id"])["snoozed_until"] > 0
    sketch = tmp_path / "sketch.png"
    sketch.write_bytes(b"pixels")
    done = ask(desk, "answer", asked["id"], "--text", "blue", "--file", str(sketch))
    assert done.returncode == 0, done.stderr
    answer = desk.show(asked["id"])["answer"]
    assert (answer["text"], answer["contents"][0]["mime"]) == ("blue", "image/png")
    late = ask(desk, "answer", asked["id"], "--text", "red")
    assert late.returncode == 1
    assert "operator answered this already" in late.stderr


def test_words_that_are_no_json_and_times_that_are_none_are_refused_with_a_sentence(desk: Desk) -> None:
    gate = desk.gate()
    assert "is not JSON" in ask(desk, "approve", gate["id"], "--arguments", "{").stderr
    assert "is no time" in ask(desk, "snooze", gate["id"], "--for", "soon").stderr


def test_delegating_and_withdrawing_are_confirmed_beside_the_answer(desk: Desk) -> None:
    id = desk.ask("Which colour?")["id"]
    for words, said in (
        (("delegate", id, "--to", "room:ops"), "handed to room:ops"),
        (("delegate", id, "--to", ""), "taken back"),
        (("withdraw", id), "taken back"),
    ):
        ran = ask(desk, *words)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", f"{id}: {said}\n")


def test_whoever_watches_is_rung_for_what_is_new_and_told_who_answered(desk: Desk, tmp_path: Path) -> None:
    bell = tmp_path / "notify-send"
    bell.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/rung\n')
    bell.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "greenroom", "watch", "--json", "--data", str(desk.hub.data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as watching:
        try:
            assert watching.stdout is not None
            first = desk.ask("before")
            seen: list[tuple[str, str]] = []
            new = None
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                told = json.loads(watching.stdout.readline())
                seen.append((told["id"], told["state"]))
                if told["id"] == first["id"] and new is None:
                    new = desk.ask("a new one")
                if new is not None and told["id"] == new["id"] and told["state"] == "open":
                    desk.answer(new["id"], text="seen")
                if new is not None and (new["id"], "answered") in seen:
                    break
            assert new is not None
            assert (new["id"], "open") in seen
            assert "a new one" in (tmp_path / "rung").read_text()
        finally:
            watching.terminate()
