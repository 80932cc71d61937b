"""Waking agents: by mention, handoff and mail, once, never by their own words, and not without end."""

from typing import Any

from tests.runs.stage import Stage
from tests.runs.test_invite import ready, thread_of


def post(stage: Stage, thread: str, content: str, **fields: Any) -> int:
    made = stage.api.post(f"/api/threads/{thread}/messages", json={"content": content, **fields})
    assert made.status_code == 201, made.text
    return int(made.json()["seq"])


def runs_of(stage: Stage, profile: str) -> list[dict[str, Any]]:
    found = stage.api.get("/api/runs", params={"limit": 200}).json()
    return [run for run in reversed(found) if run["profile"] == profile]


def over(stage: Stage, profile: str, count: int) -> list[dict[str, Any]]:
    """The runs of a profile, once there are so many and all are over."""

    def look() -> list[dict[str, Any]] | None:
        found = runs_of(stage, profile)
        return found if len(found) >= count and all(run.get("ended_at") for run in found) else None

    found: list[dict[str, Any]] = stage.until(look, f"{count} runs of {profile}")
    return found


def test_a_mention_wakes_a_profile_that_allows_it_and_no_other(stage: Stage) -> None:
    ready(stage)
    stage.profile("light", wake_on=["mention"])
    stage.profile("deep")
    thread = thread_of(stage, "waking")
    post(stage, thread, f"@deep @light look\nPOST {thread} here", mentions=["light", "deep"])
    (run,) = over(stage, "light", 1)
    assert (run["status"], run["thread_id"]) == ("completed", thread)
    said = stage.api.get(f"/api/threads/{thread}/messages").json()
    assert said[-1]["content"] == "here"
    assert runs_of(stage, "deep") == []


def test_the_second_mention_wakes_the_same_agent_with_its_memory(stage: Stage) -> None:
    ready(stage)
    stage.profile("light", wake_on=["mention"])
    thread = thread_of(stage, "again")
    post(stage, thread, "@light first")
    (first,) = over(stage, "light", 1)
    post(stage, thread, "@light\nRECALL")
    _, second = over(stage, "light", 2)
    assert second["agent_id"] == first["agent_id"]
    assert "prompts: 2" in second["output"]


def test_messages_while_it_is_up_are_one_more_wake_when_it_has_not_read_them(stage: Stage) -> None:
    ready(stage)
    stage.profile("light", wake_on=["mention"])
    thread = thread_of(stage, "several")
    post(stage, thread, "@light\nSLEEP 2")
    stage.until(lambda: runs_of(stage, "light"), "the first wake")
    for word in ("two", "three", "four"):
        post(stage, thread, f"@light {word}")
    first, second = over(stage, "light", 2)
    assert all(word in second["prompt"] for word in ("two", "three", "four"))
    assert "two" not in first["prompt"]


def test_an_agent_is_not_woken_by_its_own_words(stage: Stage) -> None:
    ready(stage)
    stage.profile("light", wake_on=["mention"])
    thread = thread_of(stage, "echo")
    post(stage, thread, f"@light\nPOST {thread} @light am I")
    over(stage, "light", 1)
    stage.until(lambda: "@light am I" in stage.api.get(f"/api/threads/{thread}/messages").text, "its words")
    post(stage, thread, "@light more")
    assert len(over(stage, "light", 2)) == 2


def test_a_handoff_and_mail_wake_the_agent_they_are_for(stage: Stage) -> None:
    ready(stage)
    stage.profile("light", wake_on=["handoff", "mail"])
    thread = thread_of(stage, "hands")
    agent = stage.done("SAY here", profile="light", keep_as="lamp")["agent_id"]
    post(stage, thread, "yours now", metadata={"handoff_target": agent})
    assert over(stage, "light", 2)[1]["agent_id"] == agent
    assert stage.api.post(f"/api/agents/{agent}/mail", json={"content": "for you"}).status_code == 201
    mailed = over(stage, "light", 3)[2]
    assert "for you" in mailed["prompt"]


def test_agents_that_keep_waking_each_other_are_stopped_with_a_word(stage: Stage) -> None:
    ready(stage)
    stage.profile("ping", wake_on=["mention"])
    thread = thread_of(stage, "loop")
    for number in range(31):
        post(stage, thread, f"@ping {number}")
        if number < 30:
            over(stage, "ping", number + 1)
    stage.until(lambda: "looks like a loop" in stage.api.get(f"/api/threads/{thread}/messages").text, "the word")
    assert len(over(stage, "ping", 30)) == 30


def test_what_is_urgent_is_said_into_the_turn_of_an_agent_at_work(stage: Stage) -> None:
    ready(stage)
    stage.profile("light", wake_on=["mail"])
    busy = stage.start("SLEEP 3\nSAY done", profile="light", keep_as="lamp")
    agent = stage.until(lambda: (run := stage.run(busy))["status"] == "running" and run, "it to work")["agent_id"]
    sent = stage.api.post(f"/api/agents/{agent}/mail", json={"content": "SAY stop the press", "priority": "urgent"})
    assert sent.status_code == 201
    told, woken = over(stage, "light", 2)
    assert told["output"].startswith("done") and "stop the press" in told["output"]
    assert "stop the press" in woken["prompt"], "it has not shown to have read it"


def test_a_sender_is_told_what_the_recipient_is_doing(stage: Stage) -> None:
    ready(stage)
    stage.profile("light")
    agent = stage.done("SAY here", profile="light", keep_as="lamp")["agent_id"]

    def now() -> str:
        sent = stage.api.post(f"/api/agents/{agent}/mail", json={"content": "are you there?"}).json()
        (receipt,) = stage.api.get(f"/api/messages/{sent['id']}/receipts").json()["receipts"]
        assert receipt["state"] == "queued"
        return str(receipt["now"])

    assert now() == "asleep: nothing wakes it but an invitation or a run"
    busy = stage.start("SLEEP 30", profile="light", agent="lamp")
    stage.until(lambda: stage.run(busy)["status"] == "running", "it to work")
    assert now().startswith("at work since a moment")
    stage.api.post(f"/api/runs/{busy}/cancel", json={})
    stage.end(busy)
