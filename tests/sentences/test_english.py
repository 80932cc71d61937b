"""What programs get of a sentence is its English text, wherever a type declares words."""

import msgspec

from greenroom.sentences import Sentence, Words, build_sentence
from greenroom.sentences.english import find_sentences, render_english


class Step(msgspec.Struct):
    error: Words | None = None
    below: list["Step"] = []
    labels: dict[str, Words] = {}
    said: Sentence | None = None
    first: "Step | None" = None


SAID = build_sentence("bad_risk", risks=("low", "high"))
ENGLISH = "Write a risk of low, high."


def test_words_become_english_however_deep_they_are_and_a_sentence_stays_one() -> None:
    step = Step(error=SAID, below=[Step(error="no")], labels={"like": SAID, "other": "yes"}, said=SAID)
    got = render_english([{"step": msgspec.structs.replace(step, first=Step(error=SAID))}])[0]["step"]
    assert (got.error, got.below[0].error, got.said) == (ENGLISH, "no", SAID)
    assert got.labels == {"like": ENGLISH, "other": "yes"}
    assert got.first is not None and got.first.error == ENGLISH


def test_a_struct_without_words_is_not_copied() -> None:
    assert render_english(SAID) is SAID


def test_the_sentences_of_a_struct_are_found_by_the_names_of_its_fields() -> None:
    assert find_sentences(Step(error=SAID, first=Step(error=SAID))) == {"error": SAID, "first.error": SAID}
    assert find_sentences(Step(error="an agent's words")) == {}


class Problem(msgspec.Struct):
    message: Words
    sentences: dict[str, Sentence] = {}


def test_a_struct_with_a_place_for_sentences_gets_them_beside_its_english() -> None:
    got = render_english(Problem(SAID))
    assert (got.message, got.sentences) == (ENGLISH, {"message": SAID})
