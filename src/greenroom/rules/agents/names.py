"""The names that an agent may use: none that people could mistake for somebody else's."""

import unicodedata

from greenroom.accents import decompose
from greenroom.errors import Refused

_READ_AS = {
    "a": "аαɑ@",
    "b": "вьβ",
    "c": "сϲ",
    "d": "ԁ",
    "e": "еεє3",
    "g": "ɡց",
    "h": "нһ",
    "i": "іιıɩl1|ӏǀ",
    "j": "јϳ",
    "k": "кκ",
    "m": "м",
    "n": "пηո",
    "o": "оοօσ0",
    "p": "рρ",
    "q": "ԛգ",
    "r": "г",
    "s": "ѕ5$ꜱ",
    "t": "тτ",
    "u": "υսμ",
    "v": "νѵ",
    "w": "ԝωɯ",
    "x": "хχ",
    "y": "уүγ",
}
"""Letters of other scripts, and signs, by the Latin letter that they are taken for; i, l and 1 are one."""


class _Letters(dict[int, str]):
    """What a character looks like, by its number: nothing if it is not seen or only parts words."""

    def __missing__(self, code: int) -> str:
        return "" if unicodedata.category(chr(code))[0] in "CMZP" else chr(code)


_LETTERS = _Letters((ord(other), latin) for latin, others in _READ_AS.items() for other in others)
_LETTERS.update((code, _LETTERS[code]) for code in range(128))  # most names are of these


def compute_skeleton(name: str) -> str:
    """What a name looks like to a person: case, spacing, accents and look-alike letters taken away."""
    plain = decompose(name).casefold()
    return plain.translate(_LETTERS).replace("rn", "m").replace("vv", "w")


_RESERVED = frozenset(
    compute_skeleton(name)
    for name in ("operator", "system", "hub", "greenroom", "human", "user", "admin", "administrator", "you")
)


def need_name(text: str, what: str, limit: int = 64) -> str:
    """The name without spaces around it, or a refusal with the reason."""
    name = text.strip()
    if not name or len(name) > limit:
        raise Refused("bad_name.length", field=what, limit=limit)
    if any(unicodedata.category(c) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp") for c in name):
        raise Refused("bad_name.characters", field=what)
    if compute_skeleton(name) in _RESERVED:
        raise Refused("reserved_name", field=what, name=name)
    return name
