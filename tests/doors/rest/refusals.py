"""Requests that are refused, as rows of tables: each names the code that it causes."""

from typing import Any, NamedTuple

import httpx

from tests.doors.rest.rest_rig import code_of


class Case(NamedTuple):
    """A request that is refused; `{thread}` and such stand for what the test has made."""

    code: str
    status: int
    method: str
    path: str
    body: Any = None


def fill(value: Any, known: dict[str, str]) -> Any:
    """The value with what its placeholders stand for."""
    match value:
        case str():
            for name, meant in known.items():
                value = value.replace(f"{{{name}}}", meant)
            return value
        case dict():
            return {name: fill(inner, known) for name, inner in value.items()}
        case _:
            return value


def describe_case(case: Case) -> str:
    return f"{case.code} {case.method} {case.path}"


def assert_refused(client: httpx.Client, known: dict[str, str], case: Case) -> None:
    answer = client.request(case.method, fill(case.path, known), json=fill(case.body, known))
    assert code_of(answer) == (case.status, case.code), answer.text
