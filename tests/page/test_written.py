"""What the page takes from the source is up to date, and its languages are complete."""

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

WEB = Path(__file__).parents[2] / "web"
ENGLISH = sorted((WEB / "src").rglob("en.json"))


def test_the_types_are_those_of_the_source() -> None:
    written = runpy.run_path(str(WEB / "write_types.py"))["written"]()
    stale = [path.name for path, text in written.items() if path.read_text() != text]
    assert not stale, "run .venv/bin/python web/write_types.py"


@pytest.mark.parametrize("english", ENGLISH, ids=lambda path: path.parts[-3])
def test_every_word_is_there_in_both_languages(english: Path) -> None:
    chinese = english.with_name("zh-CN.json")
    assert dict(_words(json.loads(english.read_text()))).keys() == dict(_words(json.loads(chinese.read_text()))).keys()


def _words(value: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for name, inner in value.items():
        if isinstance(inner, dict):
            yield from _words(inner, f"{path}{name}.")
        else:
            yield f"{path}{name}", inner
