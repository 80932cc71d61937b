"""What the judge says: deny wins, defaults are safe and quiet, and nothing widens a child's rights."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from greenroom.link.policy_facts.call_request import CallRequest, LineageEntry
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.rules.policy.answer_effects import build_judgement_events
from greenroom.rules.policy.budgets import format_day
from greenroom.rules.policy.events import CallJudged
from greenroom.rules.policy.judge import judge
from greenroom.rules.policy.model import (
    DAY_COSTS,
    GRANTS,
    JUDGEMENTS,
    STRICTNESS,
    Budget,
    DayCost,
    Grant,
    Judgement,
    Options,
    Rule,
    Verdict,
)
from greenroom.rules.policy.templates import get_template
from tests.rules.policy.shelf import NOW, Shelf

HERE = "/w/project"
ON_RISK = ProfileDefinition(driver="rehearsal")


def call(tool: str = "Write", profile: str | None = None, **arguments: Any) -> CallRequest:
    lineage = [LineageEntry(profile=profile, run="run_1")]
    return CallRequest(tool=tool, arguments=arguments, directory=HERE, lineage=lineage, agent_id="agt_1")


def says(shelf: Shelf, wanted: CallRequest) -> str:
    return judge(shelf, wanted, NOW).decision


@pytest.mark.parametrize(
    ("tool", "arguments", "decision", "risk"),
    [
        ("Read", {"file_path": "/w/project/a.py"}, "allow", "low"),
        ("Read", {"file_path": "a.py"}, "allow", "low"),
        ("Grep", {"pattern": "x"}, "allow", "low"),
        ("Read", {"file_path": "/etc/passwd"}, "ask", "medium"),
        ("Read", {"file_path": "/w/project/../x"}, "ask", "medium"),
        ("Read", {"file_path": "/w/projectile/x"}, "ask", "medium"),
        ("Read", {"file_path": ".env"}, "ask", "medium"),
        ("Glob", {"pattern": "/etc/**"}, "ask", "medium"),
        ("Read", {}, "ask", "medium"),
        ("Write", {"file_path": "a.py", "content": "x"}, "ask", "medium"),
        ("fileChange", {"changes": [{"path": "/etc/x"}]}, "ask", "high"),
        ("Edit", {"file_path": ".git/config"}, "ask", "high"),
        ("edit", {"filePath": ".claude/settings.json"}, "ask", "high"),
        ("apply_patch", {"input": "*** Update File: ../x\n"}, "ask", "high"),
        ("Write", {}, "ask", "high"),
        ("WebFetch", {"url": "https://a.example"}, "ask", "medium"),
        ("TodoWrite", {"todos": []}, "allow", "low"),
        ("mcp__greenroom__msg_post", {"content": "x"}, "allow", "low"),
        ("mcp__other__greenroom_msg_post", {}, "ask", "medium"),
        ("unheard_of", {"risk": "low", "readOnlyHint": True}, "ask", "medium"),
        ("Read", {"file_path": "/home/a/.greenroom/operator.token"}, "deny", "high"),
        ("Bash", {"command": "cat ~/.greenroom/policy.toml"}, "ask", "medium"),
        ("Bash", {"command": "cat /home/you/.greenroom/greenroom.db"}, "deny", "high"),
        ("read", {"path": "/proc/1/environ"}, "deny", "high"),
    ],
)
def test_defaults_are_safe_and_quiet(tool: str, arguments: dict[str, Any], decision: str, risk: str) -> None:
    verdict = judge(Shelf(), call(tool, **arguments), NOW)
    assert (verdict.decision, verdict.risk) == (decision, risk)


@pytest.mark.parametrize("kind", ["work", "worktrees"])
def test_an_agents_desk_among_the_hubs_files_is_its_own_and_nothing_else_of_them_is(kind: str) -> None:
    home = "/home/you/.greenroom"
    desk = f"{home}/node/{kind}/agt_1"
    for path, decision in (
        (f"{desk}/a.py", "allow"),
        (f"{desk}/operator.token", "deny"),
        (f"{desk}/../agt_2/a.py", "deny"),
        (f"{home}/policy.toml", "deny"),
    ):
        assert says(Shelf(), msgspec.structs.replace(call("Read", file_path=path), directory=desk)) == decision, path
    linked = call("Read", file_path="link")
    linked = msgspec.structs.replace(linked, directory=desk, resolved={"link": f"{home}/greenroom.db"})
    assert says(Shelf(), linked) == "deny"
    assert says(Shelf(), msgspec.structs.replace(call("Read", file_path="greenroom.db"), directory=home)) == "deny"


def test_a_link_out_of_the_working_directory_is_outside() -> None:
    wanted = msgspec.structs.replace(call("Read", file_path="link"), resolved={"link": "/etc/passwd"})
    assert says(Shelf(), wanted) == "ask"


def test_deny_wins_over_an_allow_that_stands_before_it() -> None:
    shelf = Shelf(Rule(decision="allow", tools=["Write"]), Rule(decision="deny", tools=["Wri*"], note="never"))
    verdict = judge(shelf, call(file_path="a"), NOW)
    assert (verdict.decision, verdict.rule) == ("deny", "r1")
    assert str(verdict.why) == "The rule 'r1' forbids it: never."


def test_the_first_of_allow_and_ask_counts() -> None:
    ask, allow = Rule(decision="ask", tools=["Write"]), Rule(decision="allow", tools=["*"])
    assert says(Shelf(ask, allow), call(file_path="a")) == "ask"
    assert says(Shelf(allow, ask), call(file_path="a")) == "allow"


@pytest.mark.parametrize(
    ("approvals", "quiet", "loud"),
    [("always", "ask", "ask"), ("on_risk", "allow", "ask"), ("never", "allow", "allow"), ("deny", "deny", "deny")],
)
def test_a_profile_says_when_is_asked(approvals: str, quiet: str, loud: str) -> None:
    shelf = Shelf(coder=ProfileDefinition(driver="x", approvals=approvals))
    assert says(shelf, call("Read", "coder", file_path="a")) == quiet
    assert says(shelf, call("Bash", "coder", command="make")) == loud


def test_a_profile_that_never_asks_is_still_refused_and_still_asked_by_rules() -> None:
    rules = (Rule(decision="deny", hosts=["*.evil.example"]), Rule(decision="ask", commands=["git push **"]))
    shelf = Shelf(*rules, coder=ProfileDefinition(driver="x", approvals="never"))
    assert says(shelf, call("WebFetch", "coder", url="http://a.evil.example/")) == "deny"
    assert says(shelf, call("Bash", "coder", command="git push origin")) == "ask"


@pytest.mark.parametrize(
    ("forbids", "wanted"),
    [
        ({"may_write": False}, call("Edit", "coder", file_path="a")),
        ({"may_write": False}, call("Bash", "coder", command="echo x > a")),
        ({"may_execute": False}, call("Bash", "coder", command="ls")),
        ({"may_network": False}, call("WebFetch", "coder", url="http://a.example")),
        ({"may_network": False}, call("Bash", "coder", command="curl http://a.example")),
        ({"denied_tools": ["Ed*"]}, call("Edit", "coder", file_path="a")),
    ],
)
def test_what_a_profile_may_not_do_no_rule_allows(forbids: dict[str, Any], wanted: CallRequest) -> None:
    shelf = Shelf(Rule(decision="allow"), coder=ProfileDefinition(driver="x", approvals="never", **forbids))
    assert says(shelf, wanted) == "deny"


def test_a_run_has_no_tool_that_its_starter_did_not_give_it() -> None:
    lineage = [LineageEntry(profile=None, run="r", allowed_tools=["Read"])]
    wanted = CallRequest(tool="Grep", arguments={"pattern": "x"}, directory=HERE, lineage=lineage)
    assert says(Shelf(Rule(decision="allow")), wanted) == "deny"


def test_a_profile_that_is_gone_is_asked_about_always() -> None:
    assert says(Shelf(Rule(decision="allow")), call("Read", "gone", file_path="a")) == "ask"


def test_a_condition_that_fails_allows_nothing_and_lets_nothing_past_a_deny() -> None:
    broken = 'arguments.missing == "x"'
    assert says(Shelf(Rule(decision="allow", when=broken)), call(file_path="a")) == "ask"
    never = ProfileDefinition(driver="x", approvals="never")
    verdict = judge(Shelf(Rule(decision="deny", when=broken), p=never), call("Write", "p", file_path="a"), NOW)
    assert (verdict.decision, verdict.risk) == ("ask", "high")


def test_rules_end_and_have_their_hours() -> None:
    over = Rule(decision="allow", until=NOW)
    night = Rule(decision="allow", hours="22:00-06:00")  # NOW is 08:00 UTC
    day = Rule(decision="allow", hours="06:00-22:00", days=["fri"])
    assert [says(Shelf(rule), call(file_path="a")) for rule in (over, night, day)] == ["ask", "ask", "allow"]


def test_an_allow_by_files_covers_every_file() -> None:
    rule = Rule(decision="allow", kinds=["write"], paths=["src/**"])
    both = call("fileChange", changes=[{"path": "src/a.py"}, {"path": "other"}])
    assert says(Shelf(rule), both) == "ask"
    assert says(Shelf(rule), call("fileChange", changes=[{"path": "src/a.py"}, {"path": "src/b/c.py"}])) == "allow"
    assert says(Shelf(rule), call("Write", file_path="src/../other")) == "ask"


def test_a_pattern_over_a_commands_text_does_not_allow_what_follows_it() -> None:
    rule = Rule(decision="allow", arguments={"command": "git *"})
    assert says(Shelf(rule), call("Bash", command="git status")) == "allow"
    assert says(Shelf(rule), call("Bash", command="git status; rm x")) == "ask"


def test_a_text_that_is_too_long_to_be_searched_allows_nothing_and_slips_past_no_deny() -> None:
    long = call("Write", file_path="a", content="x" * 50_000)
    pattern = {"content": "*a*b*c*d*e*f*"}
    assert says(Shelf(Rule(decision="allow", arguments=pattern)), long) == "ask"
    never = ProfileDefinition(driver="x", approvals="never")
    shelf = Shelf(Rule(decision="deny", arguments=pattern), p=never)
    assert says(shelf, call("Write", "p", file_path="a", content="x" * 50_000)) == "ask"
    kept = build_judgement_events("jdg_1", call("Write", content="x" * 100_000), judge(Shelf(), long, NOW))[0]
    assert isinstance(kept, CallJudged)
    assert kept.wanted.arguments == {"too_large": True}


def test_one_yes_holds_for_writing_inside_in_the_same_run_only() -> None:
    shelf = Shelf()
    first = judge(shelf, call(file_path="a"), NOW)
    assert (first.decision, first.once) == ("ask", "run")
    shelf.put(GRANTS, Grant(id="g", scope="run", holder="run_1", like=first.like, words="", at=0, by="operator"))
    assert says(shelf, call(file_path="b")) == "allow"
    assert says(shelf, call(file_path="../b")) == "ask"
    assert says(shelf, call(file_path=".git/hooks/x")) == "ask"
    other = msgspec.structs.replace(call(file_path="b"), lineage=[LineageEntry(profile=None, run="run_2")])
    assert says(shelf, other) == "ask"


def _judged(number: int, wanted: CallRequest, verdict: Verdict) -> Judgement:
    return Judgement(
        id=f"j{number}",
        at=NOW - number,
        wanted=wanted,
        verdict=verdict,
        decision=verdict.decision,
        run_id="run_1",
        profile="",
        digest=verdict.digest,
    )


def test_the_same_call_again_and_again_asks() -> None:
    shelf = Shelf(Rule(decision="allow"), options=Options(loop_times=3))
    wanted = call("Bash", command="make", description="first words")
    for number in range(2):
        verdict = judge(shelf, wanted, NOW)
        assert verdict.decision == "allow"
        shelf.put(JUDGEMENTS, _judged(number, wanted, verdict))
    again = judge(shelf, call("Bash", command="make", description="other words"), NOW)
    assert (again.decision, again.rule, again.risk) == ("ask", "loop", "high")
    assert judge(shelf, wanted, NOW + 601_000).decision == "allow"


def test_who_asks_too_often_is_refused() -> None:
    shelf = Shelf(options=Options(budget=Budget(asks_per_run=2)))
    for number in range(2):
        wanted = call("Bash", command=f"make {number}")
        shelf.put(JUDGEMENTS, _judged(number, wanted, judge(shelf, wanted, NOW)))
    verdict = judge(shelf, call("Bash", command="make more"), NOW)
    assert (verdict.decision, verdict.rule) == ("deny", "budget.asks_per_run")


def test_every_call_asks_once_the_money_of_the_day_is_spent() -> None:
    shelf = Shelf(Rule(decision="allow"), options=Options(budget=Budget(usd_per_day=5.0)))
    shelf.put(DAY_COSTS, DayCost(day=format_day(NOW), usd=4.9))
    assert says(shelf, call("Read", file_path="a")) == "allow"
    shelf.put(DAY_COSTS, DayCost(day=format_day(NOW), usd=5.0))
    verdict = judge(shelf, call("Read", file_path="a"), NOW)
    assert (verdict.decision, verdict.rule) == ("ask", "budget.usd_per_day")
    assert judge(shelf, call("Read", file_path="a"), NOW + 86_400_000).decision == "allow"


def test_a_run_that_calls_too_often_asks() -> None:
    shelf = Shelf(Rule(decision="allow"), options=Options(budget=Budget(calls_per_run=2)))
    for number in range(2):
        wanted = call("Read", file_path=f"a{number}")
        shelf.put(JUDGEMENTS, _judged(number, wanted, judge(shelf, wanted, NOW)))
    assert judge(shelf, call("Read", file_path="b"), NOW).rule == "budget.calls_per_run"


_words = some.sampled_from(
    ["Bash", "Read", "Write", "WebFetch", "Edit", "mcp__x__y", "a.py", "/etc/x", "../x", "src/a", "git status", "rm x"]
)
_json = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False) | some.text(max_size=30) | _words,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
_arguments = some.fixed_dictionaries(
    {}, optional={"command": _words | some.text(max_size=40), "file_path": _words, "url": some.text(max_size=20)}
)
_rules = some.lists(
    some.builds(
        Rule,
        decision=some.sampled_from(["allow", "deny", "ask"]),
        tools=some.lists(some.sampled_from(["*", "Bash", "Read", "W*"]), max_size=2),
        kinds=some.lists(some.sampled_from(["read", "write", "execute", "network", "other"]), max_size=2),
        paths=some.lists(some.sampled_from(["src/**", "/etc/*", "*"]), max_size=1),
        where=some.sampled_from(["any", "inside", "outside"]),
        commands=some.lists(some.sampled_from(["git status", "rm **", "git *"]), max_size=2),
        profiles=some.lists(some.sampled_from(["p0", "p*", "p2"]), max_size=2),
        min_depth=some.none() | some.integers(0, 2),
        max_depth=some.none() | some.integers(0, 2),
        when=some.sampled_from(["", "", "depth > 0", 'profile == "p1"', 'arguments.x == "y"']),
        threads=some.lists(some.sampled_from(["t0", "t1"]), max_size=1),
        once=some.just(""),
    ),
    max_size=6,
)
_definitions = some.builds(
    ProfileDefinition,
    driver=some.just("x"),
    approvals=some.sampled_from(["always", "on_risk", "never", "deny"]),
    allowed_tools=some.lists(some.sampled_from(["Bash", "*", "Read"]), max_size=1),
    denied_tools=some.lists(some.sampled_from(["Bash", "Wri*"]), max_size=1),
    may_write=some.booleans(),
    may_network=some.booleans(),
    may_execute=some.booleans(),
)
_lines = some.lists(
    some.builds(
        LineageEntry,
        profile=some.sampled_from(["p0", "p1", "p2", None, "gone"]),
        depth=some.integers(0, 3),
        thread=some.sampled_from(["t0", "t1", None]),
        allowed_tools=some.none() | some.lists(some.sampled_from(["Bash", "Read", "*"]), max_size=2),
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=400, deadline=None)
@given(_rules, some.tuples(_definitions, _definitions, _definitions), _words, _arguments, _lines)
def test_no_rules_give_a_child_what_its_parent_may_not_do(
    rules: list[Rule],
    profiles: tuple[ProfileDefinition, ...],
    tool: str,
    arguments: dict[str, Any],
    line: list[LineageEntry],
) -> None:
    """AP-15"""
    shelf = Shelf(*rules, options=Options(loop_times=0), p0=profiles[0], p1=profiles[1], p2=profiles[2])
    own = judge(shelf, CallRequest(tool=tool, arguments=arguments, directory=HERE, lineage=line), NOW)
    for number in range(1, len(line)):
        above = judge(shelf, CallRequest(tool=tool, arguments=arguments, directory=HERE, lineage=line[number:]), NOW)
        assert STRICTNESS[own.decision] >= STRICTNESS[above.decision]


@settings(max_examples=300, deadline=None)
@given(_rules, _definitions, _words, _arguments)
def test_a_deny_that_fits_wins_whatever_else_there_is(
    rules: list[Rule], profile: ProfileDefinition, tool: str, arguments: dict[str, Any]
) -> None:
    wanted = call(tool, "p0", **arguments)
    everything = [Rule(decision="deny"), *rules]
    for place in range(len(everything)):
        mixed = [*rules[:place], Rule(decision="deny"), *rules[place:]]
        assert says(Shelf(*mixed, p0=profile), wanted) == "deny"


@settings(max_examples=400, deadline=None)
@given(some.text(max_size=60) | _words, _json, some.none() | some.text(max_size=20))
def test_no_input_makes_the_judge_allow_by_error(tool: str, arguments: Any, directory: str | None) -> None:
    wanted = CallRequest(tool=tool, arguments=arguments, directory=directory)
    verdict = judge(Shelf(), wanted, NOW)
    assert verdict.decision in STRICTNESS
    assert verdict.decision != "allow" or verdict.rule.startswith("default.")
    refusing = judge(Shelf(Rule(decision="deny")), wanted, NOW)
    assert refusing.decision == "deny"


def test_what_strangers_have_said_makes_a_call_riskier_for_the_run_and_all_below_it() -> None:
    """B.7: taint raises the risk by one level."""
    written = call("Write", file_path="a.py")
    plain = judge(Shelf(), written, NOW)
    told = [LineageEntry(profile=None, run="run_1"), LineageEntry(profile=None, run="run_0", taint="a webhook")]
    tainted = judge(Shelf(), msgspec.structs.replace(written, lineage=told), NOW)
    assert (plain.decision, plain.risk, tainted.decision, tainted.risk) == ("ask", "medium", "ask", "high")
    assert "comes from a webhook" in str(tainted.why)
    assert (str(plain.like_words), str(tainted.like_words)) == ("writing in the working directory", "exactly this call")
    reading = msgspec.structs.replace(call("Read", file_path="a.py"), lineage=told)
    assert (judge(Shelf(), reading, NOW).decision, judge(Shelf(), reading, NOW).risk) == ("allow", "medium")


def test_an_error_inside_the_judge_refuses() -> None:
    class Broken(Shelf):
        def get(self, *_: Any) -> Any:
            raise RuntimeError("the database is gone")

    verdict = judge(Broken(), call(file_path="a"), NOW)
    assert (verdict.decision, verdict.rule) == ("deny", "error")


@pytest.mark.parametrize(
    "path",
    [
        *(
            ".GIT/hooks/pre-commit",
            ".git",
            "sub/.git/config",
            ".cursor/mcp.json",
            ".npmrc",
            "sub/.npmrc",
            ".yarnrc.yml",
        ),
        *(".devcontainer/devcontainer.json", "CLAUDE.md", "sub/deep/CLAUDE.md", "sub/claude.MD", "CLAUDE.local.md"),
        *("AGENTS.md", "x/AGENTS.override.md", "GEMINI.md", ".agents/skills/a/SKILL.md", ".claude/settings.json"),
        *(".mcp.json", ".vscode/tasks.json", ".envrc", ".husky/pre-push", ".github/workflows/ci.yml", "mise.toml"),
        *(".github/instructions/a.instructions.md", ".pre-commit-config.yaml", "opencode.json", ".gitlab-ci.yml"),
    ],
)
def test_a_trusted_repository_does_not_let_agents_write_what_changes_their_rights(path: str) -> None:
    template = get_template("trusted-repo")
    assert template is not None
    trusted = Shelf(*(rule for _, rule in template.rules))
    assert says(trusted, call("Write", file_path="src/a.py")) == "allow"
    verdict = judge(trusted, call("Write", file_path=path), NOW)
    assert (verdict.decision, verdict.risk) == ("ask", "high")
