"""Each refusal of the rules of workflows and their triggers, by its code and over REST."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.doors.rest.refusals import Case, assert_refused, describe_case
from tests.doors.rest.rest_rig import Rest, code_of

PLAIN = {"name": "plain", "steps": [{"id": "a", "set": {}}]}
HELD = {
    "name": "held",
    "inputs": {"count": "number"},
    "steps": [{"id": "hold", "wait": {"webhook": "never"}}, {"id": "then", "set": {}, "dependencies": ["hold"]}],
}
OUTER = {"name": "outer", "steps": [{"id": "inner", "workflow": "plain"}]}
TRIGGERED = {
    **PLAIN,
    "name": "triggered",
    "triggers": [{"id": "off", "webhook": True, "enabled": False}],
}
CASES = [
    Case("workflow_missing", 400, "PUT", "/api/workflows/plain", {}),
    Case("wrong_name", 400, "PUT", "/api/workflows/other", {"definition": PLAIN}),
    Case("workflow_not_found", 404, "GET", "/api/workflows/none"),
    Case("workflow_not_found", 404, "GET", "/api/workflows/plane"),
    Case("workflow_run_not_found", 404, "GET", "/api/workflow-runs/wfr_none"),
    Case("bad_input", 400, "POST", "/api/workflow-runs", {"workflow": "held"}),
    Case("bad_input", 400, "POST", "/api/workflow-runs", {"workflow": "held", "inputs": {"count": "many"}}),
    Case("bad_input", 400, "POST", "/api/workflow-runs", {"workflow": "held", "inputs": {"none": 1}}),
    Case("workflow_over", 409, "POST", "/api/workflow-runs/{ended}/pause", {}),
    Case("workflow_over", 409, "POST", "/api/workflow-runs/{ended}/resume", {}),
    Case("workflow_at_work", 409, "POST", "/api/workflow-runs/{waiting}/retry", {}),
    Case("nothing_to_retry", 400, "POST", "/api/workflow-runs/{ended}/retry", {}),
    Case("nested_run", 409, "POST", "/api/workflow-runs/{nested}/retry", {"step": "a"}),
    Case("nested_run", 409, "POST", "/api/workflow-runs/{nested}/amend", {"step": "a", "changes": {}}),
    Case("step_not_found", 404, "POST", "/api/workflow-runs/{ended}/retry", {"step": "none"}),
    Case("step_not_found", 404, "POST", "/api/workflow-runs/{waiting}/amend", {"step": "none", "changes": {}}),
    Case("step_begun", 409, "POST", "/api/workflow-runs/{waiting}/amend", {"step": "hold", "changes": {}}),
    Case("bad_amendment", 400, "POST", "/api/workflow-runs/{waiting}/amend", {"step": "then", "changes": {"id": "x"}}),
    Case("bad_amendment", 400, "POST", "/api/workflow-runs/{waiting}/amend", {"step": "then", "changes": {"set": 3}}),
    Case("not_waiting", 409, "POST", "/api/workflow-runs/{waiting}/signal", {"step": "then"}),
    Case("trigger_not_found", 404, "POST", "/api/triggers/trg_none/arm"),
    Case("trigger_off", 400, "POST", "/api/triggers/{trigger}/arm"),
    Case("wrong_signature", 401, "POST", "/api/triggers/{trigger}", {}),
]


@pytest.fixture(scope="module")
def rest(shared_hub: HubProcess) -> Iterator[Rest]:
    with Rest(shared_hub) as rest:
        yield rest


@pytest.fixture(scope="module")
def known(rest: Rest) -> dict[str, str]:
    """Runs that are over, that wait and that are steps of others, and a trigger that is switched off."""
    api = rest.operator
    for definition in (PLAIN, HELD, OUTER, TRIGGERED):
        api.put(f"/api/workflows/{definition['name']}", json={"definition": definition}).raise_for_status()
    ended, outer = start(api, "plain"), start(api, "outer")
    waiting = start(api, "held", count=1)
    for run_id in (ended, outer):
        over = api.get(f"/api/workflow-runs/{run_id}/wait", params={"for_s": WAIT_S}).json()
        assert over["status"] == "completed", over
    runs = api.get("/api/workflow-runs", params={"workflow": "plain"}).json()
    nested = next(run["id"] for run in runs if run.get("parent_id") == outer)
    (trigger,) = api.get("/api/triggers", params={"workflow": "triggered"}).json()
    return {"ended": ended, "waiting": waiting, "nested": nested, "trigger": trigger["id"]}


def start(api: httpx.Client, workflow: str, **inputs: Any) -> str:
    answer = api.post("/api/workflow-runs", json={"workflow": workflow, "inputs": inputs})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


@pytest.mark.parametrize("case", CASES, ids=describe_case)
def test_a_wrong_request_is_refused_by_its_code(rest: Rest, known: dict[str, str], case: Case) -> None:
    assert_refused(rest.operator, known, case)


def test_a_workflow_has_a_bounded_size(rest: Rest) -> None:
    definition = {**PLAIN, "name": "large", "steps": [{"id": "a", "set": {"x": "x" * 4_000_000}}]}
    assert code_of(rest.operator.put("/api/workflows/large", json={"definition": definition})) == (
        400,
        "workflow_too_large",
    )
    assert rest.operator.get("/api/workflows/large").status_code == 404


def test_without_a_usable_key_no_webhook_is_signed(rest: Rest) -> None:
    key = rest.hub.data / "webhook.key"
    key.write_bytes(b"short")
    answer = rest.operator.get("/api/hooks/deploy/secret")
    key.unlink()
    assert code_of(answer) == (503, "no_webhook_key")
