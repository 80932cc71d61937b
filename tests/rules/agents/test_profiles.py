"""Profiles: from files in every shape, over REST, and whether they would start."""

import json
from pathlib import Path

import pytest

from greenroom.app import open_hub
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.rules.access.model import HUB, Principal
from greenroom.rules.agents.profiles import DeleteProfile, PutProfile, fill_command, need_profile
from greenroom.services.profile_files import read_profile_files
from greenroom.settings import Settings
from tests.cli.shell import greenroom
from tests.rules.agents.test_invite import thread_of
from tests.stage import Stage

ENTRY = {"invoke_command": "copilot invite --thread {thread_id} --say 'two words'", "enabled": True}


def write(data: Path, name: str, text: str) -> None:
    path = data / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    "shape",
    [
        {"copilot-cli": {"name": "Copilot CLI", **ENTRY}},
        {"agents": [{"name": "copilot-cli", "display_name": "Copilot CLI", "timeout_seconds": 20, **ENTRY}]},
    ],
)
def test_both_shapes_of_available_agents_give_the_same_command_in_words(tmp_path: Path, shape: object) -> None:
    write(tmp_path, "config/available-agents.json", json.dumps(shape))
    read = read_profile_files(tmp_path)
    source, definition = read.wanted["copilot-cli"]
    assert (source, definition.display_name, read.wrong) == ("legacy", "Copilot CLI", [])
    assert definition.command == ["copilot", "invite", "--thread", "{thread_id}", "--say", "two words"]
    assert definition.options == {"timeout_s": 20 if "agents" in str(shape) else 30}


def test_a_placeholder_stays_one_argument_whatever_is_put_in() -> None:
    definition = ProfileDefinition(driver="command", command=["join", "--topic", "{thread_topic}"])
    assert fill_command(definition, {"{thread_topic}": "a; rm -rf {thread_id}"}) == (
        "join --topic 'a; rm -rf {thread_id}'"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('driver = "rehearsal"\nmax_dept = 2', "max_dept: this key is not known; did you mean 'max_depth'?"),
        ('driver = "rehearsal"\nmax_depth = "2"', "max_depth: write a whole number"),
        ('display_name = "x"', "driver: it is missing; write a text"),
        ('driver = "rehearsal"\napprovals = "maybe"', "approvals: write one of always, on_risk, never, deny"),
        ('driver = "command"\ncommand = "run {who}"', "command: {who} is not known"),
        ('driver = "command"\ncommand = "run \'open"', "command: it cannot be split into words"),
        (
            'driver = "claude"\noptions = { atach = true }',
            "options.atach: this key is not known; did you mean 'attach'?",
        ),
        (
            'driver = "codex"\noptions = { sandbox = "workspace-wirte" }',
            "options.sandbox: 'workspace-wirte' is not known; write one of 'danger-full-access', 'read-only',"
            " 'workspace-write': did you mean 'workspace-write'?",
        ),
        ('driver = "gemini"\noptions = { attach = true }', "options.attach: this key is not known; the keys are mode"),
        ('driver = "opencode"\noptions = { attach = "yes" }', "options.attach: write true or false"),
        (
            'driver = "acp"\ncommand = "x"\noptions = { manifest = { comand = ["x"] } }',
            "options.manifest.comand: this key is not known; did you mean 'command'?",
        ),
        ('driver = "pty"\ncommand = "x"\noptions = { promt = "none" }', "options.promt: this key is not known"),
        (
            'driver = "command"\ncommand = "x"\noptions = { timeout_s = -1 }',
            "options.timeout_s: write a number above 0",
        ),
        ('driver = "command"\noptions = { timeout_s = 5 }', "command: the driver command needs one"),
        ('driver = "mcp"\ncommand = "x"\noptions = { url = "http://x" }', "options.tool: it is missing; write a text"),
        ('driver = "rehearsal"\noptions = { mode = 3 }', "options.mode: write a text"),
        ("driver =", "it is not TOML"),
        (f"driver = {'[' * 5000}", "it is not TOML"),
    ],
)
def test_a_wrong_file_is_told_with_its_key_and_a_remedy(tmp_path: Path, text: str, said: str) -> None:
    write(tmp_path, "agents/bad.toml", text)
    write(tmp_path, "agents/good.toml", 'driver = "rehearsal"')
    read = read_profile_files(tmp_path)
    assert list(read.wanted) == ["good"]
    (wrong,) = read.wrong
    assert wrong.file.endswith("agents/bad.toml")
    assert said in str(wrong.problem)


