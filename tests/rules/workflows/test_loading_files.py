"""Workflow files over the doors: skills from where they lie, wrong and hostile files, and the version that stays."""

from pathlib import Path

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import done, greenroom

STEPS = "steps:\n  - {id: a, agent_runtime: rehearsal, skill_id: greet}\n"


def write_skill(place: Path, text: str) -> None:
    folder = place / "skills" / "greet"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: greet\ndescription: Greets.\n---\n{text}\n")


def taken(api: httpx.Client, name: str) -> str:
    definition = api.get(f"/api/workflows/{name}").json()["definition"]
    return str(definition["skills"]["greet"]["text"])


def test_a_skill_is_found_in_the_data_directory_and_where_the_profile_works(
    hub: HubProcess, api: httpx.Client, tmp_path: Path
) -> None:
    body = {"text": f"name: n\n{STEPS}"}
    refused = api.put("/api/workflows/n", json=body)
    assert (refused.status_code, refused.json()["code"]) == (400, "bad_workflow")
    assert "skills/greet/SKILL.md" in refused.text
    write_skill(hub.data, "SAY from the data directory")
    assert api.put("/api/workflows/n", json=body).status_code == 200
    assert taken(api, "n") == "SAY from the data directory"
    write_skill(tmp_path / "home", "SAY from the profile")
    profile = {"driver": "rehearsal", "directory": str(tmp_path / "home")}
    assert api.put("/api/profiles/homely", json=profile).status_code == 200
    text = "name: m\nsteps:\n  - {id: a, profile: homely, skill_id: greet}\n"
    assert api.put("/api/workflows/m", json={"text": text}).status_code == 200
    assert taken(api, "m") == "SAY from the profile"
    file = tmp_path / "m.yaml"
    file.write_text(text.replace("greet", "wave"))
    (tmp_path / "home" / "skills" / "greet").rename(tmp_path / "home" / "skills" / "wave")
    assert done(hub.data, "dag", "validate", str(file)).out.startswith("✓")
    done(hub.data, "dag", "run", str(file), "--detach")


def test_each_skill_that_is_missing_is_told_on_a_row_of_its_own(hub: HubProcess, tmp_path: Path) -> None:
    file = tmp_path / "n.yaml"
    file.write_text(f"name: n\n{STEPS}  - {{id: b, agent_runtime: rehearsal, skill_id: wave}}\n")
    ran = greenroom(hub.data, "dag", "run", str(file), "--wait")
    assert ran.code == 1
    assert [("greet" in row, "wave" in row) for row in ran.err.splitlines()] == [(True, False), (False, True)], ran.err


def test_a_skill_beside_the_file_comes_along(hub: HubProcess, api: httpx.Client, tmp_path: Path) -> None:
    write_skill(tmp_path / "project", "SAY from the project")
    file = tmp_path / "project" / "n.yaml"
    file.write_text(f"name: n\n{STEPS}")
    done(hub.data, "dag", "run", str(file), "--detach")
    assert taken(api, "n") == "SAY from the project"


@pytest.mark.parametrize(
    "text",
    [
        "name: n\nsteps: !!python/object/apply:os.system [id]",
        "name: n\nname: n\n" + STEPS,
        "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a]\n" * 2,
        "[" * 5000,
        "name: n\nsteps: [{id: a, set: {}, dependencies: [a]}]",
        "name: n\nsteps:\n" + "".join(f"  - {{id: s{n}, set: {{}}}}\n" for n in range(10_000)),
        "x" * 1_000_000,
        "name: n\nsteps: [{id: a, set: {x: '" + "(" * 1000 + "'}}]",
    ],
    ids=["tag", "twice", "aliases", "deep", "circle", "many", "large", "expression"],
)
def test_a_hostile_text_is_refused_and_the_version_before_it_stays(shared_hub: HubProcess, text: str) -> None:
    headers = {"Authorization": f"Bearer {shared_hub.token}"}
    with httpx.Client(base_url=shared_hub.url, headers=headers, timeout=WAIT_S) as api:
        good = api.put("/api/workflows/n", json={"text": "name: n\nsteps: [{id: a, set: {x: 1}}]"})
        assert good.status_code == 200, good.text
        wrong = api.put("/api/workflows/n", json={"text": text})
        assert wrong.status_code in (400, 413), wrong.text
        assert wrong.json()["detail"]
        assert api.get("/api/workflows/n").json()["workflow"]["digest"] == good.json()["digest"]


def test_pictures_are_drawn_from_the_command_line(tmp_path: Path) -> None:
    file, picture = tmp_path / "n.yaml", tmp_path / "n.svg"
    file.write_text("name: n\nsteps: [{id: first, set: {}}]\n")
    assert "flowchart" in done(tmp_path / "data", "dag", "graph", str(file)).out
    assert done(tmp_path / "data", "dag", "graph", str(file), "--format", "dot").out.startswith("digraph")
    done(tmp_path / "data", "dag", "graph", str(file), "--format", "svg", "--output", str(picture))
    assert picture.read_text().startswith("<svg")
    file.write_text("name: n\nsteps: [{id: first, set: {}, dependencies: [last]}]\n")
    ran = greenroom(tmp_path / "data", "dag", "graph", str(file))
    assert (ran.code, "did you mean" in ran.err or "there is first" in ran.err) == (1, True)


def test_what_a_hook_is_signed_with_is_shown_to_operators(hub: HubProcess) -> None:
    assert done(hub.data, "dag", "hook", "deploy", "--json").json["path"] == "/api/hooks/deploy"
    assert "whsec_" in done(hub.data, "dag", "hook", "deploy").out


def test_the_editors_door_says_what_is_wrong_or_where_everything_stands(api: httpx.Client) -> None:
    wrong = api.post(
        "/api/workflow-check", json={"text": "name: n\nsteps: [{id: a, profile: rehersal, prompt: x}]"}
    ).json()
    assert (wrong["ok"], wrong["problems"][0]["line"], wrong["problems"][0]["code"]) == (False, 2, "unknown_profile")
    right = api.post(
        "/api/workflow-check", json={"text": "name: n\nsteps: [{id: a, set: {}}]", "file": "n.yaml"}
    ).json()
    assert right["ok"]
    assert right["picture"]["places"]["a"]
    assert right["definition"]["name"] == "n"
