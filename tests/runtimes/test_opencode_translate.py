"""What OpenCode's real server told, translated."""

import json
from collections.abc import Iterator
from typing import Any

from greenroom.runtimes.agents.opencode.limits import get_retry_end, get_step_limit_end
from greenroom.runtimes.agents.opencode.requests import OpencodeRequest, read_permission, read_question
from greenroom.runtimes.agents.opencode.session import make_message_id
from greenroom.runtimes.agents.opencode.translator import OpencodeTranslator, read_turn_end
from greenroom.runtimes.contract import (
    CallFinished,
    CallStarted,
    Heard,
    PermissionAsked,
    QuestionAsked,
    Said,
    TurnEnded,
    Usage,
)
from tests.runtimes.native_rig import last, only, said
from tests.runtimes.opencode_recorder import FIXTURE


def turns() -> Iterator[list[Heard]]:
    """Feed the fixture through the translation; what comes between two prompts is one turn."""
    translator = OpencodeTranslator()
    heard: list[Heard] = []
    said_last = ""
    is_cancelled = False

    def over() -> list[Heard]:
        answers = [one for one in translator.answers.values() if one.parent == said_last]
        return [*heard, *translator.finish_calls(), read_turn_end(answers[-1], is_cancelled=is_cancelled)]

    for line in FIXTURE.read_text().splitlines():
        ((who, message),) = json.loads(line).items()
        if who == "client" and message["path"].endswith("/prompt_async"):
            if said_last:
                yield over()
            heard, said_last, is_cancelled = [], message["body"]["messageID"], False
            translator.begin()
        elif who == "client":
            is_cancelled = is_cancelled or message["path"].endswith("/abort")
        elif message["type"] == "permission.asked":
            heard += read_permission(translator, message["properties"])[1]
        elif message["type"] == "question.asked":
            heard += read_question(message["properties"])[1]
        else:
            heard += translator.translate(message["type"], message["properties"])
    yield over()


def test_a_recorded_session_is_understood() -> None:
    greeting, hub, allowed, refused, withdrawn, slow, write, question, failed = turns()

    assert said(greeting) == "hello there"
    assert len({one.message for one in greeting if isinstance(one, Said)}) == 1
    assert last(greeting, Usage) == Usage(1000, 50, 0.0011, "fake-model")
    assert greeting[-1] == TurnEnded(reason="done")

    assert only(hub, CallStarted).tool == "mcp__greenroom__bus_get_config"
    assert only(hub, CallFinished).ok
    assert last(hub, Usage) == Usage(2000, 100, 0.0022, "fake-model")

    asked = only(allowed, PermissionAsked)
    assert (asked.tool, asked.input, asked.title) == ("bash", {"command": "touch allowed"}, "touch allowed")
    assert asked.call == only(allowed, CallStarted).call == only(allowed, CallFinished).call
    assert only(allowed, CallFinished).ok
    assert said(allowed) == "did it"

    assert not only(refused, CallFinished).ok
    assert "went on" in said(refused)
    assert withdrawn[-1] == slow[-1] == TurnEnded(reason="cancelled")
    assert not only(withdrawn, CallFinished).ok
    assert said(slow)

    assert only(write, PermissionAsked).tool == "write"
    assert "made.txt" in str(only(write, PermissionAsked).input)
    assert (only(question, QuestionAsked).question, only(question, QuestionAsked).options) == ("Which one?", ["A", "B"])
    assert failed[-1] == TurnEnded(reason="failed", error="fake error")


def test_every_decision_has_its_reply() -> None:
    asked = OpencodeRequest("per_1", ["prm_1"])
    path = "/permission/per_1/reply"
    assert asked.build_reply("allow", "") == (path, {"reply": "once"})
    assert asked.build_reply("deny", "use another") == (path, {"reply": "reject", "message": "use another"})
    assert asked.build_reply("deny", "") == (
        path,
        {"reply": "reject", "message": "This was not allowed. Go on without it."},
    )
    assert asked.build_reply("cancel", "") == (path, {"reply": "reject"})
    question = OpencodeRequest("que_1", ["a", "b"], is_question=True, answers={"b": "two", "a": "one"})
    assert question.build_reply("allow", "") == ("/question/que_1/reply", {"answers": [["one"], ["two"]]})
    assert question.build_reply("deny", "") == ("/question/que_1/reject", None)


def test_ids_of_messages_sort_by_their_time_as_opencodes_own_do() -> None:
    recorded = [json.loads(line) for line in FIXTURE.read_text().splitlines()]
    theirs: Any = next(
        one["agent"]["properties"]["info"]
        for one in recorded
        if "agent" in one
        and one["agent"]["type"] == "message.updated"
        and "parentID" in one["agent"]["properties"]["info"]
    )
    assert theirs["parentID"] < theirs["id"]
    assert len(make_message_id()) == len(theirs["id"])
    assert make_message_id() <= make_message_id()[:16] + "z"


def test_what_is_not_understood_is_passed_over() -> None:
    translator = OpencodeTranslator()
    odd: list[dict[str, Any]] = [
        {},
        {"part": {"type": "tool"}},
        {"info": {"role": "assistant"}},
        {"part": {"type": "text"}},
    ]
    for properties in odd:
        for kind in ("message.updated", "message.part.updated", "message.part.delta", "something.new"):
            assert translator.translate(kind, properties) == []


def test_opencode_is_not_left_to_try_for_ever() -> None:
    now = 1_000_000
    status = {"type": "retry", "attempt": 4, "message": "rate limit reached", "next": now + 16_000}
    assert get_retry_end(status, now) is None
    ended = get_retry_end({**status, "attempt": 5}, now)
    assert ended is not None
    assert (ended.reason, "rate limit reached" in str(ended.error)) == ("limit", True)
    far = get_retry_end({**status, "next": now + 3_600_000}, now)
    assert far == TurnEnded(reason="quota", error="rate limit reached", resets_at=now + 3_600_000)


def test_the_last_step_that_a_turn_may_take_is_told_as_a_limit() -> None:
    assert get_step_limit_end(100, None) is None
    assert get_step_limit_end(2, 3) is None
    ended = get_step_limit_end(3, 3)
    assert ended is not None
    assert (ended.reason, str(ended.error)) == ("limit", "OpenCode reached its limit of 3 steps for one turn")
