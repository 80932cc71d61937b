"""Unknown model names: a sentence that suggests similar ones."""

from collections.abc import Collection

from greenroom.sentences import Sentence, build_sentence
from greenroom.validation import get_nearest

_FEW = 8


def explain_unknown_model(model: str, known: Collection[str]) -> Sentence | None:
    """What is wrong with a model, and what to write instead; None if it is known."""
    if model in known:
        return None
    near = get_nearest(model, known)
    if near is not None:
        suggestion = build_sentence("suggestion.near", near=near)
    elif not known:
        suggestion = build_sentence("suggestion.none")
    else:
        key = "suggestion.many" if len(known) > _FEW else "suggestion.few"
        suggestion = build_sentence(key, names=sorted(known)[:_FEW])
    return build_sentence("profile_problem.no_model", model=model[:100], suggestion=suggestion)
