"""A call in words that hide nothing: what cannot be seen is written out."""

from typing import Any

_MOST = 200


def visible(text: str) -> str:
    """The text with everything that a screen would not show, or would show as something else, as an escape."""
    return "".join(one if one == " " or (one.isprintable() and not _misleads(one)) else _escape(one) for one in text)


def _misleads(one: str) -> bool:
    return one.isspace() or 0x200B <= ord(one) <= 0x200F or 0x202A <= ord(one) <= 0x202E or 0x2066 <= ord(one) <= 0x2069


def _escape(one: str) -> str:
    return one.encode("unicode_escape").decode()


def title_of(tool: str, arguments: Any) -> str:
    """One line for lists: the tool and what it is about, from the call itself and never from the agent's words."""
    about = ""
    if isinstance(arguments, dict):
        named = [arguments[key] for key in ("command", "cmd", "file_path", "path", "url") if key in arguments]
        about = _text(named[0]) if named else ", ".join(f"{key}={_text(value)}" for key, value in arguments.items())
    elif arguments is not None:
        about = _text(arguments)
    line = visible(f"{tool}: {about}" if about else tool)
    return line if len(line) <= _MOST else f"{line[:_MOST]}… ({len(line) - _MOST} more characters)"


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_text, value))
    return value if isinstance(value, str) else repr(value)
