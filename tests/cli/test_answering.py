"""Answering at a terminal: what is approved is what was shown, and no stray key approves anything."""

from typing import Any

import pytest

from tests.cli.person import Person
from tests.cli.shell import done, greenroom
from tests.stage import Stage

pytestmark = pytest.mark.one_stage

MANY, SOON_S, PIECES_S = 20, 0.5, 0.25
"""How often a person types or pastes, and how quickly, where it matters that they do not pause."""
MILD, RISKY = "SHELL make release", "SHELL rm -rf build"


def waiting(stage: Stage, prompt: str = MILD) -> tuple[str, dict[str, Any]]:
    """A run that waits for leave, and its ask."""
    run_id = stage.start(prompt)
    return run_id, stage.asked()


def state(stage: Stage, ask_id: str) -> tuple[str, str]:
    ask = stage.api.get(f"/api/asks/{ask_id}").json()
    return ask["state"], ask.get("answer", {}).get("verdict", "")


def test_the_only_open_ask_needs_no_id_and_is_shown_before_it_is_approved(stage: Stage) -> None:
    _, ask = waiting(stage)
    with Person(stage.hub.data, "ask", "approve") as person:
        before = person.sees("? [y/N] ")
        assert '"make release"' in before
        assert "make release”" in before, "the question names the call"
        assert state(stage, ask["id"]) == ("open", "")
        person.types("y\n")
        assert person.ends() == 0, person.screen
    assert state(stage, ask["id"]) == ("answered", "approve")


@pytest.mark.parametrize("typed", ["\n", "n\n", "approve\n"])
def test_anything_but_yes_leaves_it_open(stage: Stage, typed: str) -> None:
    _, ask = waiting(stage)
    with Person(stage.hub.data, "ask", "approve") as person:
        person.sees("? [y/N] ")
        person.types(typed)
        assert person.ends() == 1
    assert state(stage, ask["id"]) == ("open", "")


def test_what_was_typed_before_the_call_was_shown_approves_nothing(stage: Stage) -> None:
    _, ask = waiting(stage)
    with Person(stage.hub.data, "ask", "approve") as person:
        person.types("y\ny\n")
        person.sees("? [y/N] ")
        person.types("\n")
        assert person.ends() == 1, person.screen
    assert state(stage, ask["id"]) == ("open", "")


def test_the_end_of_a_word_that_is_being_typed_approves_nothing(stage: Stage) -> None:
    """No question is asked before whoever types has paused: the last letter of their word would answer it."""
    _, ask = waiting(stage)
    for _ in range(MANY):
        with Person(stage.hub.data, "ask", "approve") as person:
            person.sees(ask["id"])
            longest = person.types_on("and now they make it deplo", 0.1)
            person.types("y\n")
            is_asked = "[y/N]" in person.screen
            person.sees("? [y/N] ")
            person.types("\n")
            assert person.ends() == 1, person.screen
        assert state(stage, ask["id"]) == ("open", "")
        if longest < SOON_S:
            assert not is_asked, "they were still typing"
            return
    raise AssertionError("the machine is too busy to type on it")


def test_without_a_terminal_and_without_an_id_nothing_is_approved(stage: Stage) -> None:
    _, ask = waiting(stage)
    for verdict in ("approve", "deny", "answer"):
        ran = greenroom(stage.hub.data, "ask", verdict, stdin="y\n")
        assert (ran.code, ask["id"] in ran.err) == (1, True), ran
    ran = greenroom(stage.hub.data, "ask", "approve", "--yes", stdin="y\n")
    assert ran.code == 1
    assert state(stage, ask["id"]) == ("open", "")
    assert greenroom(stage.hub.data, "ask", "approve", "--digest", "0" * 64).code == 1
    assert state(stage, ask["id"]) == ("open", "")
    done(stage.hub.data, "ask", "approve", "--digest", ask["digest"])
    assert state(stage, ask["id"]) == ("answered", "approve")


