"""Whose words caused a call: the card names them, and what no person said counts as a stranger's."""

import pytest

from tests.journeys.mcp_clients import connected
from tests.rules.agents.test_invite import ready, thread_of
from tests.rules.workflows.plays import Play
from tests.services.test_waker import outsider, post
from tests.stage import Stage

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


def save(stage: Stage, name: str, *steps: dict[str, object], **more: object) -> None:
    definition = {"name": name, "inputs": {"said": {"type": "string", "default": ""}}, "steps": list(steps), **more}
    stage.api.put(f"/api/workflows/{name}", json={"definition": definition}).raise_for_status()


STEP = {"id": "a", "profile": "rehearsal", "prompt": WRITE}


def agent_with_power(stage: Stage, name: str) -> str:
    """The token of an agent to which the operator has given their own rights."""
    registered = stage.api.post("/api/agents/register", json={"ide": "Outside", "model": "M", "display_name": name})
    made = {"kind": "operator", "name": "powerful", "agent_id": registered.json()["agent_id"]}
    return str(stage.api.post("/api/credentials", json=made).raise_for_status().json()["token"])


def test_so_does_a_call_in_a_workflow_that_an_agent_has_started(stage: Stage) -> None:
    ready(stage)
    save(stage, "plain", STEP)
    by = {"Authorization": f"Bearer {agent_with_power(stage, 'Mallory')}"}
    stage.api.post("/api/workflow-runs", json={"workflow": "plain"}).raise_for_status()
    assert call(stage) == ("medium", False), "a person has started it"
    stage.api.post("/api/workflow-runs", json={"workflow": "plain"}, headers=by).raise_for_status()
    assert call(stage) == ("high", True)


def test_so_does_a_call_of_a_run_that_an_agent_with_power_has_started(stage: Stage) -> None:
    ready(stage)
    by = {"Authorization": f"Bearer {agent_with_power(stage, 'Mallory')}"}
    stage.api.post("/api/runs", json={"profile": "rehearsal", "prompt": WRITE}, headers=by).raise_for_status()
    assert call(stage) == ("high", True)


@pytest.mark.anyio
@pytest.mark.parametrize("named", [True, False])
async def test_so_does_a_call_of_what_an_mcp_client_has_started_with_the_operators_token(
    stage: Stage, named: bool
) -> None:
    ready(stage)
    save(stage, "plain", STEP)
    if named:
        outsider(stage, display_name="Mallory")
    words = "comes from the agent Mallory" if named else "comes from an MCP client"
    async with connected(stage.hub.url, stage.hub.token) as talker:
        await talker.call("workflow_start", workflow="plain", wait=False)
        seen = [stage.asked()]
        stage.decide(seen[0]["id"], "deny")
        stage.until(lambda: not stage.api.get("/api/asks").json()["asks"], "the run to go on")
        await talker.call("spawn_agent", profile="rehearsal", prompt=WRITE, wait=False)
        seen.append(stage.asked())
        stage.decide(seen[1]["id"], "deny")
    assert [(ask["risk"], words in ask["why"]) for ask in seen] == [("high", True)] * 2


def test_so_does_a_call_in_a_workflow_that_is_a_step_of_one_that_was_told(stage: Stage) -> None:
    ready(stage)
    thread = thread_of(stage, "waited for")
    save(stage, "inner", STEP | {"prompt": "{{ inputs.said }}"})
    steps = [
        {"id": "w", "wait": {"message": {"thread": thread}}},
        {"id": "n", "workflow": "inner", "inputs": {"said": "steps.w.output.content"}, "dependencies": ["w"]},
    ]
    play = Play(stage)
    play.until(play.start(*steps), "w", "waiting")
    tell(stage, thread, WRITE, outsider(stage, display_name="Mallory"))
    assert call(stage) == ("high", True)


def test_so_does_a_call_after_a_nested_workflow_that_was_told(stage: Stage) -> None:
    ready(stage)
    thread = thread_of(stage, "waited for")
    save(stage, "hears", {"id": "w", "wait": {"message": {"thread": thread}}})
    steps = [
        {"id": "n", "workflow": "hears"},
        {"id": "b", "profile": "rehearsal", "prompt": WRITE, "dependencies": ["n"]},
    ]
    Play(stage).start(*steps)
    by = outsider(stage, display_name="Mallory")

    def is_heard() -> bool:
        """Say it until the step waits for it, and what follows has asked."""
        tell(stage, thread, "go on", by)
        return bool(stage.api.get("/api/asks").json()["asks"])

    stage.until(is_heard, "the call after it")
    assert call(stage) == ("high", True)


def test_so_does_a_call_after_the_step_of_an_agent_that_was_told(stage: Stage) -> None:
    ready(stage)
    by = {"Authorization": f"Bearer {agent_with_power(stage, 'Mallory')}"}
    told = {"profile": "rehearsal", "prompt": "SAY hm", "keep_as": "pooled"}
    run = stage.api.post("/api/runs", json=told, headers=by).raise_for_status().json()
    stage.end(run["id"])
    steps = [
        {"id": "a", "reuse_agent": "pool:pooled", "prompt": "SAY it"},
        {"id": "b", "profile": "rehearsal", "prompt": WRITE, "dependencies": ["a"]},
    ]
    Play(stage).start(*steps)
    assert call(stage) == ("high", True)


def test_so_does_a_call_in_a_workflow_after_one_that_was_told(stage: Stage) -> None:
    ready(stage)
    thread = thread_of(stage, "waited for")
    save(stage, "first", {"id": "w", "wait": {"message": {"thread": thread}}})
    save(stage, "second", STEP, triggers=[{"id": "t", "after": {"workflow": "first"}}])
    (trigger,) = stage.api.get("/api/triggers", params={"workflow": "second"}).json()
    stage.api.post(f"/api/triggers/{trigger['id']}/arm").raise_for_status()
    run_id = stage.api.post("/api/workflow-runs", json={"workflow": "first"}).json()["id"]
    Play(stage).until(run_id, "w", "waiting")
    tell(stage, thread, "go on", outsider(stage, display_name="Mallory"))
    assert call(stage) == ("high", True)


def test_so_does_a_call_in_a_workflow_that_an_agent_has_signalled(stage: Stage) -> None:
    ready(stage)
    steps = [{"id": "w", "wait": {"seconds": 600}}, STEP | {"dependencies": ["w"]}]
    play = Play(stage)
    run_id = play.start(*steps)
    play.until(run_id, "w", "waiting")
    by = {"Authorization": f"Bearer {agent_with_power(stage, 'Mallory')}"}
    body = {"step": "w", "value": "go"}
    stage.api.post(f"/api/workflow-runs/{run_id}/signal", json=body, headers=by).raise_for_status()
    assert call(stage) == ("high", True)


def test_so_does_a_call_of_an_agent_whose_child_was_told_at_work(stage: Stage) -> None:
    ready(stage)
    stage.profile("below", wake_on=["mail"])
    spawn = 'TOOL spawn_agent {"profile": "below", "prompt": "SLEEP 600", "wait": false}'
    parent = stage.start(f"{spawn}\nSLEEP 600")
    child = stage.until(
        lambda: [one for one in stage.api.get("/api/runs").json() if one.get("parent_id") == parent], "the child"
    )[0]
    by = {"Authorization": f"Bearer {agent_with_power(stage, 'Mallory')}"}
    stage.until(lambda: stage.run(child["id"])["status"] == "running", "it to be at work")
    stage.api.post(f"/api/runs/{child['id']}/steer", json={"text": "hm"}, headers=by).raise_for_status()
    assert stage.run(parent)["taint"] == "the agent Mallory"
