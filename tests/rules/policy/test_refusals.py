"""Each refusal of the rules of policies and MCP servers, by its code and over REST."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.doors.rest.refusals import Case, assert_refused, describe_case
from tests.doors.rest.rest_rig import Rest, code_of

CASES = [
    Case("bad_rule", 400, "PUT", "/api/policy/rules/x", {"rule": {"decision": "allow", "when": "(("}}),
    Case("bad_rule", 400, "POST", "/api/policy/try", {"rule": {"decision": "allow", "when": "(("}}),
    Case("rule_not_found", 404, "DELETE", "/api/policy/rules/none"),
    Case("grant_not_found", 404, "DELETE", "/api/policy/grants/grt_none"),
    Case("server_not_found", 404, "GET", "/api/servers/none"),
    Case("server_not_found", 404, "POST", "/api/servers/boook/accept", {"tools": {}}),
    Case("tool_not_found", 404, "POST", "/api/servers/book/accept", {"tools": {"none": None}}),
    Case("bad_profile", 400, "POST", "/api/profiles", {"profiles": {"x": {"driver": 3}}}),
]


@pytest.fixture(scope="module")
def rest(shared_hub: HubProcess) -> Iterator[Rest]:
    with Rest(shared_hub) as rest:
        made = rest.operator.put("/api/servers/book", json={"command": ["true"], "enabled": False})
        assert made.status_code == 200, made.text
        yield rest


@pytest.mark.parametrize("case", CASES, ids=describe_case)
def test_a_wrong_request_is_refused_by_its_code(rest: Rest, case: Case) -> None:
    assert_refused(rest.operator, {}, case)


def test_a_policy_has_a_bounded_number_of_rules(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    rules = "".join(f'[[rules]]\nname = "r{number}"\ndecision = "ask"\ntools = ["t"]\n' for number in range(5000))
    (data / "policy.toml").write_text(rules)
    with HubProcess(data) as hub, Rest(hub) as rest:
        more = rest.operator.put("/api/policy/rules/more", json={"rule": {"decision": "ask"}})
    assert code_of(more) == (429, "too_many_rules")
