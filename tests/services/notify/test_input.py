"""Remote input: which program types, and what another device of the same person sends."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from greenroom.cli.remote_input import build_typing_command, need_typing_program
from greenroom.errors import Refused
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.machine_requirements import need_program
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import greenroom
from tests.doors.compat.assist.rig import room_token
from tests.screen import open_screen


def recorder(folder: Path, *names: str) -> Path:
    """Programs of these names that write down how they were called and what they were fed."""
    for name in names:
        program = folder / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "{name} $*" >> "{folder}/calls"\ncat >> "{folder}/calls"\n')
        program.chmod(0o755)
    return folder / "calls"


@pytest.mark.parametrize(
    ("env", "system", "there", "chosen"),
    [
        ({"DISPLAY": ":0"}, "Linux", ["xdotool", "ydotool"], "xdotool"),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "w"}, "Linux", ["xdotool", "wtype"], "wtype"),
        ({"WAYLAND_DISPLAY": "w"}, "Linux", ["ydotool"], "ydotool"),
        ({}, "Darwin", ["osascript"], "osascript"),
        ({}, "Windows", ["powershell"], "powershell"),
    ],
)
def test_the_program_that_fits_the_desktop_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, env: dict[str, str], system: str, there: list[str], chosen: str
) -> None:
    recorder(tmp_path, *there)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert need_typing_program(env, system) == chosen
    argv, fed = build_typing_command(chosen, "--help; rm -rf /")
    assert fed == "--help; rm -rf /" or argv[-2:] == ["--", "--help; rm -rf /"]


def test_where_nothing_can_type_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for env, code in (({}, "no_desktop"), ({"DISPLAY": ":0"}, "no_typist")):
        with pytest.raises(Refused) as no:
            need_typing_program(env, "Linux")
        assert no.value.code == code


@pytest.mark.parametrize("how", ["plain", "base64"])
def test_a_text_is_typed_by_the_program_on_the_path(tmp_path: Path, how: str) -> None:
    calls = recorder(tmp_path, "xdotool")
    text = "git commit -m 'Grün'"
    given = [text] if how == "plain" else ["--base64", base64.b64encode(text.encode()).decode()]
    env = {"DISPLAY": ":9", "WAYLAND_DISPLAY": "", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    ran = subprocess.run(
        [sys.executable, "-m", "greenroom", "input", *given], env={**os.environ, **env}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert calls.read_text() == f"xdotool type --clearmodifiers --file -\n{text}"


def test_what_another_device_of_the_same_person_sends_is_typed(hub: HubProcess, tmp_path: Path) -> None:
    calls = recorder(tmp_path, "xdotool")
    token = room_token(hub, "kitchen")
    env = {**os.environ, "DISPLAY": ":9", "WAYLAND_DISPLAY": "", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    argv = [sys.executable, "-m", "greenroom", "input", "--follow", "--url", hub.url, "--token", token, "--json"]
    ran = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert ran.stdout is not None and ran.stderr is not None
        code = json.loads(ran.stdout.readline())["code"]
        assert len(code) == 8

        def send(who: str, **body: str) -> int:
            headers = {"Authorization": f"Bearer {who}"}
            answer = httpx.post(f"{hub.url}/api/input", json={"text": "from the phone", **body}, headers=headers)
            return int(answer.json()["delivered"])

        assert send(hub.token) == 0, "another person's device types nothing"
        assert send(hub.token, code="00000000") == 0
        assert send(token) == 1
        assert ran.stderr.readline() == "typed 14 characters\n"
        assert send(hub.token, code=code) == 1, "the code shown on it lets another login of the person in"
        assert ran.stderr.readline() == "typed 14 characters\n"
    finally:
        ran.send_signal(2)
        ran.communicate(timeout=WAIT_S)
    assert calls.read_text().count("from the phone") == 2
    assert httpx.get(f"{hub.url}/api/input/receivers", headers={"Authorization": f"Bearer {token}"}).json() == []


def test_agents_send_and_receive_nothing(hub: HubProcess) -> None:
    agent = greenroom(hub.data, "token", "create", "--name", "a").out.strip()
    headers = {"Authorization": f"Bearer {agent}"}
    assert httpx.post(f"{hub.url}/api/input", json={"text": "x"}, headers=headers).status_code == 403
    assert httpx.post(f"{hub.url}/api/input/receivers", json={}, headers=headers).status_code == 403


def test_a_real_window_gets_the_text(tmp_path: Path) -> None:
    out = tmp_path / "typed"
    with open_screen("400x300x8") as display:
        window = [need_program("xterm"), "-e", "sh", "-c", f"read line; printf %s \"$line\" > '{out}'"]
        env = {**os.environ, "DISPLAY": display, "WAYLAND_DISPLAY": ""}
        shown = subprocess.Popen(window, env=env)
        subprocess.run(
            ["xdotool", "search", "--sync", "--class", "xterm", "windowfocus"], env=env, check=True, timeout=WAIT_S
        )
        subprocess.run([sys.executable, "-m", "greenroom", "input", "hello\n"], env=env, check=True, timeout=WAIT_S)
        shown.wait(WAIT_S)
    assert out.read_text() == "hello"
