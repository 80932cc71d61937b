"""Scripts of `sed`, of which some run commands (`e`, `s/a/b/e`): all but simple forms are suspect."""

import re

_PART = r"(?:[^{0}\\\n\[]|\\[^\nc]|\[\^?(?:[^\]{0}\\\n\[]+|\[:\w+:\])\])*"
_DELIMITERS = r"/|,:#@~"
_REPLACED = "|".join(
    rf"s{re.escape(one)}{_PART.format(re.escape(one))}{re.escape(one)}"
    rf"(?:[^{re.escape(one)}\\\n]|\\[^c])*{re.escape(one)}[gpiImM0-9]*"
    for one in _DELIMITERS
)
_ADDRESS = rf"(?:\d+|\$|/{_PART.format('/')}/[IM]?)"
_COMMAND = (
    rf"[ \t]*+(?:{_ADDRESS}(?:,[+~]?{_ADDRESS})?)?+[ \t]*+!?\{{?[ \t]*+"
    rf"(?:[pPdDqQ=hHgGxnN]|{_REPLACED})?+[ \t]*+\}}?[ \t]*+"
)
_HARMLESS = re.compile(rf"{_COMMAND}(?:[;\n]{_COMMAND})*")
_FLAGS = re.compile(
    r"-[nErsuz]+|-[nErsuz]*i.*|--(?:posix|quiet|silent|regexp-extended|null-data|separate|unbuffered|sandbox|debug"
    r"|in-place(?:=.*)?)"
)
_TAKES_SCRIPT = re.compile(r"-[nErsuz]*e|--expression")
_GLUED_SCRIPT = re.compile(r"(?:-[nErsuz]*e|--expression=)(.+)", re.DOTALL)
_SCRIPT_FILE = re.compile(r"-[nErsuz]*f|--file")
_LONGEST = 500


def may_execute(words: tuple[str | None, ...]) -> bool:
    """Whether one of the arguments of `sed` may be a script that runs a command."""
    operands: list[str | None] = []
    is_told = False
    rest = iter(words)
    for word in rest:
        glued = _GLUED_SCRIPT.fullmatch(word or "")
        if word is None or not word.startswith("-") or word == "-":
            operands.append(word)
        elif _TAKES_SCRIPT.fullmatch(word) or glued:
            is_told = True
            if not _is_harmless(glued[1] if glued else next(rest, None)):
                return True
        elif _SCRIPT_FILE.fullmatch(word):
            is_told = True
            next(rest, None)
        elif not _FLAGS.fullmatch(word):
            return True
    return not is_told and bool(operands) and not _is_harmless(operands[0])


def _is_harmless(script: str | None) -> bool:
    return script is not None and len(script) <= _LONGEST and _HARMLESS.fullmatch(script) is not None
