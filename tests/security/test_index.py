"""Every case of approvals in the trust model has a test that bears its number, in its name or in its first words."""

import ast
import re

import pytest

from tests import ROOT

TESTS = ROOT / "tests"
CASES = [f"AP-{number:02}" for number in (*range(1, 14), 15, 17, 20, 21, 22, 24)]
_CASE = re.compile(r"\b(AP)[-_](\d\d)(?!\d)", re.IGNORECASE)


def found() -> dict[str, list[str]]:
    """The tests of each case."""
    tests: dict[str, list[str]] = {}
    for file in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                said = f"{node.name.replace('_', '-')} {ast.get_docstring(node) or ''}"
                for group, number in _CASE.findall(said):
                    tests.setdefault(f"{group.upper()}-{number}", []).append(f"{file.name}::{node.name}")
    return tests


@pytest.mark.parametrize("case", CASES)
def test_each_case_has_a_test(case: str) -> None:
    assert found().get(case), f"no test names {case}"


def test_no_test_names_a_case_that_does_not_exist() -> None:
    assert set(found()) == set(CASES)
