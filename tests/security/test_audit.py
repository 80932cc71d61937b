"""Every refusal is in the audit once, without a secret; a flood of them is summed up; and an export proves itself."""

import csv
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess, wait_until
from tests.cli.shell import done, greenroom


def refused(api: httpx.Client, **filters: str) -> list[dict[str, Any]]:
    """What the audit holds of refusals."""
    answer = api.get("/api/audit", params={"limit": 1000, "type": "CallRefused", **filters})
    return [event["data"]["refused"] for event in answer.json()["events"]]


def viewer(api: httpx.Client, hub: HubProcess) -> httpx.Client:
    token = api.post("/api/credentials", json={"kind": "viewer", "name": "vera"}).json()["token"]
    return httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {token}"})


def test_each_refused_call_is_recorded_once_with_actor_action_and_reason(hub: HubProcess, api: httpx.Client) -> None:
    with viewer(api, hub) as vera:
        vera.post("/api/credentials", json={"kind": "operator", "name": "mine"})
        vera.get("/api/runs/run_01m7h6yc17ke6f1s0as1nd4yen")
        vera.get("/api/threads")
    httpx.get(f"{hub.url}/api/threads", headers={"Authorization": "Bearer gr_operator_x_secret"})
    httpx.get(f"{hub.url}/api/threads", headers={"Origin": "https://evil.test"})
    wait_until(lambda: len(refused(api)) >= 4)
    found = [(one.get("by", "") != "", one["action"], one["code"], one["status"]) for one in refused(api)]
    assert found == [
        (True, "POST /api/credentials", "forbidden", 403),
        (True, "GET /api/runs/{run_id} run_01m7h6yc17ke6f1s0as1nd4yen", "not_found", 404),
        (False, "GET /api/threads", "credential_wrong", 401),
        (False, "GET /api/threads", "foreign_origin", 403),
    ]


def test_a_secret_in_a_path_or_query_is_not_recorded(hub: HubProcess, api: httpx.Client) -> None:
    for path in ("/api/canary-5f2a", "/api/runs/canary-5f2a", "/api/threads/x?token=canary-5f2a", "/canary-5f2a/x"):
        assert api.get(path).status_code in (400, 404)
    wait_until(lambda: len(refused(api)) >= 3)
    assert "canary-5f2a" not in api.get("/api/audit?limit=1000").text


def test_a_flood_of_refusals_is_summed_up(hub: HubProcess, api: httpx.Client) -> None:
    with viewer(api, hub) as vera:
        for _ in range(600):
            vera.delete("/api/servers/x")
        api.get("/api/threads")
    hub.stop()
    kept = [
        json.loads(text) for text in done(hub.data, "audit", "export", "-", "--type", "CallRefused").out.splitlines()
    ]
    times = [event["data"]["refused"].get("times", 1) for event in kept]
    assert sum(times) == 600
    assert len(times) < 260
    hub.start()


def test_an_export_holds_the_chain_and_proves_itself(hub: HubProcess, api: httpx.Client, tmp_path: Path) -> None:
    api.put("/api/policy/rules/one", json={"rule": {"decision": "ask", "tools": ["=x"]}}).raise_for_status()
    api.post("/api/credentials", json={"kind": "viewer", "name": "=cmd()"}).raise_for_status()
    file, table = tmp_path / "audit.jsonl", tmp_path / "audit.csv"
    count = done(hub.data, "audit", "export", str(file), "--json").json["events"]
    assert count == len(file.read_text().splitlines()) > 2
    end = done(hub.data, "audit", "verify", "--json").json
    proved = done(hub.data, "audit", "verify", "--file", str(file), "--json").json
    assert (proved["ok"], proved["seq"], proved["hash"]) == (True, end["seq"], end["hash"])
    done(hub.data, "audit", "verify", "--file", str(file), "--anchor", f"{end['seq']}:{end['hash']}")
    for broken in (file.read_text().replace('"ask"', '"allow"'), "".join(file.read_text().splitlines(True)[1:])):
        file.write_text(broken)
        assert greenroom(hub.data, "audit", "verify", "--file", str(file)).code == 1
    done(hub.data, "audit", "export", str(table))
    with table.open() as rows_file:
        rows = list(csv.DictReader(rows_file))
    assert len(rows) == count
    assert all(not row["data"].startswith("=") for row in rows)


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        (("--type", "RulePut"), {"RulePut"}),
        (("--by", "hub"), None),
        (("--since", "2999-01-01T00:00:00Z"), set()),
        (("--until", "1999-01-01T00:00:00Z"), set()),
    ],
)
def test_the_audit_is_listed_with_filters(
    hub: HubProcess, api: httpx.Client, options: tuple[str, str], kinds: set[str] | None
) -> None:
    api.put("/api/policy/rules/one", json={"rule": {"decision": "ask"}}).raise_for_status()
    events = done(hub.data, "audit", "list", *options, "--json").json["events"]
    if kinds is None:
        assert events
        assert {event["by"] for event in events} == {"hub"}
    else:
        assert {event["type"] for event in events} == kinds
