"""Rules from the file, over REST and on the command line."""

from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from greenroom.link.policy_facts.call_request import CallRequest
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.link.reports import CallStarted, TurnUsedUp
from greenroom.log.model import Context
from greenroom.rules.agents.profiles import read_definition
from greenroom.rules.asks.events import AskRaised
from greenroom.rules.nodes.model import OrderGiven
from greenroom.rules.policy.model import JUDGEMENTS, Judgement, Rule, Verdict
from greenroom.rules.policy.templates import TEMPLATES
from greenroom.rules.policy.trials import find_suggestions, try_rule
from greenroom.rules.runs.events import RunPaused
from greenroom.rules.runs.loop_detection import hash_repeated_call, pause_if_looping
from greenroom.rules.runs.model import CALLS, Run, ToolCall
from greenroom.rules.runs.pauses import pause_for_quota
from greenroom.services.policy_file import read_policy
from greenroom.settings import Settings
from greenroom.testing.hub_process import HubProcess, wait_until
from tests.cli.shell import done, greenroom
from tests.rules.policy.shelf import NOW, Shelf

FILE = """
[options]
timezone = "Europe/Berlin"
[options.budget]
usd_per_day = 5.0

[[rules]]
name = "tests"
decision = "allow"
commands = ["pytest **"]
until = 2030-01-01T00:00:00Z

[[rules]]
name = "second"
decision = "deny"
tools = ["WebFetch"]
"""


def test_the_file_is_taken_up_when_it_changes_and_its_last_good_version_holds(
    hub: HubProcess, api: httpx.Client
) -> None:
    path = hub.data / "policy.toml"
    path.write_text(FILE)

    def policy() -> dict[str, Any]:
        found: dict[str, Any] = api.get("/api/policy").json()
        return found

    wait_until(lambda: [rule["name"] for rule in policy()["rules"]] == ["tests", "second"])
    assert policy()["options"]["budget"] == {"usd_per_day": 5.0}
    api.put("/api/policy/rules/third", json={"rule": {"decision": "ask"}}).raise_for_status()
    path.write_text(FILE.replace("commands", "comands"))
    wait_until(lambda: policy()["wrong"])
    wrong = policy()["wrong"][0]
    assert (wrong["key"], "did you mean 'commands'?" in wrong["problem"]) == ("rules[1].comands", True)
    assert [rule["name"] for rule in policy()["rules"]] == ["tests", "second", "third"]
    changed = api.put("/api/policy/rules/tests", json={"rule": {"decision": "ask"}})
    assert (changed.status_code, changed.json()["code"]) == (409, "rule_in_file")
    path.unlink()
    wait_until(lambda: [rule["name"] for rule in policy()["rules"]] == ["third"])


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("rules = 1", "rules"),
        ("[[rule]]", "rule"),
        ('[[rules]]\ndecision = "allow"', "rules[1].name"),
        ('[[rules]]\nname = "a"', "rules[1].decision"),
        ('[[rules]]\nname = "a"\ndecision = "maybe"', "rules[1].decision"),
        ('[[rules]]\nname = "a"\ndecision = "deny"\nwhen = "tool ="', "rules[1].when"),
        ('[[rules]]\nname = "a"\ndecision = "deny"\nwhen = "tol == 1"', "rules[1].when"),
        ('[[rules]]\nname = "a"\ndecision = "deny"\nhours = "9-17"', "rules[1].hours"),
        ('[[rules]]\nname = "a"\ndecision = "allow"\ncommands = ["* status"]', "rules[1].commands"),
        ('[[rules]]\nname = "a"\ndecision = "allow"\nonce = "run"', "rules[1].once"),
        ('[[rules]]\nname = "loop"\ndecision = "deny"', "rules[1].name"),
        ('[options]\ntimezone = "Moon"', "options.timezone"),
        ("[options]\nloop_time = 3", "options.loop_time"),
        ("[options.budget]\nasks = 3", "options.budget.asks"),
        ("= not toml", ""),
    ],
)
def test_what_is_wrong_in_the_file_is_told_with_its_key(tmp_path: Path, text: str, key: str) -> None:
    (tmp_path / "policy.toml").write_text(text)
    assert [wrong.key for wrong in read_policy(tmp_path).wrong][:1] == [key]


def test_a_file_that_everybody_may_write_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(FILE)
    (tmp_path / "policy.toml").chmod(0o666)
    assert "everybody may write it" in str(read_policy(tmp_path).wrong[0].problem)


