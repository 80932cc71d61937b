"""What the real Claude Code said, translated, and the account of what it used."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from greenroom.runtimes.agents.claude.session_usage import SessionUsage, UsageTotals
from greenroom.runtimes.agents.claude.translator import (
    ClaudeTranslator,
    read_permission,
    read_reset_time,
    read_turn_end,
)
from greenroom.runtimes.contract import (
    CallFinished,
    CallStarted,
    Heard,
    PermissionAsked,
    QuestionAsked,
    Said,
    Thought,
    TurnEnded,
    Usage,
)
from tests.runtimes.acp_recorder import get_fixture
from tests.runtimes.native_rig import last, only, said

Json = dict[str, Any]


def turns() -> Iterator[list[Heard]]:
    """Feed the fixture through the translation, as the session does; each prompt is a turn."""
    translator, account = ClaudeTranslator(), SessionUsage()
    heard: list[Heard] = []
    for line in get_fixture("claude").read_text().splitlines():
        ((who, message),) = json.loads(line).items()
        if who == "client":
            continue
        if message["type"] == "control_request":
            heard += read_permission(message["request_id"], message["request"])
        elif message["type"] == "result":
            yield [*heard, account.close(message), read_turn_end(message)]
            heard = []
        else:
            heard += translator.translate(message)
            used = account.count(message.get("event", {}))
            heard += [used] if used else []


def test_a_recorded_session_is_understood() -> None:
    answer, hub, allowed, refused, withdrawn, slow, write, question, failed = turns()

    assert said(answer) == "hello there"
    assert len({one.message for one in answer if isinstance(one, Said)}) == 1
    assert answer[-2:] == [Usage(1000, 50, 0.005, "claude-opus-5-5"), TurnEnded(reason="done")]

    assert only(hub, CallStarted).tool == "mcp__greenroom__bus_get_config"
    assert only(hub, CallFinished).ok
    assert '"bus_name"' in only(hub, CallFinished).output
    assert said(hub) == "called"

    asked = only(allowed, PermissionAsked)
    assert (asked.tool, asked.edits) == ("Bash", True)
    assert asked.input["command"] == "touch allowed"
    kinds = [type(one) for one in allowed if getattr(one, "call", None) == asked.call]
    assert kinds == [CallStarted, PermissionAsked, CallFinished]
    assert only(allowed, CallStarted).title == "touch allowed"
    assert said(allowed) == "did it"
    assert last(allowed, Usage) == Usage(2000, 100, 0.01, "claude-opus-5-5")

    assert not only(refused, CallFinished).ok
    assert said(refused) == "went on"
    assert refused[-1] == TurnEnded(reason="done")

    assert not only(withdrawn, CallFinished).ok
    assert withdrawn[-1] == slow[-1] == TurnEnded(reason="cancelled")
    assert said(slow).startswith("w0")

    assert only(write, PermissionAsked).tool == "Write"
    assert only(write, PermissionAsked).input["content"] == "hello"

    first, second = [one for one in question if isinstance(one, QuestionAsked)]
    assert first.question == "Which one?\nA: the first\nB: the second"
    assert first.options == second.options == ["A", "B"]
    assert "Several answers" in second.question
    assert first.permission != second.permission
    assert '"Which one?"="B"' in only(question, CallFinished).output

    assert failed[-1] == TurnEnded(reason="failed", error="API Error: 400 fake error")
    assert not said(failed)


def test_a_turn_is_told_what_it_used_while_it_goes_on() -> None:
    allowed = list(turns())[2]
    used = [one for one in allowed if isinstance(one, Usage)]
    assert used[0] == Usage(1000, 50, None, "claude-opus-5-5")
    assert [one.input_tokens for one in used] == sorted(one.input_tokens for one in used)


def result(**fields: Any) -> Json:
    return {"type": "result", "subtype": "success", "is_error": False, **fields}


@pytest.mark.parametrize(
    ("told", "end"),
    [
        (result(structured_output={"a": 1}), TurnEnded(reason="done", output={"a": 1})),
        (result(stop_reason="refusal"), TurnEnded(reason="refused")),
        (result(subtype="error_max_turns", errors=["too many"]), TurnEnded(reason="limit", error="too many")),
        (result(subtype="error_during_execution", terminal_reason="aborted_tools"), TurnEnded(reason="cancelled")),
        (result(subtype="error_during_execution"), TurnEnded(reason="failed", error="error_during_execution")),
        ({}, TurnEnded(reason="failed", error="None")),
    ],
)
def test_an_end_has_its_reason(told: Json, end: TurnEnded) -> None:
    assert read_turn_end(told) == end


def used(model: str, tokens_in: int, tokens_out: int, cost_usd: float, cached: int = 0) -> Json:
    counts = {"inputTokens": tokens_in, "cacheReadInputTokens": cached, "outputTokens": tokens_out}
    return {"modelUsage": {model: counts}, "total_cost_usd": cost_usd}


def test_a_turn_is_charged_its_share_of_the_session() -> None:
    account = SessionUsage()
    assert account.close(used("opus", 10, 5, 0.5, cached=100)) == Usage(110, 5, 0.5, "opus")
    assert account.close(used("opus", 30, 6, 0.75, cached=100)) == Usage(20, 1, 0.25, "opus")


def test_a_resumed_session_is_not_charged_again_for_what_it_used_before() -> None:
    account = SessionUsage()
    account.resume_from(UsageTotals({"opus": (100, 50)}, 2.0))
    assert account.close(used("opus", 110, 55, 2.5)) == Usage(10, 5, 0.5, "opus")


def test_without_an_account_of_the_past_the_calls_are_counted_and_the_cost_is_unknown() -> None:
    account = SessionUsage()
    account.resume_from(None)
    account.count({"type": "message_start", "message": {"model": "opus", "usage": {"input_tokens": 7}}})
    account.count({"type": "message_delta", "usage": {"output_tokens": 3}})
    assert account.close(used("opus", 1000, 500, 9.0)) == Usage(7, 3, None, "opus")
    assert account.close(used("opus", 1010, 501, 9.5)) == Usage(10, 1, 0.5, "opus")


def test_words_of_a_helper_are_not_the_agents() -> None:
    whole = {"id": "m1", "content": [{"type": "text", "text": "hm"}, {"type": "tool_use", "id": "t1", "name": "Read"}]}
    heard = ClaudeTranslator().translate({"type": "assistant", "message": whole, "parent_tool_use_id": "t0"})
    assert heard == [Thought("hm"), CallStarted("t1", "Read")]


def test_thoughts_are_told_once() -> None:
    translator = ClaudeTranslator()
    start = {"type": "message_start", "message": {"id": "m1"}}
    delta = {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "well"}}
    heard = [*translator.translate({"type": "stream_event", "event": start})]
    heard += translator.translate({"type": "stream_event", "event": delta})
    whole = {"id": "m1", "content": [{"type": "thinking", "thinking": "well"}]}
    heard += translator.translate({"type": "assistant", "message": whole})
    assert heard == [Thought("well")]


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"type": "assistant", "message": {"content": [7, {"type": "new"}]}},
        {"type": "assistant", "message": {}},
        {"type": "user", "message": {"content": [None, {"type": "tool_result"}]}},
        {"type": "stream_event", "event": {"type": "content_block_delta", "delta": 3}},
        {"type": "something new"},
    ],
)
def test_a_strange_message_is_no_error(message: Json) -> None:
    assert ClaudeTranslator().translate(message) == []


def test_questions_without_a_question_are_a_permission() -> None:
    (asked,) = read_permission(
        "r1", {"tool_name": "AskUserQuestion", "input": {"questions": [{}]}, "tool_use_id": "t1"}
    )
    assert isinstance(asked, PermissionAsked)


def test_an_account_that_is_used_up_is_told_with_its_time() -> None:
    assert read_reset_time({"status": "allowed_warning", "resetsAt": 1_800_000_000}) is None
    assert read_reset_time({"status": "rejected", "resetsAt": 1_800_000_000}) == 1_800_000_000_000
    assert read_reset_time({"status": "rejected", "resetsAt": 1_800_000_000_000}) == 1_800_000_000_000
    assert read_reset_time({"status": "rejected"}) == 0
