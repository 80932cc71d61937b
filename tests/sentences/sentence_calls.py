"""The calls in the source that name a sentence: its key, and the parameters that are given."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import greenroom

SOURCE = Path(greenroom.__file__).parent
_KEY_AT = {
    "Refused": 0,
    "Unavailable": 0,
    "LaunchError": 0,
    "ServerError": 0,
    "NotSent": 0,
    "GuardRefused": 1,
    "CredentialRefused": 1,
    "build_bad_request": 0,
    "build_sentence": 0,
}
_NO_PARAMS = {"details", None}


class SentenceCall(NamedTuple):
    place: str
    key: str
    params: frozenset[str]


def read_modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text())


def find_sentence_calls() -> Iterator[SentenceCall]:
    for path, tree in read_modules():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _KEY_AT):
                continue
            at = _KEY_AT[node.func.id]
            params = frozenset(one.arg for one in node.keywords if one.arg is not None) - _NO_PARAMS
            for key in _find_texts(node.args[at]) if len(node.args) > at else ():
                yield SentenceCall(f"{path}:{node.lineno}", key, params)


def find_all_texts() -> set[str]:
    return {text for _, tree in read_modules() for text in _find_texts(tree)}


def _find_texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