def test_rules_are_added_listed_placed_and_removed_from_the_command_line(hub: HubProcess) -> None:
    done(hub.data, "policy", "add", "git", "--decision", "allow", "--command", "git status", "--note", "harmless")
    done(hub.data, "policy", "add", "net", "--decision", "deny", "--kind", "network", "--before", "git")
    shown = done(hub.data, "policy", "list", "--json").json
    assert [(rule["name"], rule["rule"]["decision"]) for rule in shown["rules"]] == [("net", "deny"), ("git", "allow")]
    assert "git status" in done(hub.data, "policy", "list").out
    done(hub.data, "policy", "remove", "git")
    gone = greenroom(hub.data, "policy", "remove", "git")
    assert (gone.code, "There is no rule 'git'" in gone.err) == (1, True)
    applied = done(hub.data, "policy", "templates", "--apply", "read-only", "--json").json
    assert set(applied["names"]) <= {rule["name"] for rule in done(hub.data, "policy", "list", "--json").json["rules"]}
    bad = greenroom(hub.data, "policy", "add", "x", "--decision", "deny", "--when", "nothing")
    assert (bad.code, "when: " in bad.err) == (1, True)


def test_rules_can_be_moved_before_each_other_as_often_as_one_likes(hub: HubProcess, api: httpx.Client) -> None:
    (hub.data / "policy.toml").write_text(FILE)
    wait_until(lambda: len(api.get("/api/policy").json()["rules"]) == 2)

    def put(name: str, **place: str) -> None:
        api.put(f"/api/policy/rules/{name}", json={"rule": {"decision": "ask"}, **place}).raise_for_status()

    def order() -> list[str]:
        return [rule["name"] for rule in api.get("/api/policy").json()["rules"]][2:]

    for name in ("a", "b", "c"):
        put(name)
    for _ in range(15):
        put("c", before="b")
        assert order() == ["a", "c", "b"]
        put("b", before="c")
        assert order() == ["a", "b", "c"]
    put("a", before="")
    assert order() == ["b", "c", "a"]
    refused = api.put("/api/policy/rules/a", json={"rule": {"decision": "ask"}, "before": "tests"})
    assert (refused.status_code, refused.json()["code"]) == (409, "no_place")


def test_what_is_wrong_with_a_rule_is_told_while_it_is_written(api: httpx.Client) -> None:
    def problems(name: str, **rule: Any) -> list[str]:
        answer = api.post("/api/policy/check", json={"name": name, "rule": rule})
        assert answer.status_code == 200, answer.text
        assert answer.json()["ok"] == (not answer.json()["problems"])
        return [one.partition(":")[0] for one in answer.json()["problems"]]

    assert problems("fine", decision="allow", commands=["git status"]) == []
    assert problems("loop", decision="ask", hours="9-18", when="1 +") == ["name", "when", "hours"]
    assert problems("x", decision="perhaps") == ["rule"]
    assert problems("x", decision="ask", colour="red") == ["rule"]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_a_template_is_made_of_good_rules(template: Any, api: httpx.Client) -> None:
    names = api.post(f"/api/policy/templates/{template.name}").json()["names"]
    assert names == [name for name, _ in template.rules]


def _past(number: int, command: str, answer: str | None) -> Judgement:
    wanted = CallRequest(tool="Bash", arguments={"command": command}, directory=f"/w/{number}")
    verdict = Verdict(decision="ask", risk="medium", rule="default.execute", why="")
    return Judgement(
        id=f"jdg_{number}",
        at=NOW - number,
        wanted=wanted,
        verdict=verdict,
        decision="ask",
        run_id="r",
        profile="",
        digest="",
        answer=answer,
    )


def test_nothing_is_suggested_where_people_disagree() -> None:
    shelf = Shelf(p=ProfileDefinition(driver="x"))
    for number in range(6):
        shelf.put(JUDGEMENTS, _past(number, "make a" if number < 3 else "make b", "deny" if number == 5 else "approve"))
    assert [one.rule.commands for one in find_suggestions(shelf)] == [["make a"]]


