"""Characters that a person cannot see, or mistakes for others."""

import re

BLANK = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)
"""Characters that show nothing, or reverse the text beside them."""
_ALIKE = "\u0370-\u058f\u13a0-\u13ff\u1f00-\u1fff\u2c60-\u2c7f\ua640-\ua69f\uff01-\uff5e\U0001d400-\U0001d7ff"
ALIKE = re.compile(f"[{_ALIKE}]")
"""Letters of other alphabets (Greek, Cyrillic, Armenian, Cherokee, wide and mathematical ones) that look like Latin."""
WORD = re.compile(r"[^\W\d_]+")
_TWINS = frozenset(
    "\u0430\u0435\u0455\u0456\u0458\u043e\u0440\u0441\u0443\u0445\u04bb\u0501\u051b\u051d\u0475\u0410\u0412\u0415\u041a\u041c\u041d\u041e"
    "\u0420\u0421\u0422\u0425\u0423\u0405\u0406\u0408\u03bf\u03bd\u03b1\u03b9\u03c5\u03c1\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c"
    "\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
)


def is_confusable(word: str) -> bool:
    """Whether a word of letters looks like one of Latin letters, or is made of both."""
    if word.isascii() or ALIKE.search(word) is None:
        return False
    return any("a" <= one.lower() <= "z" for one in word) or _TWINS.issuperset(word)
