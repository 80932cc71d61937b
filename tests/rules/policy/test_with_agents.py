"""The policy with agents at work: what runs, asks once, loops, is remembered and taken back."""

from pathlib import Path
from typing import Any

from greenroom.testing.hub_process import wait_until
from tests.cli.shell import done
from tests.conftest import end_node
from tests.rules.workflows.test_trigger_calls import Caller
from tests.stage import Stage


def put(stage: Stage, name: str, **rule: Any) -> None:
    answer = stage.api.put(f"/api/policy/rules/{name}", json={"rule": rule})
    assert answer.status_code == 200, answer.text


def asks(stage: Stage) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = stage.api.get("/api/asks").json()["asks"]
    return found


def judged(stage: Stage, run_id: str) -> list[tuple[str, str]]:
    """What the policy has said of a run's calls, oldest first."""
    found = stage.api.get("/api/policy/judgements", params={"run_id": run_id}).json()["judgements"]
    return [(one["decision"], one["verdict"]["rule"]) for one in reversed(found)]


def test_ap_05_an_approved_script_that_was_changed_does_not_run_and_the_audit_says_so(
    stage: Stage, tmp_path: Path
) -> None:
    """AP-02, AP-05: the node compares what it would run with what was approved."""
    script, other = tmp_path / "build.sh", tmp_path / "other.sh"
    script.write_text(f"touch {tmp_path}/harmless\n")
    other.write_text(f"touch {tmp_path}/harm\n")
    run = stage.start(f"SHELL sh {script}\nSAY went on")
    asked = stage.asked()
    assert list(asked["subject"]["files"]) == [str(script)]
    script.unlink()
    script.symlink_to(other)
    stage.decide(asked["id"], "approve")
    stage.end(run)
    assert not list(tmp_path.glob("harm*"))
    (noted,) = stage.api.get("/api/audit", params={"type": "ApprovalRefused", "limit": 10}).json()["events"]
    assert noted["data"]["run_id"] == run
    assert "a program that it names has changed" in noted["data"]["reason"]


def test_ap_06_a_profile_that_forbids_by_now_counts_over_a_yes(stage: Stage) -> None:
    """AP-06: what holds when the call would run is what counts."""
    stage.profile("builder")
    made = stage.hub.data.parent / "made"
    run = stage.start(f"SHELL touch {made}\nSAY went on", profile="builder")
    asked = stage.asked()
    stage.profile("builder", may_execute=False)
    stage.decide(asked["id"], "approve")
    stage.end(run)
    assert not made.exists()


def test_ap_20_what_a_dead_agent_asked_for_is_not_approved(stage: Stage) -> None:
    """AP-20: the card says why, and nothing runs."""
    made = stage.hub.data.parent / "made"
    run = stage.start(f"SHELL touch {made}\nSAY went on")
    asked = stage.asked()
    stage.hub.stop()
    end_node(stage.hub.data)
    stage.hub.start(stage.hub.port)
    gone = stage.until(lambda: stage.api.get(f"/api/asks/{asked['id']}").json().get("reason"), "it to be withdrawn")
    late = stage.decide(asked["id"], "approve")
    assert (late.status_code, late.json()["code"]) == (409, "ask_withdrawn")
    assert gone.rstrip(".") in late.json()["detail"]
    assert stage.run(run)["status"] in ("failed", "interrupted")
    assert not made.exists()


def test_ap_21_what_an_agent_writes_where_it_works_is_no_rule_and_no_profile(stage: Stage, tmp_path: Path) -> None:
    """AP-21: rules and profiles are read from the operator's directory alone."""
    desk = tmp_path / "desk"
    (desk / "agents").mkdir(parents=True)
    (desk / "config").mkdir()
    rule = '[[rules]]\nname = "mine"\ndecision = "allow"\n'
    for name, text in {
        "policy.toml": rule,
        "greenroom.toml": "ask_warn_s = 1\n",
        "agents/mine.toml": 'driver = "rehearsal"\napprovals = "never"\n',
        ".greenroom/policy.toml": rule,
    }.items():
        (desk / name).parent.mkdir(exist_ok=True)
        (desk / name).write_text(text)
    stage.profile("worker", directory=str(desk))
    run = stage.start("SHELL touch made\nSAY done", profile="worker")
    stage.decide(stage.asked()["id"], "deny")
    stage.end(run)
    assert not (desk / "made").exists()
    assert [one["name"] for one in stage.api.get("/api/policy").json()["rules"]] == []
    assert "mine" not in stage.api.get("/api/profiles").text
    for command in (f"touch {stage.hub.data}/policy.toml", f"cp policy.toml {desk}/../data/policy.toml"):
        run = stage.start(f"SHELL {command}\nSAY done", profile="worker")
        stage.end(run)
        assert judged(stage, run) == [("deny", "profile.worker")], "the hub's own files are out of the question"
    assert not (stage.hub.data / "policy.toml").exists()


