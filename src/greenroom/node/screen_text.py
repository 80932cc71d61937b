"""One line of a screen as text: plain, or with its colours and no other escape."""

from pyte.screens import Char, StaticDefaultDict

_COLOURS = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")
_STYLES = (("bold", 1), ("italics", 3), ("underscore", 4), ("blink", 5), ("reverse", 7), ("strikethrough", 9))


def render_text(line: "StaticDefaultDict[int, Char]", columns: int) -> str:
    """A line without its colours."""
    return "".join([line[x].data for x in range(min(max(line, default=-1) + 1, columns))]).rstrip()


def render_ansi(line: "StaticDefaultDict[int, Char]", columns: int) -> str:
    """A line with its colours; only sequences for colours are in it."""
    out: list[str] = []
    style = ""
    last = max((x for x, char in line.items() if char != line.default and x < columns), default=-1)
    for x in range(last + 1):
        char = line[x]
        now = _build_style(char)
        if now != style:
            out.append(f"\x1b[0{now}m")
            style = now
        out.append("".join(mark for mark in char.data if mark.isprintable()) or ("" if char.data == "" else " "))
    return "".join(out) + ("\x1b[0m" if style else "")


def _build_style(char: Char) -> str:
    found = "".join(f";{code}" for name, code in _STYLES if getattr(char, name))
    return found + _build_colour(char.fg, 30) + _build_colour(char.bg, 40)


def _build_colour(name: str, base: int) -> str:
    if name == "default":
        return ""
    if name in _COLOURS:
        return f";{base + _COLOURS.index(name)}"
    if name.startswith("bright") and (plain := name.removeprefix("bright")) in _COLOURS:
        return f";{base + 60 + _COLOURS.index(plain)}"
    try:
        red, green, blue = bytes.fromhex(name)
    except ValueError:
        return ""
    return f";{base + 8};2;{red};{green};{blue}"
