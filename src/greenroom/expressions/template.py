"""Templates with expressions: `Review {{ steps.generate.output }}`. Inserted text is never evaluated again."""

import functools
import json
from collections.abc import Mapping
from typing import Any

from greenroom.expressions.errors import BadExpression
from greenroom.expressions.expression import Expression, Names, compile_expression
from greenroom.expressions.syntax_tree import Path
from greenroom.sentences import build_sentence

OPEN, CLOSE = "{{", "}}"


class TextTemplate:
    """A text of which some parts are expressions."""

    def __init__(self, text: str, parts: tuple[str | Expression, ...]) -> None:
        self.text = text
        self._parts = parts
        used = [part for part in parts if isinstance(part, Expression)]
        self.paths: frozenset[Path] = frozenset(path for part in used for path in part.paths)
        self.names = frozenset(path[0] for path in self.paths)

    def render(self, values: Mapping[str, Any]) -> str:
        """The text with its values: texts as they are, nothing for null, everything else as JSON."""
        return "".join(part if isinstance(part, str) else format_value(part.evaluate(values)) for part in self._parts)


def compile_template(text: str, names: Names) -> TextTemplate:
    """Compile every `{{ expression }}` of a text. A literal `{{` is written `{{ "{{" }}`."""
    parts: list[str | Expression] = []
    for is_code, part, at in _split(text):
        if not is_code:
            parts.append(part)
            continue
        try:
            parts.append(compile_expression(part.strip(), names))
        except BadExpression as bad:
            code = part.strip()[:80]
            problem = build_sentence("expression.in_template", begin=OPEN, text=code, end=CLOSE, problem=bad.problem)
            raise BadExpression(problem, bad.remedy, at + 1) from None
    return TextTemplate(text, tuple(parts))


def format_value(value: Any) -> str:
    """A JSON value as it appears in a text."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


@functools.lru_cache(maxsize=1024)
def _split(text: str) -> tuple[tuple[bool, str, int], ...]:
    """The text's parts in order: whether it is an expression, the part, and where it begins."""
    out: list[tuple[bool, str, int]] = []
    at = 0
    while (begin := text.find(OPEN, at)) >= 0:
        if begin > at:
            out.append((False, text[at:begin], at))
        end = _find_end(text, begin + len(OPEN))
        out.append((True, text[begin + len(OPEN) : end], begin))
        at = end + len(CLOSE)
    if at < len(text):
        out.append((False, text[at:], at))
    return tuple(out)


def _find_end(text: str, at: int) -> int:
    """Where the expression that begins here ends; braces and quotes inside it do not end it."""
    depth, quote, begin = 0, "", at
    while at < len(text):
        sign = text[at]
        if quote:
            if sign == "\\":
                at += 1
            elif sign == quote:
                quote = ""
        elif sign in "\"'":
            quote = sign
        elif sign == "{":
            depth += 1
        elif sign == "}" and depth:
            depth -= 1
        elif text.startswith(CLOSE, at):
            return at
        at += 1
    problem = build_sentence("expression.not_closed", begin=OPEN, end=CLOSE)
    raise BadExpression(problem, build_sentence("expression.closing", begin=OPEN, end=CLOSE), begin - 1)
