"""What stands beside a command or in a patch counts: no rule and no grant reaches further than its call."""

from typing import Any

import pytest

from greenroom.link.policy_facts.call_request import CallRequest
from greenroom.rules.policy.judge import judge
from greenroom.rules.policy.model import Judgement, Rule
from greenroom.rules.policy.remembered_rule import RuleChoice, build_remembered_rule
from greenroom.runtimes.call_facts import read_call_facts
from tests.rules.policy.shelf import NOW, Shelf

HERE = "/w/project"


def want(tool: str, arguments: Any, directory: str = HERE, resolved: dict[str, str] | None = None) -> CallRequest:
    return CallRequest(tool=tool, arguments=arguments, directory=directory, resolved=resolved or {})


def remember(wanted: CallRequest) -> Rule:
    """The rule that a yes to this call makes when nobody chooses anything."""
    verdict = judge(Shelf(), wanted, NOW)
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
    return build_remembered_rule(past, "allow", RuleChoice(), NOW).rule


@pytest.mark.parametrize("first", ["cd sub", "pushd sub", "cd /elsewhere", "builtin cd sub", "cd sub >/dev/null"])
@pytest.mark.parametrize("then", ["rm -rf data", "make clean"])
def test_what_was_allowed_after_a_change_of_directory_is_not_allowed_without_it(first: str, then: str) -> None:
    asked = want("Bash", {"command": f"{first} && {then}"})
    shelf = Shelf(remember(asked))
    assert judge(shelf, asked, NOW).decision == "allow"
    for other in (then, f"{then}; {first}", f"cd .. && {then}", f"({first}; {then})"):
        assert judge(shelf, want("Bash", {"command": other}), NOW).decision == "ask", other
    assert judge(shelf, want("Bash", asked.arguments, "/w/other"), NOW).decision == "ask"


@pytest.mark.parametrize(
    "beside",
    [
        {"workdir": "/w"},
        {"dir": "/w"},
        {"path": "sub"},
        {"root": "/w"},
        {"working_dir": "/w"},
        {"workdir": HERE, "dir": "/w"},
        {"dangerouslyDisableSandbox": True},
        {"sandbox_permissions": "require_escalated"},
        {"with_escalated_permissions": True},
    ],
)
def test_a_remembered_command_is_not_allowed_elsewhere_or_with_fewer_limits(beside: dict[str, Any]) -> None:
    asked = want("Bash", {"command": "make all"})
    shelf = Shelf(remember(asked))
    assert judge(shelf, asked, NOW).decision == "allow"
    wider = want("Bash", {"command": "make all", **beside})
    assert judge(shelf, wider, NOW).decision == "ask"
    assert judge(Shelf(), want("Bash", {"command": "ls", **beside}), NOW).decision == "ask"
    assert judge(Shelf(remember(wider)), wider, NOW).decision == "allow"  # by itself it can be remembered


@pytest.mark.parametrize(
    "header",
    [
        "***Update File:../../../x",
        "  *** Update File: ../../../x",
        "***\tAdd File :../../../x",
        "*** Delete File:../../../x",
        "*** Move to:../../../x",
        "*** Rename File: ../../../x",
        "*** Copy to: ../../../x",
        "\u00a0***\u00a0Add File: ../../../x",
    ],
)
@pytest.mark.parametrize("before", ["", "*** Add File: a.txt\n+words\n", "*** Add File: a.txt\r\n+words\r\n"])
def test_no_header_of_a_patch_is_overlooked(header: str, before: str) -> None:
    wanted = want("apply_patch", {"input": f"*** Begin Patch\n{before}{header}\n*** End Patch"})
    assert "/x" in [file.full for file in read_call_facts(wanted).files]
    assert judge(Shelf(), wanted, NOW).rule == "default.write_outside"


@pytest.mark.parametrize(
    "header",
    [
        "--- a/../../../x",
        "+++../../../x",
        '+++ "b/../../../x"',
        "rename to ../../../x",
        "Index: ../../../x",
        "diff --git a/../../../x b/../../../x\nold mode 100644",
        'diff --git "a/../../../x" "b/../../../x"\nold mode 100644',
    ],
)
def test_no_header_of_a_diff_is_overlooked(header: str) -> None:
    wanted = want("patch", {"patch": f"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+y\n{header}\n"})
    assert judge(Shelf(), wanted, NOW).rule == "default.write_outside"


@pytest.mark.parametrize("name", ["directory", "cwd", "workdir", "working_directory", "workingDirectory", "base_dir"])
def test_a_directory_beside_a_file_counts_with_where_it_leads(name: str) -> None:
    wanted = want("Write", {"file_path": "a.txt", "content": "x", "cwd": ".", name: "link"}, resolved={"link": "/etc"})
    assert judge(Shelf(), wanted, NOW).rule == "default.write_outside"
