"""Calls that look harmless: each was once let through, or shows one thing and does another."""

from typing import Any

import msgspec
import pytest

from greenroom.link.policy_facts.call_request import CallRequest, LineageEntry
from greenroom.link.policy_facts.hosts import parse_host
from greenroom.rules.policy.events import GrantGiven
from greenroom.rules.policy.globs import Glob
from greenroom.rules.policy.judge import judge
from greenroom.rules.policy.model import GRANTS, Decision, Grant, Judgement, Rule, Verdict
from greenroom.rules.policy.remembered_rule import RuleChoice, build_remembered_rule
from greenroom.runtimes.call_facts import read_call_facts
from tests.rules.policy.shelf import NOW, Shelf

HERE = "/w/project"


def said(tool: str, arguments: Any, *rules: Rule, resolved: dict[str, str] | None = None) -> Verdict:
    return judge(
        Shelf(*rules), CallRequest(tool=tool, arguments=arguments, directory=HERE, resolved=resolved or {}), NOW
    )


@pytest.mark.parametrize(
    "text",
    [
        "BASH_ENV=./evil.sh bash -c ls",
        "PATH=./evil; bash -c ls",
        "/bin/../w/project/bash -c ls",
        "/usr/bin/../../w/project/sh -lc 'cat README.md'",
        "printf -v PATH ./evil && ls",
        "printf -v PATH %s ./evil; ls",
        "tree -o AGENTS.md",
        "tree -R -H . -L 1",
        "strings @/etc/shadow",
        "grep -R password .",
        "grep --dereference-recursive password .",
        "rg -L password",
        "diff -r a b",
        "diff -l a b",
        "sha256sum -c list",
        "date 010112002030",
        "cat /proc/self/task/1/environ",
    ],
)
def test_a_command_that_only_seems_to_read_asks(text: str) -> None:
    assert said("Bash", {"command": text}).decision != "allow"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("exec_command", {"command": "ls", "cmd": "rm -rf ."}),
        ("Bash", {"script": "rm -rf .", "command": "ls"}),
        ("Bash", {"command": "ls", "args": ["; rm"]}),
        ("Bash", {"command": "ls", "env": {"LD_PRELOAD": "./evil.so"}}),
        ("exec_command", {"cmd": "ls", "shell": "./evil.sh"}),
        ("Bash", {"command": "cat", "stdin": "x"}),
        ("run_shell_command", {"command": "cat passwd", "dir_path": "/etc"}),
        ("shell", {"command": ["cat", "passwd"], "working_directory": "/etc"}),
        ("powershell", {"command": "cat a,C:/Users/me/.ssh/id_rsa"}),
        ("write_bash", {"input": "rm -rf .\n", "sessionId": "1"}),
        ("Read", {"file_path": "a.txt", "include": ["/etc/passwd"]}),
        ("read_many_files", {"path": "a.txt", "include": ["link/passwd"]}),
        ("Read", {"file_path": "a.txt", "other": "../../etc/passwd"}),
        ("Read", {"file_path": "a.txt", "more": [{"name": "~/.netrc"}]}),
        ("Glob", {"pattern": "{/etc/*,x}"}),
        ("Glob", {"pattern": "x/{a,../../b}/*"}),
        ("search", {"title": "grep for keys in /etc"}),
        ("Write", {"command": "ls", "file_path": "a.txt", "content": "x"}),
        ("edit", {"command": ["ls"], "path": "a.txt", "diff": "x"}),
        ("WebFetch", {"command": "ls", "url": "https://evil.example"}),
        ("Read", {"command": "ls", "file_path": "/etc/passwd"}),
        ("Bash", {"command": "ls", "cwd": ".", "workdir": "/etc"}),
        ("Grep", {"pattern": "KEY", "glob": "**/.env*"}),
        ("Grep", {"pattern": "KEY", "glob": "{a,.env}"}),
        ("Glob", {"pattern": "**/*.pem"}),
        ("read_many_files", {"path": ".", "include": ["**/.[e]nv"]}),
        ("apply_patch", {"input": "***Update File:../../x\n"}),
        ("mcp__robot__do", {"command": "true"}),
        ("other:robot-do", {"script": "ls", "target": "all"}),
        ("think", {"command": "true"}),
    ],
)
def test_an_argument_beside_the_one_that_is_looked_at_changes_nothing_unseen(tool: str, arguments: Any) -> None:
    resolved = {"link/passwd": "/etc/passwd"}
    assert said(tool, arguments, resolved=resolved).decision != "allow"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Grep", {"pattern": "/api/v1", "path": "src", "glob": "**/*.py", "output_mode": "content"}),
        ("Glob", {"pattern": "**/*.{ts,tsx}"}),
        ("Read", {"file_path": "src/a.py", "pages": "1-5"}),
        ("LS", {}),
        ("Bash", {"command": "ls src", "description": "look at /etc", "timeout": 5, "run_in_background": False}),
        ("Bash", {"command": "cat a.txt", "workdir": HERE}),
        ("commandExecution", {"command": "/bin/bash -lc 'ls src'", "cwd": HERE}),
        ("read", {"command": ["bash", "-lc", "cat src/a.py"], "path": "src/a.py"}),
    ],
)
def test_what_is_harmless_is_still_quiet(tool: str, arguments: Any) -> None:
    assert said(tool, arguments).decision == "allow"


