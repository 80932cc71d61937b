"""Secrets in known formats: finds them in a text and masks them for readers of the log."""

import re
from typing import Any

from greenroom.link.tokens import PATTERN as GREENROOM_TOKEN
from greenroom.log.codec import encode
from greenroom.sentences import Sentence

_WEB_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]*+\.eyJ[A-Za-z0-9_-]{17})[A-Za-z0-9_-]*?\beyJ[A-Za-z0-9_-]{17,}"
    r"\.eyJ[A-Za-z0-9_-]{17,}(?:\.[A-Za-z0-9_-]+)?"
)
"""It looks at each run of letters once: `eyJ-eyJ-...` would else be read again from each of its beginnings."""
PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("Greenroom token", GREENROOM_TOKEN),
    ("AWS access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}")),
    ("GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b")),
    ("GitLab token", re.compile(r"\bglpat-[A-Za-z0-9_-]{20,}\b")),
    ("Anthropic key", re.compile(r"\bsk-ant-[A-Za-z0-9_-]{20,}")),
    ("OpenAI key", re.compile(r"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{32,}\b")),
    ("Google API key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b")),
    ("Slack token", re.compile(r"\bxox[abeprs]-[A-Za-z0-9-]{10,}\b")),
    ("Stripe key", re.compile(r"\b[rs]k_live_[A-Za-z0-9]{20,}\b")),
    ("npm token", re.compile(r"\bnpm_[A-Za-z0-9]{36}\b")),
    ("Azure storage key", re.compile(r"\bAccountKey=[A-Za-z0-9+/]{40,}={0,2}")),
    ("JSON web token", _WEB_TOKEN),
    ("private key", re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[A-Za-z0-9+/=\s\\]*")),
)
_HINTS: dict[str, tuple[str, ...]] = {
    "Greenroom token": ("gr_",),
    "AWS access key": ("AKIA", "ASIA"),
    "GitHub token": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    "GitLab token": ("glpat",),
    "Anthropic key": ("sk-",),
    "OpenAI key": ("sk-",),
    "Google API key": ("AIza",),
    "Slack token": ("xox",),
    "Stripe key": ("k_live_",),
    "npm token": ("npm_",),
    "Azure storage key": ("AccountKey=",),
    "JSON web token": ("eyJ",),
    "private key": ("PRIVATE KEY",),
}
"""What a text must hold for a pattern to be worth the time: it is found much faster."""
_ALL_HINTS = tuple(dict.fromkeys(hint for hints in _HINTS.values() for hint in hints))
_CREDENTIAL = re.compile(r"((?:[Bb]earer|[Bb]asic) +|://[^\s/:@]{1,100}:)([A-Za-z0-9._~+/=-]{8,})")
"""What follows words that say that it is a secret."""
_CREDENTIAL_HINTS = ("earer ", "asic ", "://")
_MASK = "MASKED"
"""Plain letters: in a command they are one word, as the secret was."""
_SHOWN = 4
_SHORTEST = 8
"""No shorter text is masked."""


def find_likely_patterns(text: str) -> list[tuple[str, re.Pattern[str]]]:
    """The patterns that are worth trying on a text: for nearly all texts none."""
    for hint in _ALL_HINTS:  # any() would take twice as long, and every message passes here
        if hint in text:
            break
    else:
        return []
    return [(name, pattern) for name, pattern in PATTERNS if any(hint in text for hint in _HINTS[name])]


def mask_text(text: str) -> str:
    """A text in which of every secret of a known form only the beginning is left."""
    if len(text) < _SHORTEST:
        return text
    for _, pattern in find_likely_patterns(text):
        text = pattern.sub(lambda found: f"{found[0][:_SHOWN]}{_MASK}", text)
    return _CREDENTIAL.sub(lambda found: found[0] if _MASK in found[2] else f"{found[1]}{_MASK}", text)


def mask_secrets(value: Any) -> Any:
    """JSON, or words, in which every text is masked; quick for what holds nothing that looks like a secret."""
    text = encode(value).decode()
    return _mask(value) if any(hint in text for hint in (*_ALL_HINTS, *_CREDENTIAL_HINTS)) else value


def _mask(value: Any) -> Any:
    match value:
        case str():
            return mask_text(value)
        case list() if value:
            return [_mask(one) for one in value]
        case dict() if value:
            return {mask_text(name): _mask(one) for name, one in value.items()}
        case Sentence():
            return Sentence(value.key, _mask(value.params))
    return value
