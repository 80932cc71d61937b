"""Shows a call completely: characters that are invisible or look like others are written out."""

import json
import re
from typing import Any

from greenroom.link.policy_facts.confusables import ALIKE, BLANK, WORD, is_confusable
from greenroom.rules.asks.model import Ask

_MOST = 200
_NAMED = dict.fromkeys(("command", "cmd", "file_path", "path", "url"))
"""Arguments that describe the whole call, the most informative one first."""


def escape_invisible(text: str) -> str:
    """The text with everything that a screen would not show, or would show as something else, as an escape."""
    if not text.isascii():
        text = WORD.sub(lambda word: ALIKE.sub(_escape_match, word[0]) if is_confusable(word[0]) else word[0], text)
    return "".join(one if one == " " or (one.isprintable() and not _misleads(one)) else _escape(one) for one in text)


def _misleads(one: str) -> bool:
    return one.isspace() or BLANK.fullmatch(one) is not None


def _escape_match(found: re.Match[str]) -> str:
    return _escape(found[0])


def _escape(one: str) -> str:
    return one.encode("unicode_escape").decode()


def build_call_title(tool: str, arguments: Any) -> str:
    """One line for lists: the tool and its object, from the call itself and never from the agent's words."""
    about = ""
    if isinstance(arguments, dict):
        named = [arguments[key] for key in _NAMED if key in arguments]
        about = (
            _render_value(named[0])
            if named
            else ", ".join(f"{key}={_render_value(value)}" for key, value in arguments.items())
        )
    elif arguments is not None:
        about = _render_value(arguments)
    whole = f"{tool}: {about}" if about else tool
    line = escape_invisible(whole[:_MOST])  # of a long one the rest is counted, and not looked through
    more = max(0, len(whole) - _MOST) + max(0, len(line) - _MOST)
    return f"{line[:_MOST]}… ({more} more characters)" if more else line


def is_fully_titled(ask: Ask, most: int) -> bool:
    """Whether the title alone shows all that an approval of the ask would allow, in at most so many characters."""
    title = str(ask.title)
    if len(title) > most or ask.form is not None or ask.contents or "reach" in ask.labels:
        return False
    if ask.subject is None:
        return str(ask.text).strip() in ("", title.strip()) and not ask.questions
    given = ask.subject.arguments
    is_shown = not isinstance(given, dict) or len(given) <= 1 or not _NAMED.keys() & given.keys()
    return is_shown and title == build_call_title(ask.subject.tool, given)


def _render_value(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_render_value, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