def test_a_suggested_rule_holds_where_it_was_asked_and_allows_nothing_of_high_risk() -> None:
    shelf = Shelf()
    replace = msgspec.structs.replace
    risky = Verdict(decision="ask", risk="high", rule="default.execute", why="")
    for number in range(3):
        past = _past(number, "make a", "approve")
        shelf.put(JUDGEMENTS, replace(past, wanted=replace(past.wanted, directory="/w/one")))
        shelf.put(JUDGEMENTS, _past(number + 3, "make b", "approve"))
        shelf.put(JUDGEMENTS, replace(_past(number + 6, "rm -rf c", "approve"), verdict=risky))
        shelf.put(JUDGEMENTS, replace(_past(number + 9, "rm -rf d", "deny"), verdict=risky))
    found = {one.rule.commands[0]: (one.rule.decision, one.rule.directories) for one in find_suggestions(shelf)}
    assert found == {"make a": ("allow", ["/w/one"]), "make b": ("allow", []), "rm -rf d": ("deny", [])}


def test_a_trial_says_what_would_be_different_and_what_goes_against_people() -> None:
    shelf = Shelf()
    shelf.put(JUDGEMENTS, _past(1, "git status", "approve"))
    shelf.put(JUDGEMENTS, _past(2, "git push", "deny"))
    trial = try_rule(shelf, Rule(decision="allow", commands=["git **"]), None, 10, is_all=False)
    assert (trial.judged, trial.fitting, trial.changed, trial.against_people) == (2, 2, 2, 1)
    assert [(line.words, line.was, line.would) for line in trial.lines] == [
        ("git status", "ask", "allow"),
        ("git push", "ask", "allow"),
    ]


def test_a_run_that_repeats_a_call_for_which_no_leave_is_needed_is_paused_and_asked_about() -> None:
    run = Run(
        id="run_1",
        profile="p",
        agent_id="agt_1",
        root_id="run_1",
        depth=0,
        status="running",
        prompt="x",
        created_at=0,
        by="o",
        node_id="nod_1",
    )
    shelf, context = Shelf(), Context(NOW, Settings())
    heard = CallStarted("c", "Read", input={"file_path": "a"})
    for number in range(9):
        assert pause_if_looping(shelf, run, heard, "ord_1", context) == []
        call = ToolCall(
            run_id="run_1",
            call_id=f"c{number}",
            tool="Read",
            started_at=NOW - number,
            digest=hash_repeated_call("Read", {"file_path": "a"}),
        )
        shelf.put(CALLS, call)
    assert [type(event) for event in pause_if_looping(shelf, run, heard, "ord_1", context)] == [
        RunPaused,
        OrderGiven,
        AskRaised,
    ]
    assert pause_if_looping(shelf, run, CallStarted("c", "Read", input={"file_path": "b"}), "ord_1", context) == []
    assert hash_repeated_call("mcp__greenroom__msg_wait", {"thread_id": "x"}) == ""


def test_a_run_that_waits_for_a_persons_word_does_not_go_on_because_its_account_can() -> None:
    run = Run(
        id="run_1",
        profile="p",
        agent_id="agt_1",
        root_id="run_1",
        depth=0,
        status="running",
        prompt="x",
        created_at=0,
        by="o",
        node_id="nod_1",
    )
    heard, context = TurnUsedUp("quota", resets_at=NOW + 1000), Context(NOW, Settings())
    (paused,) = pause_for_quota(Shelf(), run, heard, "ord_1", context)
    assert isinstance(paused, RunPaused) and paused.until == NOW + 1000
    asked = msgspec.structs.replace(run, status="waiting", waits_kind="limit")
    assert pause_for_quota(Shelf(), asked, heard, "ord_1", context) == []


def test_an_agent_permission_policy_is_read_as_it_stands() -> None:
    permissions = {
        "agentId": "a",
        "allowedTools": ["Read"],
        "deniedTools": ["Bash"],
        "canSpawnChildren": False,
        "canAccessNetwork": False,
        "canModifyFiles": False,
        "canExecuteCommands": False,
        "maxTokensPerRun": 1000,
        "maxDurationPerRun": 90_000,
        "maxConcurrentChildren": 2,
        "maxDepth": 1,
        "requireUserApproval": "on_sensitive_tools",
    }
    assert read_definition({"driver": "claude", "permissions": permissions}) == ProfileDefinition(
        driver="claude",
        allowed_tools=["Read"],
        denied_tools=["Bash"],
        may_spawn=False,
        may_network=False,
        may_write=False,
        may_execute=False,
        max_tokens=1000,
        timeout_s=90,
        max_children=2,
        max_depth=1,
        approvals="on_risk",
    )
    with pytest.raises(ValueError, match="permissions: canFly is not known"):
        read_definition({"driver": "claude", "permissions": {"canFly": True}})
