"""Whose words caused a call: the card names them, and what no person said counts as a stranger's."""

import pytest

from tests.runs.stage import Stage
from tests.runs.test_invite import ready, thread_of
from tests.runs.test_wake import outsider, post
from tests.workflows.plays import Play

WRITE = "WRITE made one\nSAY done"


def call(stage: Stage) -> tuple[str, bool]:
    """The risk of the call that waits, and whether its card names the agent whose words caused it."""
    asked = stage.asked()
    stage.decide(asked["id"], "deny")
    stage.until(lambda: not stage.api.get("/api/asks").json()["asks"], "the run to go on")
    return asked["risk"], "comes from the agent Mallory" in asked["why"]


def tell(stage: Stage, thread: str, content: str, by: dict[str, str], **fields: str) -> None:
    body = {"content": content, **fields}
    stage.api.post(f"/api/threads/{thread}/messages", json=body, headers=by).raise_for_status()


def test_a_call_that_another_agents_words_caused_names_it_and_counts_as_a_strangers(stage: Stage) -> None:
    ready(stage)
    stage.profile("light", wake_on=["mention"])
    thread = thread_of(stage, "laundering")
    post(stage, thread, f"@light\n{WRITE}")
    assert call(stage) == ("medium", False), "a person has said it"
    tell(stage, thread, f"@light\n{WRITE}", outsider(stage, display_name="Mallory"))
    assert call(stage) == ("high", True)
    post(stage, thread, f"@light\n{WRITE}")
    assert call(stage) == ("high", True), "it still has in mind what it was told"


def test_so_does_a_call_of_an_agent_that_was_started_by_one_who_was_told(stage: Stage) -> None:
    ready(stage)
    stage.profile("light", wake_on=["mention"])
    stage.profile("below")
    thread = thread_of(stage, "laundering")
    spawn = 'TOOL spawn_agent {"profile": "below", "prompt": "WRITE made one"}'
    tell(stage, thread, f"@light\n{spawn}", outsider(stage, display_name="Mallory"))
    assert call(stage) == ("high", True)


@pytest.mark.parametrize("sender", ["agent", "person"])
def test_so_does_a_call_in_a_step_after_a_message_of_an_agent(stage: Stage, sender: str) -> None:
    ready(stage)
    thread = thread_of(stage, "waited for")
    steps = [
        {"id": "a", "wait": {"message": {"thread": thread}}},
        {"id": "b", "profile": "rehearsal", "prompt": "{{ steps.a.output.content }}", "dependencies": ["a"]},
    ]
    play = Play(stage)
    play.until(play.start(*steps), "a", "waiting")
    by = outsider(stage, display_name="Mallory") if sender == "agent" else {}
    tell(stage, thread, WRITE, by)
    assert call(stage) == (("high", True) if sender == "agent" else ("medium", False))


@pytest.mark.parametrize("sender", ["agent", "person"])
def test_so_does_a_call_in_a_workflow_that_a_message_of_an_agent_has_started(stage: Stage, sender: str) -> None:
    ready(stage)
    thread = thread_of(stage, "starts it")
    by = outsider(stage, display_name="Mallory") if sender == "agent" else {}
    wanted = {"thread": thread, "from": "Mallory"} if by else {"thread": thread}
    definition = {
        "name": "started",
        "inputs": {"said": "string"},
        "steps": [{"id": "a", "profile": "rehearsal", "prompt": "{{ inputs.said }}"}],
        "triggers": [{"id": "t", "message": wanted, "inputs": {"said": "trigger.content"}}],
    }
    stage.api.put("/api/workflows/started", json={"definition": definition}).raise_for_status()
    (trigger,) = stage.api.get("/api/triggers").json()
    stage.api.post(f"/api/triggers/{trigger['id']}/arm").raise_for_status()
    tell(stage, thread, WRITE, by)
    assert call(stage) == (("high", True) if sender == "agent" else ("medium", False))
