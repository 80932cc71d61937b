"""Words the engine's syntax errors for the author of an expression."""

import re

from greenroom.sentences import Words, build_sentence

ProblemAndRemedy = tuple[Words, Words]
_FUNCTIONS = ("contains", "startsWith", "endsWith", "matches")
_SIGNS = {
    "'": ("syntax.quote", "syntax.quote.remedy"),
    '"': ("syntax.quote", "syntax.quote.remedy"),
    "=": ("syntax.assign", "syntax.assign.remedy"),
    "$": ("syntax.dollar", "syntax.dollar.remedy"),
    **dict.fromkeys("“”‘’„«»", ("syntax.fancy_quote", "syntax.fancy_quote.remedy")),
}
_WORDS = {
    "if": ("syntax.if", "syntax.if.remedy"),
    "for": ("syntax.for", "syntax.for.remedy"),
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


def explain_syntax(said: str) -> ProblemAndRemedy:
    """What is wrong, and what to write instead; the latter is empty if the engine's words are all there is."""
    said = said.removeprefix("Syntax error: ").split(" expecting {")[0]
    for pattern, kind in _PATTERNS:
        found = pattern.search(said)
        if found:
            return _describe_error(kind, found[1])
    if said.startswith("has() "):
        return build_sentence("syntax.has"), build_sentence("syntax.has.remedy")
    return said, ""


def _describe_error(kind: str, what: str) -> ProblemAndRemedy:
    known = {"sign": _SIGNS.get(what[:1]), "reserved": _WORDS.get(what)}.get(kind)
    if known:
        return build_sentence(known[0]), build_sentence(known[1])
    match kind:
        case "sign":
            return build_sentence("syntax.sign", sign=what.strip()[:8]), build_sentence("syntax.sign.remedy")
        case "end" if what:
            return build_sentence("syntax.end"), build_sentence("syntax.end.remedy", what=what)
        case "end":
            return build_sentence("syntax.end"), build_sentence("syntax.end.unknown")
        case "missing":
            return build_sentence("syntax.missing", what=what), build_sentence("syntax.missing.remedy")
        case "reserved":
            return build_sentence("syntax.reserved", word=what), build_sentence("syntax.reserved.remedy")
    if what in _FUNCTIONS:
        return build_sentence("syntax.method", name=what), build_sentence("syntax.method.remedy")
    return build_sentence("syntax.surplus", what=what[:40]), build_sentence("syntax.surplus.remedy")