def test_a_link_behind_two_hundred_decoys_is_not_taken_for_what_it_says() -> None:
    names = [f"f{number}" for number in range(201)]
    assert said("read_many_files", {"paths": names[:200]}).decision == "allow"
    verdict = said("read_many_files", {"paths": names})
    assert (verdict.decision, verdict.rule) == ("ask", "default.uninspectable")


@pytest.mark.parametrize("name", ["cwd", "workdir", "directory", "dir_path", "working_directory"])
def test_an_always_for_a_command_holds_in_the_agents_own_directory(name: str) -> None:
    """AP-17"""
    rule = Rule(decision="allow", commands=["git status"])
    assert said("Bash", {"command": "git status", name: "."}, rule).decision == "allow"
    assert said("Bash", {"command": "git status", name: "vendored"}, rule).decision == "ask"
    moved = {"sub/..": "/elsewhere"}
    assert said("Bash", {"command": "git status", name: "sub/.."}, rule, resolved=moved).decision == "ask"


def _with_grant(verdict: Verdict, wanted: CallRequest) -> Verdict:
    shelf = Shelf()
    given = GrantGiven(grant_id="grt_1", scope="run", holder="run_1", like=verdict.like, words="", ask_id=None)
    fields = {name: getattr(given, name) for name in ("scope", "holder", "like", "words")}
    shelf.put(GRANTS, Grant(id="grt_1", at=NOW, by="operator", **fields))
    return judge(shelf, wanted, NOW)


def test_a_yes_for_a_run_does_not_follow_a_link_that_was_swapped() -> None:
    first = CallRequest(
        tool="Write",
        arguments={"file_path": "notes/.env", "content": "x"},
        directory=HERE,
        lineage=[LineageEntry(profile=None, run="run_1")],
    )
    verdict = judge(Shelf(), first, NOW)
    assert verdict.decision == "ask"
    assert _with_grant(verdict, first).decision == "allow"
    swapped = msgspec.structs.replace(first, resolved={"notes/.env": "/home/me/.env"})
    assert _with_grant(verdict, swapped).decision == "ask"