def test_of_several_one_must_be_named(stage: Stage) -> None:
    asks = [stage.api.post("/api/asks", json={"title": f"Number {n}?"}).json() for n in range(2)]
    for action in ("show", "answer", "deny"):
        ran = greenroom(stage.hub.data, "ask", action)
        assert ran.code == 1
        assert all(ask["id"] in ran.err and ask["title"] in ran.err for ask in asks), ran
    done(stage.hub.data, "ask", "deny", *(ask["id"] for ask in asks))
    assert "Nothing waits" in greenroom(stage.hub.data, "ask", "show").err


def test_the_only_question_is_shown_and_answered_without_an_id(stage: Stage) -> None:
    ask = stage.api.post("/api/asks", json={"title": "Which port?"}).json()
    assert "Which port?" in done(stage.hub.data, "ask", "show").out
    with Person(stage.hub.data, "ask", "answer", "--text", "8080") as person:
        person.sees("Answer “Which port?”? [y/N] ")
        person.types("y\n")
        assert person.ends() == 0
    assert state(stage, ask["id"]) == ("answered", "answer")


def test_high_risk_is_approved_by_a_word(stage: Stage) -> None:
    _, ask = waiting(stage, RISKY)
    assert ask["risk"] == "high"
    for typed in ("y\n", "yes\n", "\n"):
        with Person(stage.hub.data, "ask", "approve", ask["id"]) as person:
            person.sees('Type "approve" to allow exactly this call: ')
            person.types(typed)
            assert person.ends() == 1
    assert state(stage, ask["id"]) == ("open", "")
    with Person(stage.hub.data, "ask", "approve") as person:
        person.sees('Type "approve" to allow exactly this call: ')
        person.types("approve\n")
        assert person.ends() == 0
    assert state(stage, ask["id"]) == ("answered", "approve")


def test_an_answer_that_comes_from_elsewhere_ends_the_question(stage: Stage) -> None:
    _, ask = waiting(stage)
    with Person(stage.hub.data, "ask", "approve") as person:
        person.sees("? [y/N] ")
        stage.decide(ask["id"], "deny", text="not today", name="Ann").raise_for_status()
        person.sees("has answered meanwhile (deny: not today)")
        assert person.ends() == 1


def test_a_run_is_approved_where_it_was_started(stage: Stage) -> None:
    with Person(stage.hub.data, "run", "rehearsal", f"{MILD}\nSAY the end") as person:
        before = person.sees("leave it to others > ")
        assert "medium risk" in before
        assert '"make release"' in before
        person.types("\n")
        person.sees("leave it to others > ")
        person.types("y\n")
        person.sees("leave it to others > ")
        person.types("a\n")
        person.sees("the end")
        assert person.ends() == 0
    assert "waiting —" not in person.screen


def test_several_pasted_lines_choose_nothing(stage: Stage) -> None:
    with Person(stage.hub.data, "run", "rehearsal", MILD) as person:
        person.sees("leave it to others > ")
        ask = stage.asked()
        person.types("what is this\na\n")
        person.sees("leave it to others > ")
        person.types("a\nb\n")
        person.sees("leave it to others > ")
        assert state(stage, ask["id"]) == ("open", ""), "its first line is no choice either"
        person.types("l\n")
        person.sees("Left to others")
        assert state(stage, ask["id"]) == ("open", "")


def test_lines_that_are_pasted_in_pieces_choose_nothing(stage: Stage) -> None:
    """Over a slow line the first of several lines arrives before the rest."""
    for _ in range(MANY):
        with Person(stage.hub.data, "run", "rehearsal", MILD) as person:
            person.sees("leave it to others > ")
            ask = stage.asked()
            if person.types_on("a\nb\n", 0.05) >= PIECES_S:
                stage.decide(ask["id"], "deny")
                continue
            person.sees("leave it to others > ")
            assert state(stage, ask["id"]) == ("open", "")
            return
    raise AssertionError("the machine is too busy to paste on it")


