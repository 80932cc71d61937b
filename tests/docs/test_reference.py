"""What there is to use is in the documents, and the tables there are those of the source."""

import argparse
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from greenroom.cli.main import build_parser
from greenroom.doors.mcp.tools import TOOLS
from greenroom.doors.sync.views import VIEWS
from greenroom.settings import Settings
from tests import ROOT

USERS = {path.name: path.read_text() for path in (ROOT / "docs" / "users").glob("*.md")}
ALL = "\n".join(USERS.values())


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    return load(ROOT / "docs" / "write_reference.py")


@pytest.mark.parametrize("name", sorted(USERS))
def test_the_tables_are_those_of_the_source(reference: ModuleType, name: str) -> None:
    assert reference.renewed(USERS[name]) == USERS[name], "run .venv/bin/python docs/write_reference.py"


@pytest.mark.parametrize("name", Settings.__struct_fields__)
def test_every_setting_is_documented(name: str) -> None:
    assert f"`{name}`" in USERS["settings.md"]


@pytest.mark.parametrize("tool", [tool.name for tool in TOOLS])
def test_every_tool_is_documented(tool: str) -> None:
    assert f"`{tool}`" in ALL


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_documented(view: str) -> None:
    assert f"| `{view}` |" in USERS["sync-socket.md"]


def commands(of: argparse.ArgumentParser, path: str = "greenroom") -> Iterator[str]:
    inner = [action for action in of._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        yield path
    for action in inner:
        for choice in action._choices_actions:  # without aliases
            yield from commands(action.choices[choice.dest], f"{path} {choice.dest}")


@pytest.mark.parametrize("command", [*commands(build_parser())])
def test_every_command_is_documented(command: str) -> None:
    assert f"`{command}`" in USERS["cli.md"]


def test_every_route_and_every_error_code_is_documented(reference: ModuleType) -> None:
    import asyncio

    for endpoint in asyncio.run(reference.endpoints()):
        assert f"`{endpoint.method} {endpoint.path}`" in USERS["rest.md"]
    for code in reference.errors():
        assert f"`{code}`" in USERS["rest.md"]


def documents() -> list[Path]:
    return [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_commands_that_documents_name_are_there(path: Path) -> None:
    text = path.read_text()
    for name in re.findall(r"`((?:src|tests|docs)/[\w/.-]+\.(?:py|md))`", text):
        assert (ROOT / name).exists(), name
    verbs = {command.split()[1] for command in commands(build_parser())}
    written = re.sub(r"<!-- table.*?<!-- end -->", "", text, flags=re.DOTALL)
    for verb in re.findall(r"`greenroom ([a-z]+)", written):
        assert verb in verbs, verb


def test_every_file_on_the_paths_of_the_architecture_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    paths = re.findall(r"^## (The path of .*?)\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
    assert [heading for heading, _ in paths] == [
        f"The path of {what}" for what in ("a message", "an approval", "a workflow step", "a read")
    ]
    for heading, told in paths:
        assert len(re.findall(r"`[\w/]+\.py`", told)) >= 5, heading
    for name in re.findall(r"`([\w/.-]+(?:\.py|/))`", text):
        assert any((place / name).exists() for place in (ROOT / "src" / "greenroom", ROOT)), name


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "adr").glob("[0-9]*.md")), ids=lambda path: path.name)
def test_a_decision_is_short_and_says_what_was_rejected(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) < 40
    for heading in ("## Context", "## Decision", "## Consequences", "## Rejected"):
        assert heading in text