def test_a_yes_for_a_command_told_in_words_holds_for_those_words() -> None:
    lineage = [LineageEntry(profile=None, run="run_1")]
    first = CallRequest(tool="execute", arguments={"title": "ls", "content": []}, directory=HERE, lineage=lineage)
    verdict = judge(Shelf(), first, NOW)
    other = msgspec.structs.replace(first, arguments={"title": "rm -rf .", "content": []})
    assert _with_grant(verdict, first).decision == "allow"
    assert _with_grant(verdict, other).decision == "ask"


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("https://a.example/x", "a.example"),
        ("HTTPS://A.Example:443/x", "a.example"),
        ("https://a.example./", "a.example"),
        ("a.example/x", "a.example"),
        ("a.example:8080", "a.example"),
        ("https://user:word@a.example/", "a.example"),
        ("https://good.example@evil.example/", "evil.example"),
        ("http://2130706433/", "127.0.0.1"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://0177.0.0.1/", "127.0.0.1"),
        ("http://127.1/", "127.0.0.1"),
        ("http://[::1]:80/", "::1"),
        ("http://[0:0:0:0:0:0:0:1]/", "::1"),
        ("http://[::ffff:127.0.0.1]/", "127.0.0.1"),
        ("https://evil.example\\@good.example/", None),
        ("https://evil.example\\.good.example/", None),
        ("https:evil.example", None),
        ("https:///evil.example", None),
        ("https:/\\evil.example", None),
        ("https://ｅvil.example/", None),
        ("https://%65vil.example/", None),
        ("https://evil.example%00.good.example/", None),
        ("https://a@b@good.example/", None),
        ("https://good.example:80@/", None),
        ("https://good.example:port/", None),
        ("http://1.2.3.4.5/", None),
        ("http://256.1.1.1/", None),
        ("http://[::1%25eth0]/", None),
        ("https://", None),
        ("//evil.example/", None),
        ("", None),
    ],
)
def test_an_address_leads_to_one_host_or_it_is_not_told(text: str, host: str | None) -> None:
    assert parse_host(text) == host


GOOD = Rule(decision="allow", hosts=["good.example", "*.good.example"])
NO_LOOPBACK = Rule(decision="deny", hosts=["127.*", "localhost", "::1"])


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example\\@good.example/",
        "https://evil.example\\.good.example/",
        "https://good.example@evil.example/",
        "https:evil.example",
        "https://good.example.evil.example/",
        "https://evil.example#@good.example/",
        "https://evil.example?.good.example",
    ],
)
def test_an_address_that_only_looks_allowed_asks(url: str) -> None:
    assert said("WebFetch", {"url": "https://good.example/"}, GOOD).decision == "allow"
    assert said("WebFetch", {"url": url, "prompt": "read it"}, GOOD).decision == "ask"
    assert said("WebFetch", {"urls": ["https://good.example/", url]}, GOOD).decision == "ask"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://2130706433/", "http://127.1/", "http://[::ffff:7f00:1]/", "http://localhost./"]
)
def test_a_forbidden_machine_has_no_other_name(url: str) -> None:
    assert said("WebFetch", {"url": url}, NO_LOOPBACK).decision == "deny"
    assert said("Bash", {"command": f"curl '{url}'"}, NO_LOOPBACK).decision == "deny"


@pytest.mark.parametrize(
    "words",
    [
        "good.example 2130706433",
        "good.example evil",
        "--connect-to ::evil.example: https://good.example/",
        "--proxy=evil:80 https://good.example/",
        "-L https://good.example/",
        "-K config https://good.example/",
    ],
)
def test_a_program_that_may_go_elsewhere_is_not_allowed_by_one_host(words: str) -> None:
    rule = Rule(decision="allow", commands=["curl **"], hosts=["good.example"])
    assert said("Bash", {"command": "curl -s https://good.example/x"}, rule).decision == "allow"
    assert said("Bash", {"command": f"curl {words}"}, rule).decision == "ask"


def test_hosts_of_a_command_are_told_with_what_is_not_known() -> None:
    facts = read_call_facts(CallRequest(tool="Bash", arguments={"command": "scp -P 22 a me@b.example:/c"}))
    assert (facts.hosts, facts.has_unknown_hosts) == (("b.example",), True)


