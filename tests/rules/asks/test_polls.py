"""Polls: several people choose among options until a deadline, and the most votes decide."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import done as cli_done
from tests.conftest import checked
from tests.journeys.mcp_clients import connected
from tests.rules.asks.desk import Desk
from tests.rules.asks.test_mcp import HERE, asked, texts

OPTIONS = [{"label": "main"}, {"label": "release"}]
QUESTION = {"question": "Which branch?", "options": OPTIONS, "custom": False}


def poll(desk: Desk, *names: str, **fields: Any) -> dict[str, Any]:
    """A poll of these people, or of whoever may answer."""
    by = {"by": desk.operator, "asked_of": list(names)} if names else {}
    return desk.ask("Which branch?", kind="poll", questions=[QUESTION], **by, **fields)


def vote(desk: Desk, ask: dict[str, Any], by: Any, option: str) -> dict[str, Any]:
    answered = desk.answer(ask["id"], by, options=[[option]])
    assert answered.status_code == 200, answered.text
    return dict(answered.json())


def test_the_option_with_most_votes_wins_once_everybody_named_has_voted(desk: Desk) -> None:
    ann, ben, cem = (desk.bearer(kind="operator", name=name) for name in ("ann", "ben", "cem"))
    ask = poll(desk, "ann", "ben", "cem")
    assert vote(desk, ask, ann, "main")["state"] == "open"
    assert vote(desk, ask, ben, "main")["state"] == "open"
    changed = vote(desk, ask, ann, "release")
    assert sorted((one["name"], one["option"]) for one in changed["votes"]) == [("ann", "release"), ("ben", "main")]
    over = vote(desk, ask, cem, "release")
    assert over["state"] == "answered"
    assert (over["answer"]["options"], over["answer"]["text"]) == ([["release"]], "main: 1 · release: 2")
    late = desk.answer(ask["id"], ann, options=[["main"]])
    assert (late.status_code, late.json()["code"]) == (409, "already_answered")


def test_a_tie_chooses_nothing(desk: Desk) -> None:
    ann, ben = (desk.bearer(kind="operator", name=name) for name in ("ann", "ben"))
    ask = poll(desk, "ann", "ben")
    vote(desk, ask, ann, "main")
    over = vote(desk, ask, ben, "release")
    assert (over["answer"]["options"], over["answer"]["text"]) == ([[]], "main: 1 · release: 1")


def test_the_deadline_counts_the_votes_and_expires_a_poll_without_any(desk: Desk) -> None:
    voted, silent = poll(desk, timeout_s=2), poll(desk, timeout_s=2)
    vote(desk, voted, None, "main")
    vote(desk, voted, None, "release")
    over = desk.after(voted["id"], WAIT_S)
    assert (over["answer"]["options"], over["answer"]["text"]) == ([["release"]], "main: 0 · release: 1")
    assert desk.after(silent["id"], WAIT_S)["state"] == "expired"


def test_who_is_not_asked_and_who_only_shares_a_token_with_an_agent_has_no_vote(desk: Desk) -> None:
    ask = poll(desk, "ann")
    refused = desk.answer(ask["id"], options=[["main"]])
    assert (refused.status_code, refused.json()["code"]) == (403, "not_asked")
    shared = desk.room("ops", "ask", "answer")
    asking = desk.ask("Which branch?", by=desk.operator, room="ops", kind="poll", questions=[QUESTION])
    refused = desk.answer(asking["id"], shared, options=[["main"]])
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert vote(desk, asking, desk.room("ops"), "main")["votes"][0]["option"] == "main"


@pytest.mark.parametrize(
    "fields",
    [
        {"questions": []},
        {"questions": [QUESTION, QUESTION]},
        {"questions": [{**QUESTION, "custom": True}]},
        {"questions": [{**QUESTION, "multiple": True}]},
        {"questions": [{**QUESTION, "options": OPTIONS[:1]}]},
        {"questions": [{**QUESTION, "options": [*OPTIONS, {"label": "main "}]}]},
        {"questions": [QUESTION], "timeout_s": 0},
    ],
)
def test_a_poll_on_which_nobody_could_vote_is_refused(desk: Desk, fields: dict[str, Any]) -> None:
    made = desk.asking.http.post("/api/asks", json={"title": "Which branch?", "kind": "poll", **fields})
    assert (made.status_code, made.json()["code"]) == (400, "bad_poll")


def test_a_vote_is_one_of_the_options_and_nothing_else(desk: Desk) -> None:
    ask = poll(desk)
    wrong = [{"options": [["elsewhere"]]}, {"text": "main"}, {"options": [["main", "release"]]}]
    codes = [desk.answer(ask["id"], **fields).json()["code"] for fields in wrong]
    assert codes == ["bad_answer"] * 3
    refused = desk.answer(ask["id"], verdict="deny")
    assert refused.json()["code"] == "bad_verdict"


def test_the_command_line_lists_polls_and_votes(desk: Desk) -> None:
    ask = poll(desk)
    for words in (["list", "--kind", "poll", "--json"], ["answer", ask["id"], "--option", "release"]):
        command = [sys.executable, "-m", "greenroom", "ask", *words, "--data", str(desk.hub.data)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
        assert done.returncode == 0, done.stderr
        if words[0] == "list":
            assert ask["id"] in [one["id"] for one in json.loads(done.stdout)]
    assert [one["option"] for one in desk.show(ask["id"])["votes"]] == ["release"]
    shown = cli_done(desk.hub.data, "ask", "show", ask["id"]).out
    (voted,) = [row for row in shown.splitlines() if row.startswith("votes")]
    assert voted.endswith(": release")


@pytest.fixture
def restarting(hub: HubProcess) -> Iterator[Desk]:
    with Desk(hub) as desk:
        yield desk


def test_a_poll_ends_although_the_settings_give_it_no_deadline(tmp_path: Path) -> None:
    env = {"GREENROOM_ASK_DEADLINES": "poll=0,question=0"}
    for hub in checked(HubProcess(tmp_path / "data", env=env)):
        with Desk(hub) as desk:
            assert not desk.ask().get("deadline")
            ask = poll(desk)
            assert ask["deadline"] - ask["asked_at"] == 3_600_000


def test_votes_survive_a_crash_of_the_hub(restarting: Desk) -> None:
    desk = restarting
    ask = poll(desk, timeout_s=3600)
    vote(desk, ask, None, "main")
    desk.hub.kill()
    desk.hub.start()
    with Desk(desk.hub) as after:
        assert [one["option"] for one in after.show(ask["id"])["votes"]] == ["main"]
        assert vote(after, ask, after.bearer(kind="operator", name="ann"), "main")["state"] == "open"


@pytest.mark.anyio
async def test_an_agent_is_given_the_result_over_mcp(desk: Desk) -> None:
    agent = desk.agent()
    async with connected(desk.hub.url, agent.token) as talker:
        question = {"question": "Which branch?", "options": OPTIONS}
        given = {"project_directory": HERE, "questions": [question], "poll": True, "timeout": 3}
        call = asyncio.ensure_future(talker.client.call_tool("ask_question", given))
        ask = await asked(desk, agent.id)
        assert ask["kind"] == "poll"
        await asyncio.to_thread(vote, desk, ask, None, "main")
        assert texts(await call) == ["Which branch?: main", "main: 1 · release: 0"]
        call = asyncio.ensure_future(talker.client.call_tool("ask_question", {**given, "timeout": 4}))
        ask = await asked(desk, agent.id)
        other = await asyncio.to_thread(desk.bearer, kind="operator", name="ann")
        await asyncio.to_thread(vote, desk, ask, None, "main")
        await asyncio.to_thread(vote, desk, ask, other, "release")
        assert "tied" in texts(await call)[0]
