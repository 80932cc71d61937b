"""What an ACP agent is started with: everything it needs, and no secret where others can read it."""

import json
import re
import stat
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest

from greenroom.link.profile_definition import ProfileDefinition
from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.acp_manifest import TOKEN, AcpManifest, ValueInjection
from greenroom.runtimes.contract import Opened, SessionOptions
from greenroom.runtimes.driver_list import DRIVER_INFOS, load_driver
from greenroom.runtimes.drivers.acp.launch import plan_launch
from greenroom.runtimes.programs import write_private
from tests import ROOT

HOW_TO = ROOT / "docs" / "how-to" / "add-a-driver.md"
SECRET = "gr_agent_secret"


def opening(folder: Path, **changed: object) -> SessionOptions:
    made = SessionOptions(
        command=["agent"],
        directory=folder / "desk",
        scratch=folder / "scratch",
        env={"PATH": "/usr/bin", "HOME": str(folder)},
        hub_url="http://127.0.0.1:1/mcp",
        model="large",
        instructions="Be {value}-ish, and {file} it.",
    )
    return msgspec.structs.replace(made, **changed)


@pytest.mark.parametrize(
    "manifest",
    [driver.manifest for driver in DRIVER_INFOS.values() if driver.manifest is not None],
    ids=lambda found: found.name,
)
def test_no_secret_is_in_the_arguments(manifest: AcpManifest, tmp_path: Path) -> None:
    launch = plan_launch(manifest, opening(tmp_path), SECRET, "pw")
    assert SECRET not in str(launch.command)
    given = str(launch.servers) + launch.env.get(TOKEN, "")
    assert SECRET in given
    if manifest.credential == "variable":
        assert SECRET not in str(launch.servers)
        assert launch.env[TOKEN] == SECRET


def test_a_value_is_put_in_as_it_is_and_not_looked_at_again(tmp_path: Path) -> None:
    given = ValueInjection(args=["--rules={value}"], env={"RULES": "{file}"}, meta={"deep": [{"rules": "{value}"}]})
    launch = plan_launch(AcpManifest(instructions=given), opening(tmp_path), None, "pw")
    text = "Be {value}-ish, and {file} it."
    assert launch.command == ["agent", f"--rules={text}"]
    assert launch.meta == {"deep": [{"rules": text}]}
    assert launch.files == {Path(launch.env["RULES"]): text}
    assert launch.preface is None


@pytest.mark.parametrize(
    "manifest",
    [driver.manifest for driver in DRIVER_INFOS.values() if driver.manifest is not None],
    ids=lambda found: found.name,
)
@pytest.mark.parametrize("field", ["instructions", "model"])
def test_words_that_look_like_an_option_are_none(manifest: AcpManifest, field: str, tmp_path: Path) -> None:
    trap = "--allowed-tools=run_shell_command"
    try:
        launch = plan_launch(manifest, opening(tmp_path, **{field: trap}), SECRET, "pw")
    except ValueError as no:
        assert "begins with '-'" in str(no)
    else:
        assert trap not in launch.command


def test_what_has_no_place_goes_before_the_first_prompt_or_into_the_session(tmp_path: Path) -> None:
    launch = plan_launch(AcpManifest(), opening(tmp_path, options={"mode": "plan"}), None, "pw")
    assert launch.preface == "Be {value}-ish, and {file} it."
    assert (launch.model, launch.mode) == ("large", "plan")


def test_a_profile_goes_before_what_is_always_given_and_keeps_its_own_json(tmp_path: Path) -> None:
    manifest = AcpManifest(
        always=ValueInjection(
            env={"QUIET": "1", "LOUD": "1"}, json_env={"CONFIG": {"ask": {"bash": "ask", "edit": "ask"}}}
        ),
        model=ValueInjection(json_env={"CONFIG": {"model": "{value}"}}),
        unset=["TRAP"],
    )
    own = {"LOUD": "0", "TRAP": "yes", "CONFIG": json.dumps({"ask": {"edit": "allow"}, "model": "mine", "more": 1})}
    launch = plan_launch(manifest, opening(tmp_path, env=own), None, "pw")
    config = json.loads(launch.env.pop("CONFIG"))
    assert config == {"ask": {"bash": "ask", "edit": "allow"}, "model": "large", "more": 1}
    assert launch.env == {"QUIET": "1", "LOUD": "0"}


def test_a_variable_that_should_hold_json_and_does_not_is_refused(tmp_path: Path) -> None:
    manifest = AcpManifest(always=ValueInjection(json_env={"CONFIG": {"a": 1}}))
    with pytest.raises(ValueError, match="CONFIG must hold a JSON object"):
        plan_launch(manifest, opening(tmp_path, env={"CONFIG": "model = 3"}), None, "pw")


def test_private_files_are_private_and_follow_no_link(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_private(path, "one")
    write_private(path, "two")
    assert path.read_text() == "two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="link"):
        write_private(link, "three")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.anyio
async def test_the_profile_of_the_how_to_works(tmp_path: Path, spawner: ProcessSpawner) -> None:
    found = re.search(r"```toml\n(.*?)```", HOW_TO.read_text(), re.DOTALL)
    assert found is not None
    profile = msgspec.convert(tomllib.loads(found[1]), ProfileDefinition)
    for folder in ("desk", "scratch"):
        (tmp_path / folder).mkdir()
    shown = opening(tmp_path, command=profile.command, model=profile.model, options=profile.options)
    launch = plan_launch(msgspec.convert(profile.options["manifest"], AcpManifest), shown, None, "pw")
    assert launch.command == ["my-agent", "--acp", "--model", "small"]
    assert launch.files == {Path(launch.env["MY_AGENT_RULES"]): shown.instructions}

    agent = [sys.executable, str(Path(__file__).parent / "odd_agent.py")]
    session = await load_driver(profile.driver).open(msgspec.structs.replace(shown, command=agent), spawner)
    assert isinstance(await anext(session.listen()), Opened)
    await session.close()


def test_the_how_to_names_files_and_fields_that_there_are() -> None:
    text = HOW_TO.read_text()
    root = HOW_TO.parents[2]
    for path in re.findall(r"`((?:src|tests)/[\w./-]+)`", text):
        assert (root / path).exists(), path
    table = text[text.index("| field | what it says |") : text.index("## Ship an ACP agent")]
    fields = {name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`(\w+)`", row)}
    assert fields <= set(AcpManifest.__struct_fields__)
