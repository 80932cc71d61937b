"""Which names an agent may bear: none that could be taken for somebody else's."""

import unicodedata

from greenroom.log.errors import Refused

_RESERVED = frozenset({"operator", "system", "hub", "greenroom", "human", "user", "admin", "administrator", "you"})
_LOOKALIKES = str.maketrans(
    "аесорхуікмтвнԁɡј0135$@|",
    "aecopxyikmtbhdgjoiessal",
)


def skeleton(name: str) -> str:
    """What a name looks like to a person: case, spacing, accents and look-alike letters taken away."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    visible = "".join(c for c in plain if unicodedata.category(c)[0] not in "CMZP")
    return visible.translate(_LOOKALIKES)


def need_name(text: str, what: str, limit: int = 64) -> str:
    """The name without spaces around it, or a refusal that says what is wrong with it."""
    name = text.strip()
    if not name or len(name) > limit:
        raise Refused("bad_name", f"{what} must have 1 to {limit} characters.")
    if any(unicodedata.category(c) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp") for c in name):
        raise Refused("bad_name", f"{what} holds invisible or control characters: leave them out.")
    if skeleton(name) in _RESERVED:
        raise Refused("reserved_name", f"{what} '{name}' is reserved or looks like a reserved one: choose another.")
    return name
