"""How the hub is, its page in a browser, and its end: of this data directory's hub and of nothing else."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import psutil
import pytest

from greenroom.testing.browser_login import log_in
from greenroom.testing.hub_process import HubProcess
from tests.cli.shell import done, greenroom, refuse
from tests.stage import Stage


def test_the_status_tells_what_is_going_on(stage: Stage) -> None:
    run_id = stage.start("ASK which port?")
    stage.asked()
    found = done(stage.hub.data, "status", "--json").json
    assert (found["running"], found["url"], found["pid"]) == (True, stage.hub.url, stage.hub.pid)
    assert (found["active_runs"], found["open_asks"]) == (1, 1)
    assert found["nodes"] == {"connected": 1, "total": 1}
    assert found["disk"]["used_bytes"] > 0
    shown = done(stage.hub.data, "status").out
    assert f"running at {stage.hub.url}" in shown
    assert "1 active (1 waiting)" in shown
    assert "1 waiting for an answer" in shown
    assert re.search(r"disk    [\d.]+ [KM]iB used in .*, [\d.]+ [MGT]iB free", shown), shown
    stage.tidy()
    stage.end(run_id)


def test_without_a_hub_the_status_says_so(tmp_path: Path) -> None:
    ran = greenroom(tmp_path / "data", "status")
    assert (ran.code, "greenroom serve" in ran.err) == (3, True)
    ran = greenroom(tmp_path / "data", "status", "--json")
    assert (ran.code, ran.json["running"]) == (3, False)


def test_the_page_is_opened_logged_in(hub: HubProcess, tmp_path: Path) -> None:
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}\n')
    browser.chmod(0o700)
    done(hub.data, "open", BROWSER=str(browser))
    link = seen.read_text().strip()
    assert link.startswith(f"{hub.url}/login?code=")
    with httpx.Client(base_url=hub.url, follow_redirects=False) as page:
        log_in(page, link.partition("code=")[2])
        assert page.get("/api/me").json()["kind"] == "operator"


def test_where_there_is_no_browser_the_address_is_printed(hub: HubProcess, tmp_path: Path) -> None:
    ran = done(hub.data, "open", PATH=str(tmp_path))
    assert ran.out.startswith(f"{hub.url}/login?code=")
    assert "works once" in ran.err
    assert done(hub.data, "open", "--print").out.startswith(f"{hub.url}/login?code=")


def test_the_hub_is_stopped_and_its_agents_go_on(stage: Stage) -> None:
    stage.start("SLEEP 300")
    stage.until(lambda: stage.api.get("/api/runs").json()[0]["status"] == "running", "the run to begin")
    hub = stage.hub
    ran = done(hub.data, "stop")
    assert f"The hub is stopped (process {hub.pid})." in ran.out
    assert "1 active run continues under the node" in ran.out
    assert not (hub.data / "hub.json").exists()
    assert hub.wait() == 0
    node = int((hub.data / "node" / "lock").read_text())
    assert psutil.pid_exists(node)
    again = greenroom(hub.data, "stop")
    assert (again.code, "No hub is running" in again.err) == (3, True)
    ended = done(hub.data, "stop", "--agents")
    assert "agents have ended" in ended.out
    assert not psutil.pid_exists(node) or psutil.Process(node).status() == psutil.STATUS_ZOMBIE


def test_a_hub_that_does_not_end_in_time_is_said_to_be_stopping(
    hub: HubProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.kill(hub.pid, signal.SIGSTOP)
    (hub.data / "hub.json").write_text(json.dumps({"url": "http://127.0.0.1:9", "pid": hub.pid}))
    assert refuse(hub.data, monkeypatch, ["stop", "--timeout", "0"]) == "still_stopping"
    os.kill(hub.pid, signal.SIGCONT)
    assert hub.wait() == 0


def test_a_process_that_has_the_number_of_a_hub_that_was_killed_is_left_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "lock").touch()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as innocent:
        (data / "hub.json").write_text(json.dumps({"url": "http://127.0.0.1:9", "pid": innocent.pid}))
        for pid in (innocent.pid, os.getpid(), 1):
            (data / "hub.json").write_text(json.dumps({"url": "http://127.0.0.1:9", "pid": pid}))
            ran = greenroom(data, "stop")
            assert (ran.code, "No hub is running" in ran.err) == (3, True)
        assert innocent.poll() is None
        innocent.kill()


@pytest.mark.parametrize("verb", ["dag", "workflow"])
def test_workflow_is_another_word_for_dag(hub: HubProcess, verb: str) -> None:
    assert done(hub.data, verb, "list", "--json").json == []
