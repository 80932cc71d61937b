"""The built-in agent: a real model library on the fake model, with the hub's tools, leave for each, and a memory."""

from collections.abc import Iterator

import pytest

from greenroom.testing.fake_llm import FakeModel
from tests.rules.agents.test_invite import ready, thread_of
from tests.stage import Stage

pytestmark = pytest.mark.one_stage


@pytest.fixture
def model(stage: Stage) -> Iterator[FakeModel]:
    with FakeModel() as model:
        ready(stage)
        env = {"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "none"}
        stage.profile("thinker", driver="builtin", model="openai:fake-model", env=env, approvals="always")
        yield model


def test_it_answers_and_tells_what_it_used(stage: Stage, model: FakeModel) -> None:
    run = stage.done("SAY hello there", profile="thinker")
    assert (run["status"], run.get("output")) == ("completed", "hello there"), run
    assert run["input_tokens"] > 0
    assert model.log[-1]["dialect"] == "openai_chat"


def test_a_tool_of_the_hub_waits_for_leave_and_runs(stage: Stage, model: FakeModel) -> None:
    thread = thread_of(stage, "builtin")
    run_id = stage.start(f'FORCE_TOOL thread_get {{"thread_id": "{thread}"}}\nSAY seen', profile="thinker")
    asked = stage.asked()
    subject = asked["subject"]
    assert (subject["tool"], subject["arguments"]) == ("mcp__greenroom__thread_get", {"thread_id": thread})
    stage.decide(asked["id"], "approve")
    run = stage.end(run_id)
    assert (run["status"], run.get("output")) == ("completed", "seen"), run
    (call,) = stage.api.get(f"/api/runs/{run_id}/calls").json()
    assert call["ok"]
    assert "builtin" in call["output"]


def test_a_refused_tool_does_not_run_and_the_turn_goes_on(stage: Stage, model: FakeModel) -> None:
    run_id = stage.start("FORCE_TOOL agent_list {}\nSAY went on", profile="thinker")
    stage.decide(stage.asked()["id"], "deny")
    run = stage.end(run_id)
    assert (run["status"], run.get("output")) == ("completed", "went on"), run
    assert not stage.api.get(f"/api/runs/{run_id}/calls").json()[0].get("ok")


def test_it_remembers_in_a_new_process(stage: Stage, model: FakeModel) -> None:
    stage.profile(
        "short",
        driver="builtin",
        model="openai:fake-model",
        idle_s=0,
        env={"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "none"},
    )
    stage.done("SAY one", profile="short", keep_as="memo")
    run = stage.done("RECALL", profile="short", agent="memo")
    assert "2 user messages, first: 'SAY one'" in run["output"]


def test_a_turn_is_cancelled_and_a_model_that_fails_is_an_error(stage: Stage, model: FakeModel) -> None:
    run_id = stage.start("SLOW 500 0.2", profile="thinker")
    stage.until(lambda: stage.run(run_id)["status"] == "running" and stage.items(run_id), "its words")
    stage.api.post(f"/api/runs/{run_id}/cancel", json={})
    assert stage.end(run_id)["status"] == "cancelled"
    failed = stage.done("ERROR 400", profile="thinker")
    assert failed["status"] == "failed"
    assert "400" in failed["error"]


def test_an_agent_is_told_the_skills_that_its_profile_names(stage: Stage, model: FakeModel) -> None:
    env = {"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "none"}
    own = {"driver": "builtin", "model": "openai:fake-model", "env": env, "instructions": "Be brief."}
    stage.profile("skilled", **own, skills=["hats"])
    without = stage.done("SAY x", profile="skilled")
    assert "the skill hats is not found: write skills/hats/SKILL.md" in without["error"]
    (checked,) = stage.api.get("/api/profile-check", params={"name": "skilled"}).json()["profiles"]
    assert checked["problems"] == ["skills: 'hats' is not found; write skills/hats/SKILL.md in the data directory"]
    skill = stage.hub.data / "skills" / "hats" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: hats\ndescription: When somebody goes out.\n---\nWear a green hat at work.\n")
    told = stage.done(r"SYSTEM Be brief[\s\S]*at work", profile="skilled")["output"]
    assert "Be brief.\n\n# Skill: hats\n\nWhen somebody goes out.\n\nWear a green hat at work" in told
    assert stage.api.get("/api/profile-check", params={"name": "skilled"}).json()["profiles"][0]["ok"]
