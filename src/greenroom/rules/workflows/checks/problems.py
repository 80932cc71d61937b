"""A problem of a workflow: its place, what is wrong, and what to write instead."""

import functools
import heapq
from collections.abc import Collection, Mapping, Sequence

import msgspec

from greenroom.errors import Refused
from greenroom.sentences import Sentence, Words, build_sentence
from greenroom.sentences.english import render_english
from greenroom.validation import get_nearest

Path = tuple[str | int, ...]
"""Leads to a part of a definition: ("steps", 2, "when")."""
_MOST_NAMED = 20


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is wrong. `path` leads to it in the definition."""

    code: str
    message: Words
    remedy: Words
    path: Path = ()
    step: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    sentences: dict[str, Sentence] = {}
    """In an answer over REST: the sentences that `message` and `remedy` have in English."""

    @property
    def said(self) -> Sentence:
        """The problem in one line."""
        place = ":".join(part for part in (self.file, str(self.line or ""), str(self.column or "")) if part)
        said = build_sentence("workflow_problem", problem=self.message, remedy=self.remedy)
        if self.step:
            said = build_sentence("workflow_problem.at_step", step=self.step, problem=said)
        return build_sentence("workflow_problem.at_place", place=place, problem=said) if place else said

    @property
    def text(self) -> str:
        """The problem in one line of English."""
        return str(self.said)

    def add_location(self, file: str, lines: Mapping[Path, int]) -> "Problem":
        """The same problem with its file, and the line of the nearest part of its path that has one."""
        for length in range(len(self.path), -1, -1):
            if self.path[:length] in lines:
                return msgspec.structs.replace(self, file=file, line=lines[self.path[:length]])
        return msgspec.structs.replace(self, file=file, line=self.line)


def build_refusal(problems: Sequence[Problem]) -> Refused:
    """The refusal of a workflow with these problems; the first of them are named."""
    first = problems[:_MOST_NAMED]
    named = msgspec.to_builtins(render_english(list(first)))
    return Refused("bad_workflow", details={"problems": named}, problems=_join_lines(first))


def _join_lines(problems: Sequence[Problem]) -> Sentence:
    return functools.reduce(
        lambda first, second: build_sentence("workflow_problem.lines", first=first, second=second),
        [problem.said for problem in problems],
    )


class BadWorkflow(Exception):
    """A text is no workflow that could run."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(problem.text for problem in problems))
        self.problems = problems


def suggest_nearest(wrong: str, known: Collection[str], otherwise: Words = "") -> Words:
    """What was probably meant, or what exists."""
    near = get_nearest(wrong, known)
    if near is not None:
        return build_sentence("suggestion.near", near=near)
    if not known:
        return otherwise or build_sentence("suggestion.none")
    names = heapq.nsmallest(12, known)
    few = build_sentence("suggestion.many" if len(known) > 12 else "suggestion.few", names=names)
    return build_sentence("suggestion.or", first=otherwise, second=few) if otherwise else few
