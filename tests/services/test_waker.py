"""Waking agents: by people, by mention, handoff and mail, once, never by their own words, and not without end."""

from typing import Any

from greenroom.runtimes.shipped_profiles import SHIPPED
from tests.rules.agents.test_invite import ready, thread_of
from tests.stage import Stage


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


def invited(stage: Stage, thread: str, prompt: str, profile: str = "rehearsal") -> dict[str, Any]:
    """An agent that was invited into a thread and has ended its first turn."""
    body = {"agent_name": profile, **({"prompt": prompt} if prompt else {})}
    return stage.end(stage.api.post(f"/api/threads/{thread}/invite", json=body).json()["run_id"])


def outsider(stage: Stage, **fields: Any) -> dict[str, str]:
    """The headers of an agent that has come from outside."""
    body = {"ide": "Outside", "model": "M", **fields}
    return {"Authorization": f"Bearer {stage.api.post('/api/agents/register', json=body).json()['token']}"}


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


def test_a_mention_that_comes_while_a_script_posts_wakes_it_again(stage: Stage) -> None:
    ready(stage)
    thread = thread_of(stage, "meanwhile")
    body = {"agent_name": "rehearsal", "prompt": f"SLEEP 2\nPOST {thread} first"}
    first = stage.api.post(f"/api/threads/{thread}/invite", json=body).json()
    stage.until(lambda: stage.run(first["run_id"])["status"] == "running", "it to work")
    post(stage, thread, f"@Rehearsal\nPOST {thread} second")
    over(stage, "rehearsal", 2)
    assert stage.api.get(f"/api/threads/{thread}/messages").json()[-1]["content"] == "second"


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


def test_an_invited_agent_answers_every_mention_and_reply_of_a_person(stage: Stage) -> None:
    ready(stage)
    thread = thread_of(stage, "talk")
    first = invited(stage, thread, f"POST {thread} hello")
    post(stage, thread, f"@Rehearsal\nPOST {thread} I am awake")
    second = over(stage, "rehearsal", 2)[-1]
    hello = next(m for m in stage.api.get(f"/api/threads/{thread}/messages").json() if m["content"] == "hello")
    post(stage, thread, f"once more\nPOST {thread} and again", reply_to_msg_id=hello["id"])
    third = over(stage, "rehearsal", 3)[-1]
    assert {first["agent_id"], second["agent_id"], third["agent_id"]} == {first["agent_id"]}
    said = [m["content"] for m in stage.api.get(f"/api/threads/{thread}/messages").json()]
    assert [one for one in said if "\n" not in one] == ["hello", "I am awake", "and again"]


def test_the_rehearsal_agent_answers_plain_words_in_the_thread_and_scripts_behind_its_name(stage: Stage) -> None:
    ready(stage)
    thread = thread_of(stage, "plain")
    invited(stage, thread, "")
    post(stage, thread, "@Rehearsal what can you do?")
    over(stage, "rehearsal", 2)
    post(stage, thread, "@Rehearsal SAY good evening")
    last = over(stage, "rehearsal", 3)[-1]
    said = stage.api.get(f"/api/threads/{thread}/messages").json()
    own = [message["content"] for message in said if message["author_id"] == last["agent_id"]]
    assert [words.startswith("Hello! I am the rehearsal agent.") for words in own] == [True, True, False]
    assert (own[-1], last["output"]) == ("good evening", "good evening")


def test_every_shipped_profile_wakes_for_people_and_not_for_agents() -> None:
    assert all(one.wake_for_people and one.wake_on == [] for one in SHIPPED.values())


def test_an_agents_mention_does_not_wake_by_default_and_the_agent_is_told(stage: Stage) -> None:
    ready(stage)
    thread = thread_of(stage, "agents")
    woken = invited(stage, thread, "SAY here")
    body = {"content": "@Rehearsal look", "mentions": ["Rehearsal"]}
    said = stage.api.post(f"/api/threads/{thread}/messages", json=body, headers=outsider(stage))
    (unreached,) = said.json()["unreached"]
    assert (unreached["name"], unreached["agent_id"]) == ("Rehearsal", woken["agent_id"])
    assert "does not let agents wake it" in unreached["why"]
    assert len(runs_of(stage, "rehearsal")) == 1


def test_a_profile_can_be_left_asleep_by_people_and_the_person_can_wake_it_at_once(stage: Stage) -> None:
    ready(stage)
    stage.profile("deep", wake_for_people=False)
    thread = thread_of(stage, "sleepers")
    first = invited(stage, thread, "SAY here", "deep")
    said = stage.api.post(f"/api/threads/{thread}/messages", json={"content": "@deep wake up"}).json()
    (unreached,) = said["unreached"]
    assert (unreached["name"], unreached["remedy"], unreached["agent_id"]) == ("deep", "wake", first["agent_id"])
    assert "does not let people wake it" in unreached["why"]
    shown = stage.api.get(f"/api/threads/{thread}/unreached").json()
    assert [(one["message_id"], one["unreached"]) for one in shown] == [(said["id"], [unreached])]
    again = stage.api.post(f"/api/threads/{thread}/invite", json={"agent_name": first["agent_id"]}).json()
    assert again["agent_id"] == first["agent_id"]
    assert "@deep wake up" in stage.end(again["run_id"])["prompt"]
    assert stage.api.get(f"/api/threads/{thread}/unreached").json() == []


def test_a_person_who_names_nobody_among_sleepers_is_told_who_sleeps(stage: Stage) -> None:
    ready(stage)
    thread = thread_of(stage, "nobody")
    agent = invited(stage, thread, "SAY here")["agent_id"]
    said = stage.api.post(f"/api/threads/{thread}/messages", json={"content": "well?"}).json()
    assert [(one["agent_id"], one["remedy"]) for one in said["unreached"]] == [(agent, "wake")]
    assert said["unreached"][0]["why"] == "'Rehearsal' is asleep: mention it, and it wakes."
    assert runs_of(stage, "rehearsal")[0]["agent_id"] == agent


def test_a_person_can_talk_with_an_agent_for_longer_than_agents_may_wake_each_other(stage: Stage) -> None:
    ready(stage)
    stage.profile("ping", wake_on=["mention"])
    thread = thread_of(stage, "loop")
    for number in range(2):
        post(stage, thread, f"@ping {number}")
        over(stage, "ping", number + 1)
    other = outsider(stage)
    for number in range(2, 33):
        body = {"content": f"@ping {number}"}
        assert stage.api.post(f"/api/threads/{thread}/messages", json=body, headers=other).status_code == 201
        if number < 32:
            over(stage, "ping", number + 1)
    stage.until(lambda: "looks like a loop" in stage.api.get(f"/api/threads/{thread}/messages").text, "the word")
    assert len(over(stage, "ping", 32)) == 32
    post(stage, thread, "@ping it is me")
    assert len(over(stage, "ping", 33)) == 33


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

    assert now() == "asleep: woken by a person's mention"
    stage.profile("light", wake_for_people=False)
    assert now() == "asleep: nothing wakes it but an invitation or a run"
    busy = stage.start("SLEEP 30", profile="light", agent="lamp")
    stage.until(lambda: stage.run(busy)["status"] == "running", "it to work")
    assert now().startswith("at work since a moment")
    stage.api.post(f"/api/runs/{busy}/cancel", json={})
    stage.end(busy)