@pytest.mark.parametrize("text", ["a" * 20_000, "ab" * 10_000, "/a" * 10_000])
def test_no_text_makes_a_pattern_take_for_ever(text: str) -> None:
    assert not Glob("*a*a*a*a*a*a*a*a*a*a*b*c").fits(text)
    assert not Glob("**/*a*/**/*a*a*a*/**/*a*a*b*c", separate="/").fits(text)


@pytest.mark.parametrize(
    ("glob", "text", "fits"),
    [
        ("", "", True),
        ("*", "", True),
        ("a*b*c", "a--b--c", True),
        ("a*b*c", "acb", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("*ab", "aab", True),
        ("*aab", "aaab", True),
        ("\\*", "*", True),
        ("\\*", "x", False),
        ("a\\", "a\\", True),
        ("a*", "a\nb", True),
        ("***", "x", True),
    ],
)
def test_a_pattern_stands_for_the_whole_text(glob: str, text: str, fits: bool) -> None:
    assert Glob(glob).fits(text) is fits


@pytest.mark.parametrize(
    ("glob", "text", "fits"),
    [
        ("src/*", "src/a", True),
        ("src/*", "src/a/b", False),
        ("src/**", "src/a/b", True),
        ("**/x", "a/b/x", True),
        ("**/*.py", "a/b.py", True),
        ("*.py", "a/b.py", False),
        ("a?b", "a/b", False),
        ("**/a*b/**", "x/a/b/ab/y", True),
        ("a/***", "a/b/c", True),
    ],
)
def test_a_star_stops_at_a_slash_and_two_do_not(glob: str, text: str, fits: bool) -> None:
    assert Glob(glob, separate="/").fits(text) is fits


@pytest.mark.parametrize(
    "beside", [{"cmd": "rm -rf ."}, {"env": {"BASH_ENV": "x"}}, {"args": ["; rm"]}, {"workdir": "/elsewhere"}]
)
def test_a_rule_over_a_commands_text_allows_nothing_that_stands_beside_it(beside: dict[str, Any]) -> None:
    rule = Rule(decision="allow", tools=["Bash"], arguments={"command": "git status"})
    assert said("Bash", {"command": "git status"}, rule).decision == "allow"
    assert said("Bash", {"command": "git status", **beside}, rule).decision == "ask"


@pytest.mark.parametrize(
    ("tool", "asked", "other"),
    [
        ("shell", {"command": ["sh", "-c", "make $X"], "cwd": HERE}, {"command": ["rm", "-rf", "."], "cwd": HERE}),
        ("Bash", {"command": "make $X", "description": "build"}, {"command": "rm $X", "description": "build"}),
        ("Bash", {"command": "ls", "env": {"A": "1"}}, {"command": "ls", "env": {"LD_PRELOAD": "x"}}),
        ("WebFetch", {"url": "https://a\\@b.example/"}, {"url": "https://c\\@b.example/"}),
        ("WebFetch", {"urls": ["https://a\\@b.example/", "https://b.example"]}, {"urls": ["https://b.example"]}),
        ("other_tool", {"paths.all": ["a"], "command": "x y", "n": 1}, {"paths.all": ["b"], "command": "x y", "n": 1}),
    ],
)
def test_what_is_remembered_is_the_call_and_no_other(tool: str, asked: Any, other: Any) -> None:
    """AP-17"""
    wanted = CallRequest(tool=tool, arguments=asked, directory=HERE)
    verdict = judge(Shelf(), wanted, NOW)
    assert verdict.decision == "ask"
    rule, refusal = remembered(wanted, verdict, "allow"), remembered(wanted, verdict, "deny")
    assert judge(Shelf(rule), wanted, NOW).decision == "allow", "it is about that call"
    assert said(tool, other, rule).decision == "ask"
    assert judge(Shelf(refusal), wanted, NOW).decision == "deny"


@pytest.mark.parametrize(
    ("asked", "others"),
    [
        ("cd sub && rm -rf data", ["rm -rf data", "cd sub", "rm -rf data && cd sub", "cd other && rm -rf data"]),
        ("touch a; touch b", ["touch a", "touch b; touch a"]),
        ("X=1 make d", ["make d", "X=2 make d"]),
        ("make d > log", ["make d", "make d > other"]),
        ("make d", ["make", "make d e", "make d -C /", "make d && make e"]),
        ("rm -rf data", ["rm -rf data /", "rm -rf"]),
        ("cp a 'b c'", ["cp a b c", "cp a 'b  c'"]),
        ("make $TARGET", ["make $OTHER", "TARGET=x make $TARGET"]),
    ],
)
def test_a_remembered_command_is_that_line_in_that_folder(asked: str, others: list[str]) -> None:
    """AP-17"""
    wanted = CallRequest(tool="Bash", arguments={"command": asked, "description": "x"}, directory=HERE)
    rule = remembered(wanted, judge(Shelf(), wanted, NOW), "allow")
    assert said("Bash", {"command": asked}, rule).decision == "allow"
    for other in others:
        assert said("Bash", {"command": other}, rule).decision == "ask", other
    elsewhere = msgspec.structs.replace(wanted, directory="/w/other")
    assert judge(Shelf(rule), elsewhere, NOW).decision == "ask"
    linked = msgspec.structs.replace(wanted, resolved={word: f"/etc/{word}" for word in asked.split()})
    moved = judge(Shelf(rule), linked, NOW)
    assert moved.decision == "ask" or not read_call_facts(linked).files, "links lead elsewhere than they did"


def remembered(wanted: CallRequest, verdict: Verdict, decision: Decision) -> Rule:
    past = Judgement(
        id="jdg_1",
        at=NOW,
        wanted=wanted,
        verdict=verdict,
        decision=verdict.decision,
        run_id="",
        profile="",
        digest=verdict.digest,
    )
    return build_remembered_rule(past, decision, RuleChoice(), NOW).rule


def test_an_allow_for_a_command_covers_no_tool_of_which_nobody_knows_what_it_makes_of_the_words() -> None:
    call = {"command": "git status", "target": "all"}
    rule = Rule(decision="allow", commands=["git status"])
    assert said("Bash", {"command": "git status"}, rule).decision == "allow"
    assert said("mcp__robot__do", call, rule).decision == "ask"
    assert said("mcp__robot__do", call, Rule(decision="allow", kinds=["execute"])).decision == "ask"
    assert said("mcp__robot__do", call, msgspec.structs.replace(rule, tools=["mcp__robot__*"])).decision == "allow"
    assert said("Write", {"file_path": "a", **call}, rule).decision == "ask"
    assert said("Write", {"file_path": "a", **call}, Rule(decision="deny", commands=["git **"])).decision == "deny"
    assert said("mcp__robot__do", call, Rule(decision="deny", commands=["git **"])).decision == "deny"


def test_an_editor_whose_word_for_what_it_does_is_a_command_writes() -> None:
    verdict = said("str_replace_editor", {"command": "create", "path": "a.txt", "file_text": "x"})
    assert (verdict.rule, verdict.once) == ("default.write", "run")


@pytest.mark.parametrize(
    "tool",
    [
        "mcp__greenroom__notes_write",
        "mcp__greenroom__notes__write",
        "mcp__greenroom__msg_post_all",
        "mcp__greenroom__",
        "greenroom_notes_write",
        "greenroom.evil",
        "greenroom-msg_post",
    ],
)
def test_a_server_whose_name_begins_as_the_hubs_passes_for_nothing_of_the_hub(tool: str) -> None:
    assert said("mcp__greenroom__msg_post", {"content": "x"}).rule == "default.hub"
    assert said(tool, {"content": "x"}).rule == "default.unknown"
