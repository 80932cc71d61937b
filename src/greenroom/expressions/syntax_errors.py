"""Words the engine's syntax errors for the author of an expression."""

import re

_FUNCTIONS = ("contains", "startsWith", "endsWith", "matches")
_SIGNS = {
    "'": "a text is not closed; end it with the quote that it begins with",
    '"': "a text is not closed; end it with the quote that it begins with",
    "=": "= means nothing here; write == to compare",
    "$": "$ means nothing here; write the name alone, such as inputs.count",
    **dict.fromkeys("“”‘’„«»", "these quotes are not known; put texts into ' or \""),
}
_WORDS = {
    "if": "'if' is not written here; a choice is condition ? one : other",
    "for": "'for' is not written here; lists have exists, all, filter and map",
}
_PATTERNS = (
    (re.compile(r"token recognition error at: '(.*)'"), "sign"),
    (re.compile(r"missing '(.*)' at '<EOF>'"), "end"),
    (re.compile(r"mismatched input '<EOF>' expecting '(.*)'"), "end"),
    (re.compile(r"(?:mismatched input|no viable alternative at input) '<EOF>'()"), "end"),
    (re.compile(r"missing '(.*)' at '"), "missing"),
    (re.compile(r"(?:extraneous|mismatched) input '(.*?)'(?: expecting|$)"), "surplus"),
    (re.compile(r"no viable alternative at input '(.*)'"), "surplus"),
    (re.compile(r"reserved identifier: (\w+)"), "reserved"),
)


def explain_syntax(said: str) -> str:
    """What is wrong; and behind a semicolon what to write instead."""
    said = said.removeprefix("Syntax error: ").split(" expecting {")[0]
    for pattern, kind in _PATTERNS:
        found = pattern.search(said)
        if found:
            return _describe_error(kind, found[1])
    if said.startswith("has() "):
        return "has() asks whether a field is there; write has(inputs.name)"
    return said


def _describe_error(kind: str, what: str) -> str:
    if kind == "sign":
        plain = f"the sign '{what.strip()[:8]}' means nothing here; take it away, or put the text into quotes"
        return _SIGNS.get(what[:1], plain)
    if kind == "end":
        return f"it ends too early; write {what or 'what is missing'} at its end"
    if kind == "missing":
        return f"{what} is missing; write it there"
    if kind == "reserved":
        return _WORDS.get(what, f"'{what}' is a word of CEL; choose another name")
    if what in _FUNCTIONS:
        return f"'{what}' is written a.{what}(b); write it so"
    return f"'{what[:40]}' is not expected there; take it away, or write what joins it to the rest, such as && or +"
