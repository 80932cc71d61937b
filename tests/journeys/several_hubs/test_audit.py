"""The audit of hubs that share a database: listed, exported and proven from the command line of any of them."""

import json
from pathlib import Path

import httpx

from greenroom.testing.hub_process import HubProcess
from tests.cli.shell import done, greenroom


def test_the_audit_in_postgres_is_exported_and_proves_itself(
    two_hubs: tuple[HubProcess, HubProcess], tmp_path: Path
) -> None:
    a, b = two_hubs
    for hub in (a, b):
        headers = {"Authorization": f"Bearer {hub.token}"}
        body = {"kind": "viewer", "name": f"of {hub.data.name}"}
        httpx.post(f"{hub.url}/api/credentials", json=body, headers=headers).raise_for_status()
        (hub.data / "greenroom.toml").write_text(f'database = "{hub.env["GREENROOM_DATABASE"]}"\n')
    file = tmp_path / "audit.jsonl"
    count = done(b.data, "audit", "export", str(file), "--json").json["events"]
    assert count == len(file.read_text().splitlines()) > 2
    names = {json.loads(line)["data"].get("name") for line in file.read_text().splitlines()}
    assert {"of a", "of b"} <= names
    assert [
        event["type"] for event in done(a.data, "audit", "list", "--type", "CredentialCreated", "--json").json["events"]
    ]
    end = done(a.data, "audit", "verify", "--json").json
    assert end["ok"]
    anchor = f"{end['seq']}:{end['hash']}"
    done(b.data, "audit", "verify", "--anchor", anchor)
    done(b.data, "audit", "verify", "--file", str(file))
    assert greenroom(b.data, "audit", "verify", "--anchor", f"{end['seq']}:{'0' * 64}").code == 1
    done(a.data, "audit", "export", str(tmp_path / "audit.csv"), "--by", "hub")
