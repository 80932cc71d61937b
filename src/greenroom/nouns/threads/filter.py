"""The content filter: what looks like a secret is refused before it is kept for ever."""

import re

from greenroom.nouns.access.tokens import PATTERN as GREENROOM_TOKEN

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
    ("JSON web token", re.compile(r"\beyJ[A-Za-z0-9_-]{17,}\.eyJ[A-Za-z0-9_-]{17,}")),
    ("private key", re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----")),
)
_GITHUB = ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_")
_HINTS = (
    "gr_",
    "AKIA",
    "ASIA",
    *_GITHUB,
    "glpat",
    "sk-",
    "AIza",
    "xox",
    "k_live_",
    "npm_",
    "AccountKey=",
    "eyJ",
    "PRIVATE KEY",
)


def find_secret(text: str) -> str | None:
    """The name of the first kind of secret that the text seems to hold."""
    for hint in _HINTS:  # any() would take twice as long, and every message passes here
        if hint in text:
            break
    else:
        return None
    return next((name for name, pattern in PATTERNS if pattern.search(text)), None)