def test_what_a_webhook_has_begun_is_of_higher_risk(stage: Stage) -> None:
    """B.7: taint. The same step asks with medium risk when a person begins it."""
    step = {"id": "build", "profile": "rehearsal", "prompt": "WRITE made one\nSAY done"}
    definition = {"name": "hooked", "steps": [step], "triggers": [{"id": "t", "webhook": True}]}
    stage.api.put("/api/workflows/hooked", json={"definition": definition}).raise_for_status()
    (trigger,) = stage.api.get("/api/triggers", params={"workflow": "hooked"}).json()
    stage.api.post(f"/api/triggers/{trigger['id']}/arm").raise_for_status()
    assert Caller(stage.api, stage.hub, f"/api/triggers/{trigger['id']}").call().status_code == 202
    asked = stage.asked()
    assert (asked["risk"], "comes from a webhook" in asked["why"]) == ("high", True)
    stage.decide(asked["id"], "deny")
    stage.until(lambda: not asks(stage), "the run to end")
    stage.api.post("/api/workflow-runs", json={"workflow": "hooked"}).raise_for_status()
    by_hand = stage.asked()
    assert by_hand["risk"] == "medium"
    stage.decide(by_hand["id"], "deny")


def test_reading_runs_and_writing_asks_once_per_run(stage: Stage) -> None:
    run = stage.start("SHELL ls\nWRITE a one\nWRITE b two\nSAY done")
    ask = stage.asked()
    assert (ask["rule"], ask["risk"]) == ("default.write", "medium")
    assert stage.decide(ask["id"], "approve").status_code == 200
    assert stage.end(run)["status"] == "completed"
    assert judged(stage, run)[:2] == [("allow", "default.read"), ("ask", "default.write")]
    assert judged(stage, run)[2][0] == "allow"
    grants = stage.api.get("/api/policy").json()["grants"]
    assert [(grant["scope"], grant["holder"], grant["words"]) for grant in grants] == [
        ("run", run, "writing in the working directory")
    ]
    assert ask["labels"] == {"like": "writing in the working directory", "reach": "run"}, "the person is told"
    again = stage.start("WRITE c three\nWRITE d four\nSAY done")
    assert stage.decide(stage.asked()["id"], "approve", scope="call").status_code == 200
    assert stage.decide(stage.asked()["id"], "deny").status_code == 200
    stage.end(again)
    assert len(stage.api.get("/api/policy").json()["grants"]) == 1, "this call and no other"


def test_a_yes_for_a_profile_holds_until_it_is_taken_back(stage: Stage) -> None:
    run = stage.start("SHELL make\nSAY done")
    assert stage.decide(stage.asked()["id"], "approve", scope="profile").status_code == 200
    stage.end(run)
    grant = stage.api.get("/api/policy").json()["grants"][0]
    assert (grant["scope"], grant["holder"], grant["words"]) == ("profile", "rehearsal", "exactly this call")
    done(stage.hub.data, "policy", "remove", grant["id"])
    assert stage.api.get("/api/policy").json()["grants"] == []


def test_a_rule_that_is_removed_does_not_count_for_the_next_call(stage: Stage) -> None:
    put(stage, "free", decision="allow", kinds=["execute"])
    assert stage.done("SHELL make x\nSAY done")["status"] == "completed"
    assert stage.api.delete("/api/policy/rules/free").status_code == 204
    run = stage.start("SHELL make x\nSAY done")
    assert stage.decide(stage.asked()["id"], "deny").status_code == 200
    stage.end(run)
    assert judged(stage, run) == [("ask", "default.execute")]


