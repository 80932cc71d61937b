"""Saving workflows: a new one replaces none, editors do not overwrite each other, and every version can be restored."""

from pathlib import Path

import httpx

from greenroom.testing.hub_process import HubProcess
from tests.cli.shell import done, greenroom


def yaml(value: str, name: str = "plan", more: str = "") -> str:
    return f"# {value}{more}\nname: {name}\nsteps:\n  - id: a\n    set: {{x: \"'{value}'\"}}\n"


def put(api: httpx.Client, text: str, name: str = "plan", **more: object) -> httpx.Response:
    return api.put(f"/api/workflows/{name}", json={"text": text, **more})


def test_a_new_workflow_does_not_replace_one_of_the_same_name(api: httpx.Client) -> None:
    assert put(api, yaml("one"), version=0).json()["version"] == 1
    for more in ({}, {"version": 0}):
        refused = put(api, yaml("two"), **more)
        assert (refused.status_code, refused.json()["code"]) == (409, "workflow_exists"), refused.text
    assert put(api, yaml("one")).status_code == 200  # the same again, as programs send it
    assert put(api, yaml("one"), version=0).json()["code"] == "workflow_exists"  # a person who makes a new one
    assert api.get("/api/workflows/plan").json()["text"] == yaml("one")
    assert put(api, yaml("two", "other"), "other", version=0).json()["version"] == 1
    assert [flow["name"] for flow in api.get("/api/workflows").json()] == ["other", "plan"]


def test_of_two_who_edit_the_same_version_the_second_is_refused(api: httpx.Client) -> None:
    put(api, yaml("one"), version=0)
    assert put(api, yaml("mine"), version=1).json()["version"] == 2
    late = put(api, yaml("yours"), version=1)
    assert (late.status_code, late.json()["code"], late.json()["version"]) == (409, "workflow_changed", 2)
    assert put(api, yaml("mine", more=" with a word"), version=2).json()["version"] == 3  # a comment is a change too
    assert put(api, yaml("yours"), version=2).json()["code"] == "workflow_changed"
    assert put(api, yaml("yours"), version=3).json()["version"] == 4
    api.delete("/api/workflows/plan")
    assert put(api, yaml("late"), version=4).json()["code"] == "workflow_changed"


def test_every_version_is_listed_and_restored_as_a_new_one(api: httpx.Client) -> None:
    for version, value in enumerate(("one", "two", "three")):
        assert put(api, yaml(value), version=version).status_code == 200
    restored = api.post("/api/workflows/plan/restore", json={"version": 1, "replaces": 3})
    assert (restored.status_code, restored.json()["version"]) == (200, 4), restored.text
    versions = api.get("/api/workflows/plan/versions").json()
    assert [one["version"] for one in versions] == [4, 3, 2, 1]
    assert [one["text"] for one in versions] == [yaml(value) for value in ("one", "three", "two", "one")]
    assert [one["restored_from"] for one in versions] == [1, 0, 0, 0]
    assert versions[0]["digest"] == versions[3]["digest"]
    late = api.post("/api/workflows/plan/restore", json={"version": 2, "replaces": 3})
    assert (late.status_code, late.json()["code"]) == (409, "workflow_changed")
    unknown = api.post("/api/workflows/plan/restore", json={"version": 9})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "version_not_found")
    assert [one["version"] for one in api.get("/api/workflows/plan/versions?before=3&limit=1").json()] == [2]


def test_a_deleted_workflow_keeps_its_versions_and_can_be_restored(api: httpx.Client) -> None:
    put(api, yaml("one"), version=0)
    put(api, yaml("two"), version=1)
    assert api.delete("/api/workflows/plan").status_code == 204
    assert api.get("/api/workflows/plan").status_code == 404
    assert [one["version"] for one in api.get("/api/workflows/plan/versions").json()] == [2, 1]
    restored = api.post("/api/workflows/plan/restore", json={})
    assert (restored.json()["version"], api.get("/api/workflows/plan").json()["text"]) == (3, yaml("two"))
    api.delete("/api/workflows/plan")
    assert put(api, yaml("new"), version=0).json()["version"] == 4
    assert [one["version"] for one in api.get("/api/workflows/plan/versions").json()] == [4, 3, 2, 1]


def test_versions_are_listed_compared_and_restored_from_the_command_line(hub: HubProcess, tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    for value in ("one", "two"):
        file.write_text(yaml(value))
        done(hub.data, "dag", "run", str(file), "--wait")
    listed = done(hub.data, "dag", "versions", "plan").out.splitlines()
    assert [row.split()[0] for row in listed] == ["VERSION", "2", "1"]
    shown = done(hub.data, "dag", "versions", "plan", "--json").json
    assert all(one["made_by_name"] in row for one, row in zip(shown, listed[1:], strict=True))
    assert not any(one["made_by"] in "\n".join(listed) for one in shown), "a name is shown, and no id"
    assert done(hub.data, "dag", "versions", "plan", "--show", "1").out == yaml("one")
    changes = done(hub.data, "dag", "versions", "plan", "--diff", "1").out
    assert "-# one" in changes
    assert "+# two" in changes
    assert done(hub.data, "dag", "restore", "plan").out.strip() == "plan is at version 3"
    assert done(hub.data, "dag", "versions", "plan", "--show", "3").out == yaml("one")
    assert "restores 1" in done(hub.data, "dag", "versions", "plan").out
    wrong = greenroom(hub.data, "dag", "restore", "plan", "9")
    assert (wrong.code, "no version 9" in wrong.err) == (1, True)
    assert greenroom(hub.data, "dag", "versions", "plan", "--show", "9").code == 1
