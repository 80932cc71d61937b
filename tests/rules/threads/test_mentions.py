"""Naming somebody in a thread: by any name that others see, members first; and who is not reached is told at once."""

import subprocess
import sys
from typing import Any

import pytest

from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import environment
from tests.journeys.mcp_clients import connected
from tests.rules.agents.test_invite import ready, thread_of
from tests.services.test_waker import invited, outsider, over, runs_of
from tests.stage import Stage

pytestmark = pytest.mark.one_stage


def unreached(stage: Stage, thread: str, content: str, **fields: Any) -> dict[str, str]:
    """Whom a message does not reach, each with the reason."""
    made = stage.api.post(f"/api/threads/{thread}/messages", json={"content": content, **fields})
    assert made.status_code == 201, made.text
    return {one["name"]: one["why"] for one in made.json()["unreached"]}


@pytest.mark.parametrize("way", ["id", "name", "display name", "profile", "in a list", "without a space in Chinese"])
def test_an_agent_is_woken_by_any_of_its_names(stage: Stage, way: str) -> None:
    ready(stage)
    profile = f"by-{way.replace(' ', '-').lower()}"
    shown = f"Big Lamp {way}"
    stage.profile(profile, display_name=shown)
    thread = thread_of(stage, f"named by {way}")
    agent = invited(stage, thread, "SAY here", profile)["agent_id"]
    word = {"id": agent, "name": shown, "display name": shown.lower(), "profile": profile}.get(way, shown)
    content = {"in a list": "look", "without a space in Chinese": f"你好@{shown}你在吗"}.get(
        way, f"Hello @{word}, look"
    )
    assert unreached(stage, thread, content, mentions=[shown] if way == "in a list" else []) == {}
    assert [run["agent_id"] for run in over(stage, profile, 2)] == [agent, agent]


def test_a_member_of_the_thread_is_meant_before_its_namesake_elsewhere(stage: Stage) -> None:
    ready(stage)
    stage.profile("twin", display_name="Twin")
    elsewhere = invited(stage, thread_of(stage, "first of two"), "SAY here", "twin")["agent_id"]
    thread = thread_of(stage, "second of two")
    own = invited(stage, thread, "SAY here", "twin")["agent_id"]
    assert elsewhere != own
    assert unreached(stage, thread, "@Twin come") == {}
    assert over(stage, "twin", 3)[-1]["agent_id"] == own


def test_who_is_not_reached_is_told_with_the_reason(stage: Stage) -> None:
    ready(stage)
    stage.profile("lamp", display_name="Lamp")
    stage.profile("off", enabled=False)
    stage.profile("nowhere", driver="command", command=["true"], labels=["moon"])
    thread = thread_of(stage, "reasons")
    gone = invited(stage, thread, "SAY here", "lamp")["agent_id"]
    stage.api.post(f"/api/agents/{gone}/kick", json={})
    there = outsider(stage, display_name="Wanderer")
    stage.api.post(f"/api/threads/{thread}/messages", json={"content": "hello"}, headers=there)
    stage.api.post("/api/agents/register", json={"ide": "Else", "model": "M", "display_name": "Elsewhere"})
    words = "@lmap @Lamp @rehearsal @nowhere @Elsewhere @Wanderer @human @operator and mail@light.example @types/node"
    assert unreached(stage, thread, f"{words}\n```\n@property\n```\n`@inline`") == {
        "lmap": "Nobody is called 'lmap' here; did you mean 'Lamp'?",
        "Lamp": "'Lamp' has left the hub.",
        "rehearsal": "'rehearsal' is not in this thread: invite it.",
        "nowhere": "'nowhere' is not in this thread, and no node has what its profile needs.",
        "Elsewhere": "'Elsewhere' is not in this thread: invite it.",
    }
    assert unreached(stage, thread, "@xyzzy") == {"xyzzy": "Nobody is called 'xyzzy' here."}