def test_an_approval_is_worth_nothing_once_a_rule_forbids_the_call(stage: Stage, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    run = stage.start(f"SHELL touch {mark}\nSAY done")
    ask = stage.asked()
    put(stage, "never", decision="deny", commands=["touch **"])
    stage.decide(ask["id"], "approve")
    stage.end(run)
    assert not mark.exists()


def test_the_same_call_again_and_again_asks_although_a_rule_allows_it(stage: Stage) -> None:
    (stage.hub.data / "policy.toml").write_text(
        '[options]\nloop_times = 3\n[[rules]]\nname = "free"\ndecision = "allow"\nkinds = ["execute"]\n'
    )
    wait_until(lambda: stage.api.get("/api/policy").json()["rules"])
    run = stage.start("SHELL make again\n" * 3 + "SAY done")
    ask = stage.asked()
    assert (ask["rule"], ask["risk"]) == ("loop", "high")
    assert stage.run(run)["status"] == "waiting"
    assert stage.decide(ask["id"], "approve").status_code == 200
    assert stage.end(run)["status"] == "completed"
    assert [decision for decision, _ in judged(stage, run)] == ["allow", "allow", "ask"]


def test_a_child_may_not_do_what_its_parent_may_not(stage: Stage, tmp_path: Path) -> None:
    stage.profile("strict", may_execute=False)
    stage.profile("free", approvals="never")
    mark = tmp_path / "mark"
    run = stage.done(f"SPAWN free SHELL touch {mark}\nSAY done", profile="strict")
    assert run["status"] == "completed"
    assert not mark.exists()
    assert stage.done(f"SHELL touch {mark}\nSAY done", profile="free")["status"] == "completed"
    assert mark.exists()


def test_a_rule_is_tried_on_what_was_asked_and_suggested_from_the_answers(stage: Stage) -> None:
    for _ in range(3):
        run = stage.start("SHELL make check\nSAY done")
        assert stage.decide(stage.asked()["id"], "approve").status_code == 200
        stage.end(run)
    tried = done(
        stage.hub.data, "policy", "try", "--decision", "allow", "--command", "make check", "--last", "10", "--json"
    ).json
    assert (tried["judged"], tried["fitting"], tried["changed"], tried["against_people"]) == (3, 3, 3, 0)
    against = stage.api.post("/api/policy/try", json={"rule": {"decision": "deny", "commands": ["make **"]}}).json()
    assert (against["answers"]["deny"], against["against_people"]) == (3, 3)
    suggested = done(stage.hub.data, "policy", "suggest", "--json").json
    assert [(one["rule"]["decision"], one["rule"]["commands"], one["times"]) for one in suggested] == [
        ("allow", ["make check"], 3)
    ]
    done(stage.hub.data, "policy", "suggest", "--accept", suggested[0]["name"])
    assert stage.done("SHELL make check\nSAY done")["status"] == "completed"
    assert done(stage.hub.data, "policy", "suggest", "--json").json == []


def test_a_file_that_another_agent_at_work_has_written_is_asked_about_again(stage: Stage, tmp_path: Path) -> None:
    desk = str(tmp_path / "desk")
    Path(desk).mkdir()
    first = stage.start("WRITE plan.txt one\nSLEEP 60", directory=desk)
    stage.decide(stage.asked()["id"], "approve")
    stage.until(lambda: (tmp_path / "desk/plan.txt").exists(), "the first to have written")
    second = stage.start("WRITE notes.txt mine\nWRITE plan.txt two\nSAY went on", directory=desk)
    stage.decide(stage.asked()["id"], "approve")
    asked = stage.until(lambda: [one for one in asks(stage) if "plan.txt" in one["title"]], "the second to be asked")[0]
    assert (asked["rule"], first in asked["why"]) == ("default.contested", True)
    stage.decide(asked["id"], "deny", text="it is not yours")
    stage.end(second)
    assert (tmp_path / "desk/plan.txt").read_text() == "one"
    stage.api.post(f"/api/runs/{first}/cancel", json={})
    stage.end(first)
    third = stage.start("WRITE plan.txt three", directory=desk)
    asked = stage.asked()
    assert asked["rule"] == "default.write"
    stage.decide(asked["id"], "approve")
    stage.end(third)
    assert (tmp_path / "desk/plan.txt").read_text() == "three"


def test_a_rule_may_refuse_what_another_agent_is_at_without_asking(stage: Stage, tmp_path: Path) -> None:
    stage.profile("free", approvals="never")
    put(stage, "hands-off", decision="deny", kinds=["write"], when="contested", note="another agent is at it")
    first = stage.start("WRITE plan.txt one\nSLEEP 60", profile="free", directory=str(tmp_path))
    stage.until(lambda: (tmp_path / "plan.txt").exists(), "the first to have written")
    second = stage.start("WRITE plan.txt two", profile="free", directory=str(tmp_path))
    stage.end(second)
    assert judged(stage, second) == [("deny", "hands-off")]
    assert (tmp_path / "plan.txt").read_text() == "one"
    stage.api.post(f"/api/runs/{first}/cancel", json={})
