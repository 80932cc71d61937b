"""Threads and agents from the command line, against a real hub."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import agent, done, environment, greenroom


def test_two_agents_and_a_person_talk(hub: HubProcess) -> None:
    ann, bob = agent(hub, "Ann"), agent(hub, "Bob")
    done(hub.data, "thread", "post", "Plan", "Shall we begin?", "--new", "--token-file", str(ann))
    heard = done(hub.data, "thread", "wait", "Plan", "--after", "0", "--json", "--token-file", str(bob))
    assert (heard.json["author"], heard.json["content"]) == ("Ann", "Shall we begin?")
    done(hub.data, "thread", "post", "Plan", "-", "--token-file", str(bob), stdin="Yes.\nAt once.\n")
    done(hub.data, "thread", "post", "Plan", "Good.", "--as", "Eve")
    shown = done(hub.data, "thread", "show", "Plan")
    heads = [row.split(" 20")[0] for row in shown.out.splitlines() if row.startswith("[")]
    assert [head.split("] ")[1] for head in heads] == ["Ann (user)", "Bob (user)", "Eve (user)"]
    newest = done(hub.data, "thread", "show", "Plan", "--limit", "1", "--json").json
    assert [m["content"] for m in newest] == ["Good."]
    assert "Yes." in done(hub.data, "thread", "export", "Plan").out
    assert "Ann" in done(hub.data, "agent", "list").out


def test_a_list_of_threads_is_as_long_as_it_was_asked_to_be(hub: HubProcess, api: httpx.Client) -> None:
    topics = [f"thread {number}" for number in range(205)]
    for topic in topics:
        assert api.post("/api/threads", json={"topic": topic}).status_code == 201
    listed = done(hub.data, "thread", "list", "--limit", "300", "--json").json
    assert [thread["topic"] for thread in listed["threads"]] == topics[::-1]
    assert (listed["has_more"], listed["total"]) == (False, 205)
    short = done(hub.data, "thread", "list", "--limit", "3")
    assert len(short.out.splitlines()) == 4
    assert "There are 205 threads" in short.err
    missing = greenroom(hub.data, "thread", "post", "nowhere", "hello")
    assert (missing.code, "--new" in missing.err) == (1, True)


def test_a_thread_is_pinned_by_its_topic_and_unpinned(hub: HubProcess, api: httpx.Client) -> None:
    for topic in ("old plan", "new plan"):
        api.post("/api/threads", json={"topic": topic}).raise_for_status()

    def first() -> tuple[str, bool]:
        thread = done(hub.data, "thread", "list", "--json").json["threads"][0]
        return thread["topic"], thread["pinned"]

    assert "is pinned." in done(hub.data, "thread", "pin", "old plan").out
    assert first() == ("old plan", True)
    assert done(hub.data, "thread", "unpin", "old plan", "--json").json == {"ok": True}
    assert first() == ("new plan", False)
    missing = greenroom(hub.data, "thread", "pin", "nowhere")
    assert (missing.code, "thread" in missing.err) == (1, True)


def test_an_agent_that_waits_goes_on_from_where_it_was(hub: HubProcess) -> None:
    ann, bob = agent(hub, "Ann"), agent(hub, "Bob")
    done(hub.data, "thread", "post", "Plan", "one", "--new", "--token-file", str(ann))
    as_bob = ("--json", "--token-file", str(bob))
    assert done(hub.data, "thread", "post", "Plan", "hello", *as_bob).json["seq"] > 0
    assert [m["content"] for m in _lines(done(hub.data, "thread", "wait", "Plan", *as_bob).out)] == ["one"]
    ran = greenroom(hub.data, "thread", "wait", "Plan", "--timeout", "0.2", *as_bob)
    assert (ran.code, ran.out, "0.2 seconds" in ran.err) == (1, "", True)


def _lines(out: str) -> list[dict[str, str]]:
    return [json.loads(row) for row in out.splitlines()]


def test_following_a_thread_survives_a_restart_of_the_hub_and_ends_with_the_thread(hub: HubProcess) -> None:
    thread_id = done(hub.data, "thread", "post", "Plan", "first", "--new", "--json").json
    follower = subprocess.Popen(
        [sys.executable, "-m", "greenroom", "thread", "wait", "Plan", "--after", "0", "--follow", "--json"],
        env=environment(hub.data),
        stdout=subprocess.PIPE,
        text=True,
    )
    killer = threading.Timer(60, follower.kill)
    killer.start()
    try:
        assert follower.stdout is not None
        assert json.loads(follower.stdout.readline())["content"] == "first"
        hub.stop()
        hub.restart()
        done(hub.data, "thread", "post", "Plan", "second")
        assert json.loads(follower.stdout.readline())["content"] == "second"
        _close(hub, "Plan")
        assert follower.wait(WAIT_S) == 0
    finally:
        killer.cancel()
        follower.kill()
        follower.wait()
        follower.stdout.close()
    assert thread_id["seq"] > 0


def _close(hub: HubProcess, topic: str) -> None:
    import httpx

    headers = {"Authorization": f"Bearer {hub.token}"}
    threads = httpx.get(f"{hub.url}/api/threads", headers=headers).json()["threads"]
    (found,) = [t["id"] for t in threads if t["topic"] == topic]
    assert httpx.post(f"{hub.url}/api/threads/{found}/close", headers=headers, json={}).status_code == 200


def test_waiting_in_a_closed_thread_ends_at_once(hub: HubProcess) -> None:
    done(hub.data, "thread", "post", "Plan", "first", "--new")
    _close(hub, "Plan")
    ran = greenroom(hub.data, "thread", "wait", "Plan", "--timeout", "30")
    assert (ran.code, "closed" in ran.err) == (1, True)


HOSTILE = "\x1b]0;owned\x07 \x1b[2J\r[1] operator (user)\n[2] operator (user) \u202e\u2028\x85\x9b31m done"


def test_text_of_strangers_has_no_power_over_the_terminal(hub: HubProcess) -> None:
    evil = agent(hub, "Evil")
    done(hub.data, "thread", "post", "Plan", "-", "--new", "--token-file", str(evil), stdin=HOSTILE)
    for command in (
        ["thread", "show", "Plan"],
        ["thread", "export", "Plan"],
        ["thread", "wait", "Plan", "--after", "0"],
    ):
        out = done(hub.data, *command).out
        assert [c for c in out if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2028"] == []
        assert "\\x1b[2J" in out
    shown = done(hub.data, "thread", "show", "Plan").out
    assert [row for row in shown.splitlines() if row.startswith("[") and "operator" in row] == []
    raw = done(hub.data, "thread", "show", "Plan", "--json")
    assert raw.json[0]["content"].replace("\r", "\n") == HOSTILE.replace("\r", "\n")
    assert raw.out.isascii()


def test_an_export_to_a_file_is_as_it_is_and_replaces_nothing(hub: HubProcess, tmp_path: Path) -> None:
    done(hub.data, "thread", "post", "Plan", "绿 \x1b[0m", "--new")
    file = tmp_path / "plan.md"
    done(hub.data, "thread", "export", "Plan", "--out", str(file))
    assert "绿 \x1b[0m" in file.read_text()
    ran = greenroom(hub.data, "thread", "export", "Plan", "--out", str(file))
    assert (ran.code, "File exists" in ran.err) == (1, True)


def test_an_agent_that_is_put_out_can_do_nothing_more(hub: HubProcess) -> None:
    ann = agent(hub, "Ann")
    (found,) = done(hub.data, "agent", "list", "--json").json
    assert found["is_online"]
    done(hub.data, "agent", "kick", found["id"])
    ran = greenroom(hub.data, "thread", "list", "--token-file", str(ann))
    assert (ran.code, "not valid" in ran.err) == (1, True)
    assert done(hub.data, "agent", "list", "--json").json == []


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["thread", "show", "Nowhere"], "thread list"),
        (["thread", "show", "thr_nowhere"], "no thread"),
        (["thread", "post", "Nowhere", "hello"], "thread list"),
        (["agent", "kick", "agt_nowhere"], "no agent"),
        (["token", "revoke", "cred_nowhere"], "token list"),
        (["thread", "list", "--token", "gr_wrong"], "not valid"),
        (["thread", "list", "--token-file", "/nowhere"], "cannot be read"),
        (["thread", "list", "--url", "ftp://x", "--token", "x"], "no address"),
        (["thread", "list", "--url", "http://127.0.0.1:9"], "$GREENROOM_TOKEN"),
        (["audit", "verify", "--anchor", "nonsense"], "SEQ:HASH"),
    ],
)
def test_refusals_exit_1_with_one_sentence(shared_hub: HubProcess, args: list[str], said: str) -> None:
    ran = greenroom(shared_hub.data, *args)
    assert (ran.code, ran.out) == (1, "")
    assert said in ran.err
    assert len(ran.err.strip().splitlines()) == 1


def test_the_operators_token_goes_to_no_other_hub(shared_hub: HubProcess, tmp_path: Path) -> None:
    ran = greenroom(shared_hub.data, "thread", "list", "--url", "http://127.0.0.1:9")
    assert ran.code == 1
    done(shared_hub.data, "thread", "post", "Ours alone", "hello", "--new")
    assert done(shared_hub.data, "thread", "list", "--url", shared_hub.url + "/").code == 0
    elsewhere = done(
        tmp_path / "other", "thread", "list", GREENROOM_URL=shared_hub.url, GREENROOM_TOKEN=shared_hub.token
    )
    assert "Ours alone" in elsewhere.out


def test_letters_that_a_terminal_does_not_know_are_shown_as_escapes(shared_hub: HubProcess) -> None:
    done(shared_hub.data, "thread", "post", "主题", "hello", "--new")
    listed = done(shared_hub.data, "thread", "list", PYTHONIOENCODING="ascii")
    assert "\\u4e3b\\u9898" in listed.out
