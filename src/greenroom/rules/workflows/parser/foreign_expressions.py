"""Converts the paths and conditions of other programs' workflows, which name steps directly, to our expressions."""

import re

OURS = frozenset(("inputs", "vars", "steps", "run", "item", "index", "round", "output", "trigger"))
_WORDS = frozenset(("true", "false", "null", "in"))
_WRAPPED = re.compile(r"\s*(?:\$\{(?P<a>[^{}]*)\}|\{\{(?P<b>.*)\}\})\s*", re.DOTALL)
_TEXT = re.compile(r"(?:\$\.?)?(?:(?:result|response|output)\.)?(?P<field>text|content|message|summary)")
_PIECES = re.compile(
    r"""(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"""|(?P<chain>(?<![\w.])(?:\$\.?)?[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*(?P<call>\s*\()?)"""
    r"""|(?P<sign>===|!==)"""
)


def translate_expression(text: str, steps: frozenset[str], *, inside: bool) -> str:
    """`review.score === 1` becomes `steps.review.output.score == 1`; `inside` an output bare names are its fields."""
    wrapped = _WRAPPED.fullmatch(text)
    if wrapped:
        text = (wrapped["a"] if wrapped["a"] is not None else wrapped["b"]).strip()
    whole = _TEXT.fullmatch(text.strip()) if inside else None
    if whole:  # agents of other programs wrap what they say; ours just say it
        return f"type(output) == string ? output : output.{whole['field']}"
    return _PIECES.sub(lambda piece: _translate_piece(piece, steps, inside), text)


def _translate_piece(piece: re.Match[str], steps: frozenset[str], inside: bool) -> str:
    if piece["sign"]:
        return piece[0][:2]
    if piece["quoted"] or piece["call"]:
        return piece[0]
    names = piece["chain"].removeprefix("$").removeprefix(".").split(".")
    first = names[0]
    if first in _WORDS or (first in OURS and first not in steps):
        return (
            piece[0].removeprefix("$").removeprefix(".")
            if first != "steps"
            else _build_step_path(names[1:], whole=True)
        )
    if first in steps:
        return _build_step_path(names, whole=False)
    if first == "variables":
        return ".".join(["vars", *names[1:]])
    if first == "input":
        return ".".join(["inputs", *names[1:]])
    if inside and first in ("result", "response"):
        return ".".join(["output", *names[1:]])
    return ".".join(["output", *names]) if inside else piece[0]


def _build_step_path(names: list[str], *, whole: bool) -> str:
    """A path that begins with a step's id; its output is meant unless another of its facts is named."""
    if not names:
        return "steps"
    step = f"steps.{names[0]}" if "-" not in names[0] else f'steps["{names[0]}"]'
    if whole or names[1:2] in (["output"], ["status"], ["error"], ["attempts"]):
        return ".".join([step, *names[1:]])
    return ".".join([step, "output", *names[1:]])
