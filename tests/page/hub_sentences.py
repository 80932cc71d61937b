"""What the hub says to people on the page, found in its source: reasons, and what is wrong; not refusals.

A value inside of a sentence is {0}, {1} and so on, as in web/src/locales/hub.zh-CN.json.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import greenroom

SOURCE = Path(greenroom.__file__).parent
_SPOKEN = (
    "services/policy_file.py",
    "rules/asks/decide.py",
    "rules/asks/ask_builder.py",
    "rules/workflows/*.py",
    "services/workflow_engine/step_asks.py",
)
"""Where nearly every text is one that a person reads: reasons, problems, explanations."""
_TO_AGENTS = re.compile(r"(?:# )?You |What happened before|From the agent|Go on|What would run|were handed")
_TO_PROGRAMS = re.compile(
    r" ?-|(end|stdin|stdout|stderr) of |mapping values|this board|cannot start any|expected |edit write"
)
"""Names of tasks, tables of options, what a parser says, and what would be a bug."""
_SMALL_WORDS = (
    "a all an and any are as at be by can could did does for from has have if in is it its like may must no not "
    "nothing of on one only or so some than that the there this to true up use was what with write"
)
_SMALL_WORD = re.compile(rf"\b({'|'.join(_SMALL_WORDS.split())})\b")


def written() -> set[str]:
    """Every text that there is in the source."""
    return {text for path in SOURCE.rglob("*.py") for text in _texts(ast.parse(path.read_text()))}


def spoken() -> set[str]:
    """Every other sentence that the hub and its nodes make for people."""
    paths = sorted({path for pattern in _SPOKEN for path in SOURCE.glob(pattern) if path.name != "verbs.py"})
    texts = (text for path in paths for text in _texts(ast.parse(path.read_text())))
    return {text for text in texts if _is_sentence(text)}


def _texts(tree: ast.Module) -> Iterator[str]:
    """The texts of a module, but for its documentation, its log, and the inner parts of other texts."""
    inner: set[ast.AST] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr():
                inner.add(node.value)
            case ast.JoinedStr():
                inner |= {*node.values, *(one.format_spec for one in _values(node) if one.format_spec)}
            case ast.Call(func=ast.Name(id="Meta")):
                inner |= {one.value for one in node.keywords}
            case ast.Call(func=ast.Attribute(value=ast.Name(id="logger" | "re"))):
                inner |= {*node.args}
            case ast.Call(func=ast.Attribute(value=ast.Constant() as words, attr="split")):
                inner.add(words)
            case ast.AnnAssign():
                inner |= {*ast.walk(node.annotation)}
    for node in ast.walk(tree):
        if node not in inner and (text := _text(node)):
            yield text


def _values(text: ast.JoinedStr) -> list[ast.FormattedValue]:
    return [one for one in text.values if isinstance(one, ast.FormattedValue)]


def _text(node: ast.AST) -> str:
    """What a text says, with numbers for its values; empty when it is none."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if not isinstance(node, ast.JoinedStr):
        return ""
    parts, count = [], 0
    for one in node.values:
        if isinstance(one, ast.Constant):
            parts.append(str(one.value))
        else:
            parts.append(f"{{{count}}}")
            count += 1
    return "".join(parts)


def _is_sentence(text: str) -> bool:
    bare = re.sub(r"\{\d\}", "", text)
    words = re.findall(r"[A-Za-z]{2,}", bare)
    is_list = len(words) > 12 and not re.search(r"[.,:;]", bare)
    is_code = re.search(r"[\^\\<>]", bare)
    is_elsewhere = _TO_AGENTS.match(text) or _TO_PROGRAMS.match(text)
    return (
        " " in bare.strip()
        and len(words) > 1
        and bool(_SMALL_WORD.search(bare))
        and not (is_list or is_code or is_elsewhere)
    )
