"""The content filter: refuses what looks like a secret before the log stores it permanently."""

from greenroom.rules.access.secrets import find_likely_patterns


def find_secret(text: str) -> str | None:
    """The name of the first kind of secret that the text seems to hold."""
    return next((name for name, pattern in find_likely_patterns(text) if pattern.search(text)), None)