def test_a_wrong_file_of_available_agents_changes_nothing_as_a_whole(stage: Stage) -> None:
    file = "config/available-agents.json"
    old, new = ({"name": name, "invoke_command": f"{name} {{thread_id}}"} for name in ("old", "new"))
    write(stage.hub.data, file, json.dumps({"agents": [old]}))
    stage.until(lambda: stage.api.get("/api/profiles/old").status_code == 200, "the file to be taken")
    write(stage.hub.data, file, json.dumps({"agents": [new, {"name": "bad"}]}))
    stage.until(lambda: "nothing of it is taken" in stage.hub.stderr, "the file to be looked at")
    found = [stage.api.get(f"/api/profiles/{name}").status_code for name in ("old", "new", "bad")]
    assert found == [200, 404, 404]
    write(stage.hub.data, file, json.dumps({"agents": [new]}))
    stage.until(lambda: stage.api.get("/api/profiles/new").status_code == 200, "the mended file to be taken")
    stage.until(lambda: stage.api.get("/api/profiles/old").status_code == 404, "what it has no more to go")


def test_a_bundle_is_taken_whole_or_not_at_all(stage: Stage) -> None:
    good = {"driver": "rehearsal", "display_name": "One"}
    refused = stage.api.post("/api/profiles", json={"profiles": {"one": good, "two": {"driver": "rehearsal", "x": 1}}})
    assert refused.status_code == 400
    assert "two: x: this key is not known" in refused.text
    assert stage.api.get("/api/profiles/one").status_code == 404
    taken = stage.api.post("/api/profiles", json={"profiles": {"one": good, "two": good}})
    assert taken.json() == {"names": ["one", "two"]}
    assert stage.api.get("/api/profiles/two").json()["source"] == "bundle"


def test_a_misspelt_option_is_refused_by_every_way_in(stage: Stage, tmp_path: Path) -> None:
    said = "options.atach: this key is not known; did you mean 'attach'?"
    wrong = {"driver": "claude", "options": {"atach": True}}
    put = stage.api.put("/api/profiles/mine", json=wrong)
    bundle = stage.api.post("/api/profiles", json={"profiles": {"mine": wrong}})
    assert [(put.status_code, said in put.text), (bundle.status_code, said in bundle.text)] == [(400, True)] * 2
    text = 'driver = "claude"\noptions = { atach = true }\n'
    write(tmp_path, "mine.toml", text)
    assert said in greenroom(stage.hub.data, "profile", "put", "mine", str(tmp_path / "mine.toml")).err
    write(stage.hub.data, "agents/mine.toml", text)
    stage.until(lambda: said in greenroom(stage.hub.data, "profile", "check").err, "the file to be looked at")
    assert stage.api.get("/api/profiles/mine").status_code == 404


def test_the_check_of_a_profile_starts_nothing_and_names_what_is_missing(stage: Stage) -> None:
    stage.until(lambda: stage.api.get("/api/nodes").json()[0].get("state") == "connected", "the node")
    stage.profile("lost", directory="/not/there")
    stage.profile("far", node="elsewhere")
    checked = {p["name"]: p for p in stage.api.get("/api/profile-check").json()["profiles"]}
    assert checked["rehearsal"]["ok"]
    assert checked["rehearsal"]["nodes"][0]["version"]
    assert "directory: /not/there" in checked["lost"]["nodes"][0]["problems"][0]
    assert "node: there is no node 'elsewhere'" in checked["far"]["problems"][0]
    node = stage.api.get("/api/nodes").json()[0]["name"]
    lost = greenroom(stage.hub.data, "profile", "check", "lost")
    why = f"✗ lost cannot start\n    on {node}: directory: /not/there does not exist; create it, or choose another\n"
    assert (lost.code, lost.out.startswith(why)) == (1, True), lost.out
    assert "Checked 1 profile without starting an agent: 0 can start." in lost.out
    every = greenroom(stage.hub.data, "profile", "check")
    assert (every.code, f"✓ rehearsal can start on {node} (" in every.out) == (0, True), every.out
    assert stage.api.get("/api/runs").json() == []


def test_a_file_that_is_wrong_now_is_shown_and_the_good_version_stays(stage: Stage) -> None:
    write(stage.hub.data, "agents/mine.toml", 'driver = "rehearsal"\ndisplay_name = "Mine"')
    stage.hub.stop()
    stage.hub.restart()
    write(stage.hub.data, "agents/mine.toml", 'driver = "rehearsal"\ndisplay_nam = "Mine"')
    stage.hub.stop()
    stage.hub.restart()
    assert stage.api.get("/api/profiles/mine").json()["definition"]["display_name"] == "Mine"
    (wrong,) = stage.api.get("/api/profile-check", params={"name": "mine"}).json()["wrong_files"]
    assert "did you mean 'display_name'?" in wrong["problem"]


