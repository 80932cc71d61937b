"""What the page takes from the source is up to date, and its languages are complete."""

import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from greenroom import sentences
from greenroom.rules.registry import NOUNS
from tests import ROOT

WEB = ROOT / "web"
SENTENCES = Path(sentences.__file__).with_name("zh-CN.json")
ENGLISH = sorted((WEB / "src").rglob("en.json"))


def test_the_types_are_those_of_the_source() -> None:
    written = runpy.run_path(str(WEB / "write_types.py"))["written"]()
    stale = [path.name for path, text in written.items() if path.read_text() != text]
    assert not stale, "run .venv/bin/python web/write_types.py"


@pytest.mark.parametrize("english", ENGLISH, ids=lambda path: path.parts[-3])
def test_every_word_is_there_in_both_languages(english: Path) -> None:
    chinese = english.with_name("zh-CN.json")
    assert dict(_words(json.loads(english.read_text()))).keys() == dict(_words(json.loads(chinese.read_text()))).keys()


def test_everything_that_is_audited_is_called_by_a_word() -> None:
    words = json.loads((WEB / "src" / "panels" / "audit" / "i18n" / "en.json").read_text())["types"]
    audited = {event.__name__ for noun in NOUNS for event in noun.events if event.privileged}
    assert audited
    assert audited <= words.keys()


_HAN = r"[\u3400-\u9fff]"
_APART = re.compile(rf"{_HAN}[A-Za-z0-9`]|[A-Za-z0-9`]{_HAN}")
_IN_CHINESE = re.compile(r"\{(time|rights)\}")
"""Values of the page that are Chinese words themselves."""


@pytest.mark.parametrize(
    "chinese", [*sorted((WEB / "src").rglob("*zh-CN.json")), SENTENCES], ids=lambda path: path.parts[-3]
)
def test_latin_letters_and_digits_stand_apart_from_chinese_characters(chinese: Path) -> None:
    """A value of the page counts as a letter. What the hub puts into its sentences is spaced as it is shown."""
    said = dict(_words(json.loads(chinese.read_text())))
    if chinese != SENTENCES:
        said = {key: re.sub(r"\{'?\w+'?\}", "x", _IN_CHINESE.sub("", text)) for key, text in said.items()}
    wrong = {key: text for key, text in said.items() if _APART.search(text)}
    assert not wrong


def _words(value: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for name, inner in value.items():
        if isinstance(inner, dict):
            yield from _words(inner, f"{path}{name}.")
        else:
            yield f"{path}{name}", inner
