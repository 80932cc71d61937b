"""Every sentence for people is there in both languages, with the parameters that the code gives."""

import json
from pathlib import Path

import pytest

from greenroom import sentences
from greenroom.errors import Refused
from greenroom.sentences import CATALOGUE, PLACE, build_sentence
from tests import ROOT
from tests.docs.test_reference import load
from tests.sentences.sentence_calls import find_all_texts, find_sentence_calls

CHINESE: dict[str, str] = json.loads(Path(sentences.__file__).with_name("zh-CN.json").read_text())
CALLS = list(find_sentence_calls())


def _params(text: str) -> set[str]:
    return set(PLACE.findall(text))


def test_both_languages_have_the_same_sentences() -> None:
    assert CATALOGUE.keys() == CHINESE.keys()


def test_both_languages_use_the_same_parameters() -> None:
    wrong = [key for key, text in CATALOGUE.items() if _params(text) != _params(CHINESE.get(key, text))]
    assert not wrong


def test_every_sentence_that_the_code_names_is_in_the_catalogue() -> None:
    assert len(CALLS) > 300, "the sentences are not found in the source any more"
    missing = [call for call in CALLS if call.key not in CATALOGUE]
    assert not missing


def test_every_sentence_gets_the_parameters_that_it_uses() -> None:
    wrong = [call for call in CALLS if call.params != _params(CATALOGUE.get(call.key, ""))]
    assert not wrong


def test_the_catalogue_holds_no_sentence_that_the_code_does_not_name() -> None:
    unused = CATALOGUE.keys() - {call.key for call in CALLS} - find_all_texts()
    assert not unused


@pytest.mark.parametrize("catalogue", [CATALOGUE, CHINESE], ids=["English", "Chinese"])
def test_keys_are_sorted_so_that_two_changes_seldom_meet(catalogue: dict[str, str]) -> None:
    assert list(catalogue) == sorted(catalogue)


def test_the_code_of_a_refusal_is_its_key_up_to_the_first_dot() -> None:
    no = Refused("too_long.summary", "too_large", limit=500)
    assert (no.code, no.kind, no.message) == ("too_long", "too_large", "Keep the summary under 500 characters.")


def test_every_error_code_is_named_in_a_test() -> None:
    """By a string, in a test that causes it: a table of refusals, or the sentence that is built from its key."""
    census = load(ROOT / "scripts" / "census.py")
    assert not census.find_untested_codes(census.read_modules())


def test_a_list_is_joined_by_commas_and_one_of_sentences_by_semicolons() -> None:
    words = build_sentence("bad_risk", risks=("low", "high"))
    assert str(words) == "Write a risk of low, high."
    both = build_sentence("bad_risk", risks=[words, build_sentence("person")])
    assert str(both) == "Write a risk of Write a risk of low, high.; A person."


def test_no_full_stop_follows_a_question() -> None:
    question = build_sentence("field.unknown_key_near", near="url")
    said = build_sentence("bad_request.body_field", key="ulr", problem=question)
    assert str(said).endswith("ulr: this key is not known; did you mean 'url'?")