def test_an_agent_that_sleeps_in_an_open_thread_is_in_the_list_of_agents(stage: Stage) -> None:
    ready(stage)
    thread = thread_of(stage, "listed")
    agent = invited(stage, thread, "SAY here")["agent_id"]
    alone = stage.done("SAY here")["agent_id"]

    def listed() -> dict[str, dict[str, Any]]:
        return {one["id"]: one for one in stage.api.get("/api/agents").json()}

    assert (listed()[agent]["process"], listed()[agent]["is_available"]) == ("asleep", True)
    assert alone not in listed()
    assert agent in _greenroom(stage, "agent", "list").stdout
    stage.api.post(f"/api/threads/{thread}/close", json={})
    assert agent not in listed()


@pytest.mark.anyio
async def test_an_agent_over_mcp_sees_who_sleeps_and_whom_it_does_not_reach(stage: Stage) -> None:
    ready(stage)
    thread = thread_of(stage, "over mcp")
    agent = invited(stage, thread, "SAY here")["agent_id"]
    token = stage.api.post("/api/agents/register", json={"ide": "Mcp", "model": "M"}).json()["token"]
    async with connected(stage.hub.url, token) as talker:
        found = await talker.call("agent_list")
        (own,) = [one for one in (found["agents"] if isinstance(found, dict) else found) if one["agent_id"] == agent]
        assert (own["is_available"], own["now"]) == (True, "asleep: woken by a person's mention")
        context = await talker.call("msg_wait", thread_id=thread, timeout_ms=0, return_format="json")
        sync = {"expected_last_seq": context["current_seq"], "reply_token": context["reply_token"]}
        posted = await talker.call("msg_post", thread_id=thread, content="@nobdy look", mentions=[agent], **sync)
    assert [one["name"] for one in posted["unreached"]] == [agent, "nobdy"]
    assert "does not let agents wake it" in posted["unreached"][0]["why"]


def test_the_command_line_says_whom_a_message_does_not_reach(stage: Stage) -> None:
    ready(stage)
    thread = thread_of(stage, "from a shell")
    done = _greenroom(stage, "thread", "post", thread, "@rehearsal @nobdy look")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        f"greenroom: 'rehearsal' is not in this thread: invite it. (greenroom invite rehearsal --thread {thread})",
        "greenroom: Nobody is called 'nobdy' here.",
    ]


def test_an_invitation_takes_a_display_name_and_the_name_of_an_agent_of_the_thread(stage: Stage) -> None:
    ready(stage)
    stage.profile("lantern", display_name="Old Lantern")
    thread = thread_of(stage, "again by name")
    first = invited(stage, thread, "SAY here", "lantern")
    assert runs_of(stage, "lantern")[-1]["agent_id"] == first["agent_id"]
    again = invited(stage, thread, "SAY back", "Old Lantern")
    assert (again["agent_id"], again["output"]) == (first["agent_id"], "back")
    elsewhere = thread_of(stage, "another for the lantern")
    assert invited(stage, elsewhere, "SAY new", "Old Lantern")["agent_id"] != first["agent_id"]


def _greenroom(stage: Stage, *args: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "greenroom", *args]
    env = environment(stage.hub.data)
    return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WAIT_S)


def test_mail_that_wakes_nobody_says_so(stage: Stage) -> None:
    ready(stage)
    agent = stage.done("SAY here", keep_as="postbox")["agent_id"]
    sent = stage.api.post(f"/api/agents/{agent}/mail", json={"content": "are you there?"}).json()
    assert "does not wake it for mail" in sent["unreached"][0]["why"]


def test_an_agent_at_work_hears_what_is_said(stage: Stage) -> None:
    ready(stage)
    thread = thread_of(stage, "listening")
    body = {"agent_name": "rehearsal", "prompt": "SLEEP 30"}
    run = stage.api.post(f"/api/threads/{thread}/invite", json=body).json()
    assert unreached(stage, thread, "hello") == {}
    assert unreached(stage, thread, f"@{run['agent_id']} hello") == {}
