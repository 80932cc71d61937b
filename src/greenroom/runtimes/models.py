"""Models that a runtime does not know: which were meant, in a sentence."""

from collections.abc import Collection

from greenroom.validation import get_nearest

_FEW = 8


def explain_unknown(model: str, known: Collection[str]) -> str | None:
    """What is wrong with the name of a model, and what to write instead; None if it is known."""
    if model in known:
        return None
    near = get_nearest(model, known)
    few = ", ".join(sorted(known)[:_FEW]) + (", ..." if len(known) > _FEW else "")
    meant = f"did you mean '{near}'?" if near else f"there is {few}" if known else "it knows none"
    return f"there is no model '{model[:100]}' here: {meant}"
