"""Documentation, command-line help and the page use the words of the glossary, and avoid the phrases on the list."""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.cli.main import build_parser

ROOT = Path(__file__).parents[2]
OWN_LISTS = {ROOT / "GLOSSARY.md", ROOT / "docs" / "writing.md"}
NOT_PROSE = re.compile(
    r"```.*?```|`[^`\n]*`|\]\([^)]*\)|\"[^\"\n]*\"|“[^”\n]*”|<!-- table: errors -->.*?<!-- end -->", re.DOTALL
)
"""Code, link targets, quoted words, and error messages, which have a catalogue of their own."""


def read_table(path: Path, heading: str) -> list[list[str]]:
    """The rows of every table in a document whose header line has that cell."""
    rows: list[list[str]] = []
    inside = False
    for line in path.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if heading in cells:
            inside = True
        elif not cells:
            inside = False
        elif inside and set(line) - set("|- "):
            rows.append(cells)
    return rows


def avoided() -> dict[str, str]:
    """Every phrase to avoid, with what to write in its place."""
    said = {cells[2]: cells[0] for cells in read_table(ROOT / "GLOSSARY.md", "do not say")}
    said |= {cells[0]: cells[1] for cells in read_table(ROOT / "docs" / "writing.md", "instead of")}
    return {phrase.strip(): instead for phrases, instead in said.items() for phrase in phrases.split(",") if phrase}


AVOIDED = avoided()
LONGEST_FIRST = sorted(AVOIDED, key=len, reverse=True)
ANY_AVOIDED = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, LONGEST_FIRST))})(?![\w-])", re.IGNORECASE)


def find_avoided(text: str) -> list[str]:
    """Every avoided phrase of a text with what to write in its place, and the words around it."""
    prose = " ".join(NOT_PROSE.sub(" ", text).split())
    return [
        f"{match[0]!r}: write {AVOIDED[match[0].lower()]!r} (…{prose[max(0, match.start() - 30) : match.end() + 30]}…)"
        for match in ANY_AVOIDED.finditer(prose)
    ]


def documents() -> list[Path]:
    """Decisions are not among them: they stay as they were made."""
    return [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("[!a]*/*.md")]


def help_texts(of: argparse.ArgumentParser, path: str = "greenroom") -> Iterator[tuple[str, str]]:
    yield path, of.description or ""
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from ((f"{path} {choice.dest}", str(choice.help)) for choice in action._choices_actions)
            for name, inner in action.choices.items():
                yield from help_texts(inner, f"{path} {name}")
        else:
            yield f"{path} {action.dest}", action.help or ""


def page_texts(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from page_texts(inner, f"{path}.{key}")
    else:
        yield path, str(value)


def test_the_lists_of_words_and_phrases_are_read() -> None:
    assert AVOIDED["daemon"] == "hub"
    assert AVOIDED["anew"].startswith("again")
    assert find_avoided("The `anew` hub, anew; renewed.") == [
        "'anew': write 'again, or the verb: rebuild, restart' (…The hub, anew; renewed.…)"
    ]


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_uses_our_words(path: Path) -> None:
    if path not in OWN_LISTS:
        assert not find_avoided(path.read_text())


def test_the_command_line_help_uses_our_words() -> None:
    found = {path: find_avoided(text) for path, text in help_texts(build_parser())}
    assert not {path: phrases for path, phrases in found.items() if phrases}


@pytest.mark.parametrize(
    "path",
    [ROOT / "web/src/locales/en.json", *sorted((ROOT / "web/src/panels").glob("*/i18n/en.json"))],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_the_page_uses_our_words(path: Path) -> None:
    found = {key: find_avoided(text) for key, text in page_texts(json.loads(path.read_text()))}
    assert not {key: phrases for key, phrases in found.items() if phrases}