def test_what_the_terminal_marks_as_pasted_chooses_nothing(stage: Stage) -> None:
    with Person(stage.hub.data, "run", "rehearsal", RISKY) as person:
        person.sees("leave it to others > ")
        ask = stage.asked()
        assert person.raw.count("\x1b[?2004h") > person.raw.count("\x1b[?2004l"), "the terminal marks what is pasted"
        person.types("\x1b[200~a\n\x1b[201~")
        person.sees("leave it to others > ")
        person.types("a\n")
        person.sees('Type "approve" to allow exactly this call: ')
        person.types("\x1b[200~approve\x1b[201~\n")
        person.sees("Not approved.")
        assert state(stage, ask["id"]) == ("open", "")
        person.sees("leave it to others > ")
        person.types("l\n")
        person.sees("Left to others")
    assert person.raw.count("\x1b[?2004h") == person.raw.count("\x1b[?2004l"), "and no longer than that"


def test_a_run_is_refused_with_words_where_it_was_started(stage: Stage) -> None:
    with Person(stage.hub.data, "run", "rehearsal", MILD) as person:
        person.sees("leave it to others > ")
        ask = stage.asked()
        person.types("d\n")
        person.sees("such as why not")
        person.types("use make dist\n")
        person.ends()
    answer = stage.api.get(f"/api/asks/{ask['id']}").json()["answer"]
    assert (answer["verdict"], answer["text"]) == ("deny", "use make dist")


def test_a_run_asks_for_a_word_when_the_risk_is_high(stage: Stage) -> None:
    with Person(stage.hub.data, "run", "rehearsal", f"{RISKY}\nSAY the end") as person:
        person.sees("leave it to others > ")
        ask = stage.asked()
        person.types("a\n")
        person.sees('Type "approve" to allow exactly this call: ')
        person.types("a\n")
        person.sees("Not approved.")
        assert state(stage, ask["id"]) == ("open", "")
        person.sees("leave it to others > ")
        person.types("a\n")
        person.sees('Type "approve" to allow exactly this call: ')
        person.types("approve\n")
        person.sees("the end")
        assert person.ends() == 0


def test_a_run_goes_on_when_others_answer(stage: Stage) -> None:
    with Person(stage.hub.data, "run", "rehearsal", f"{MILD}\n{MILD} twice\nASK which port?\nSAY the end") as person:
        person.sees("leave it to others > ")
        stage.decide(stage.asked()["id"], "approve", name="Ann").raise_for_status()
        person.sees("has answered meanwhile (approve)")
        person.sees("leave it to others > ")
        person.types("l\n")
        person.sees("Left to others")
        person.sees("waiting — ")
        stage.decide(stage.asked()["id"], "approve").raise_for_status()
        person.sees("Your answer (empty leaves it to others): ")
        person.types("8080\n")
        person.sees("the end")
        assert person.ends() == 0


def test_two_asks_are_not_answered_by_one_impatient_hand(stage: Stage) -> None:
    with Person(stage.hub.data, "run", "rehearsal", f"{MILD}\n{MILD} twice\nSAY the end") as person:
        person.sees("leave it to others > ")
        person.types("a\n")
        person.sees("Approved.")
        person.types("a\na\na\n")
        person.sees("leave it to others > ")
        second = stage.asked()
        assert "twice" in second["title"]
        person.types("d\n")
        person.sees("such as why not")
        person.types("\n")
        person.ends()
    assert state(stage, second["id"]) == ("answered", "deny")


def test_the_end_of_input_leaves_it_to_others(stage: Stage) -> None:
    with Person(stage.hub.data, "run", "rehearsal", f"{MILD}\nSAY the end") as person:
        person.sees("leave it to others > ")
        person.types("\x04")
        person.sees("Left to others")
        ask = stage.asked()
        assert state(stage, ask["id"]) == ("open", "")
        with Person(stage.hub.data, "ask", "approve") as other:
            other.sees("? [y/N] ")
            other.types("\x04")
            assert other.ends() == 1
        assert state(stage, ask["id"]) == ("open", "")
        stage.decide(ask["id"], "approve").raise_for_status()
        person.sees("the end")
        assert person.ends() == 0


def test_what_agents_below_ask_is_put_before_the_person_too(stage: Stage) -> None:
    with Person(stage.hub.data, "run", "rehearsal", f"SPAWN rehearsal {MILD}\nSAY the end") as person:
        asked = person.sees("leave it to others > ")
        assert '"make release"' in asked
        person.types("a\n")
        person.sees("Approved.")
        person.sees("the end")
        assert person.ends() == 0