def test_whoever_calls_for_a_profile_whose_file_is_wrong_is_told_why(stage: Stage) -> None:
    thread = thread_of(stage, "calling")
    write(stage.hub.data, "agents/typo.toml", 'driver = "rehearsal"\nwake_on = ["mention"]\nsandbx = "bwrap"')
    stage.until(lambda: stage.api.get("/api/profile-files").json(), "the wrong file to be seen")
    why = "agents/typo.toml: sandbx: this key is not known; did you mean 'sandbox'?"
    ran = greenroom(stage.hub.data, "run", "typo", "SAY hi")
    assert (ran.code, why in ran.err) == (1, True), ran
    assert why in greenroom(stage.hub.data, "invite", "typo", "--thread", thread).err
    assert "typo.toml" in greenroom(stage.hub.data, "profile", "list").err
    assert why in greenroom(stage.hub.data, "profile", "check", "typo").err
    write(stage.hub.data, "agents/typo.toml", 'driver = "rehearsal"')
    stage.until(lambda: not stage.api.get("/api/profile-files").json(), "the file to be right again")
    assert greenroom(stage.hub.data, "run", "typo", "SAY hi").out == "hi\n"


def test_a_run_from_the_last_good_version_says_so(stage: Stage) -> None:
    write(stage.hub.data, "agents/rehearsal.toml", 'driver = "rehearsal"\nsandbx = "bwrap"')
    stage.until(lambda: stage.api.get("/api/profile-files").json(), "the wrong file to be seen")
    ran = greenroom(stage.hub.data, "run", "rehearsal", "SAY hi", "--json")
    assert ran.json["output"] == "hi"
    assert "did you mean 'sandbox'? — the last good version is used" in ran.err


def test_changes_of_files_are_taken_up_while_the_hub_runs(stage: Stage) -> None:
    write(stage.hub.data, "agents/late.toml", 'driver = "rehearsal"\ndisplay_name = "Late"')
    stage.until(lambda: stage.api.get("/api/profiles/late").status_code == 200, "the new file")
    assert stage.done("SAY hi", profile="late")["output"] == "hi"
    (stage.hub.data / "agents/late.toml").unlink()
    stage.until(lambda: stage.api.get("/api/profiles/late").status_code == 404, "the file to be gone")


def test_nobody_is_invited_to_a_command_that_is_not_there_until_it_is(stage: Stage, tmp_path: Path) -> None:
    def is_invitable(name: str) -> bool:
        profiles = stage.api.get("/api/profiles").json()
        return next(bool(one["is_invitable"]) for one in profiles if one["name"] == name)

    program = tmp_path / "helper"
    for name, command in (("absent", [str(program)]), ("unknown", ["no-such-program-anywhere"]), ("there", ["cat"])):
        definition = {"driver": "command", "command": command}
        assert stage.api.put(f"/api/profiles/{name}", json=definition).status_code == 200
    stage.until(lambda: is_invitable("there"), "the node")
    stage.until(lambda: not is_invitable("absent") and not is_invitable("unknown"), "the node to look for them")
    assert is_invitable("there")
    listed = greenroom(stage.hub.data, "profile", "list").out.splitlines()
    assert "not found" in next(row for row in listed if row.startswith("absent"))
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    stage.api.put("/api/profiles/absent", json={"driver": "command", "command": [str(program)], "description": "x"})
    stage.until(lambda: is_invitable("absent"), "the program to be found")


@pytest.mark.anyio
@pytest.mark.parametrize("source", ["api", "bundle"])
async def test_what_a_person_puts_is_not_replaced_by_what_the_hub_was_about_to_put(tmp_path: Path, source: str) -> None:
    shipped, own = ProfileDefinition(driver="claude"), ProfileDefinition(driver="claude", model="own")
    async with open_hub(tmp_path, Settings(local_node=False)) as hub:
        by = Principal(id="cred_ann", kind="operator", name="ann", rights=frozenset({"operate"}))
        await hub.log.do(PutProfile(by=by, name="claude", definition=own, source=source))
        await hub.log.do(PutProfile(by=HUB, name="claude", definition=shipped, source="builtin"))
        await hub.log.do(DeleteProfile(by=HUB, name="claude"))
        found = need_profile(hub.rows, "claude")
        assert (found.definition, found.source) == (own, source)
