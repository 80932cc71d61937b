"""Unknown model names: a sentence that suggests similar ones."""

from collections.abc import Collection

from greenroom.validation import get_nearest

_FEW = 8


def explain_unknown_model(model: str, known: Collection[str]) -> str | None:
    """What is wrong with the key `model`, and what to write instead; None if the model is known."""
    if model in known:
        return None
    near = get_nearest(model, known)
    if near is not None:
        return f"model: there is no model '{model[:100]}' here: did you mean '{near}'?"
    few = ", ".join(sorted(known)[:_FEW]) + (", ..." if len(known) > _FEW else "")
    return f"model: there is no model '{model[:100]}' here: there is {few or 'none'}"
