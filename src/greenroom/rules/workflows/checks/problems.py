"""A problem of a workflow: its place, what is wrong, and what to write instead."""

import difflib
from collections.abc import Collection, Mapping

import msgspec

Path = tuple[str | int, ...]
"""Leads to a part of a definition: ("steps", 2, "when")."""


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is wrong. `path` leads to it in the definition."""

    code: str
    message: str
    remedy: str
    path: Path = ()
    step: str = ""
    file: str = ""
    line: int = 0
    column: int = 0

    @property
    def text(self) -> str:
        """The problem in one line."""
        place = ":".join(part for part in (self.file, str(self.line or ""), str(self.column or "")) if part)
        step = f"step '{self.step}': " if self.step else ""
        return f"{place + ': ' if place else ''}{step}{self.message}; {self.remedy}"

    def add_location(self, file: str, lines: Mapping[Path, int]) -> "Problem":
        """The same problem with its file, and the line of the nearest part of its path that has one."""
        for length in range(len(self.path), -1, -1):
            if self.path[:length] in lines:
                return msgspec.structs.replace(self, file=file, line=lines[self.path[:length]])
        return msgspec.structs.replace(self, file=file, line=self.line)


class BadWorkflow(Exception):
    """A text is no workflow that could be carried out."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(problem.text for problem in problems))
        self.problems = problems


def suggest_nearest(wrong: str, known: Collection[str], otherwise: str = "") -> str:
    """What was probably meant, or what there is."""
    near = difflib.get_close_matches(wrong, known, 1)
    if near:
        return f"did you mean '{near[0]}'?"
    if not known:
        return otherwise or "there is none"
    few = ", ".join(sorted(known)[:12])
    return f"{otherwise + '; ' if otherwise else ''}there is {few}{', ...' if len(known) > 12 else ''}"
