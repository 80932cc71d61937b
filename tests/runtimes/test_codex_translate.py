"""What the real Codex said, translated."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from greenroom.runtimes.agents.codex.requests import build_answer, is_hub_call, read_request
from greenroom.runtimes.agents.codex.translator import CodexTranslator, read_turn_end
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
    """Feed the fixture through the translation, as the session does; each of the main thread's turns is one."""
    translator = CodexTranslator()
    heard: list[Heard] = []
    main = ""
    for line in get_fixture("codex").read_text().splitlines():
        ((who, message),) = json.loads(line).items()
        method, params = message.get("method"), message.get("params", {})
        thread = params.get("threadId")
        if who == "client":
            if method == "turn/start":
                main = thread
                translator.begin()
        elif method and "id" in message:
            asked = read_request(translator, message["id"], method, params)
            heard += asked.heard if asked else []
        elif method:
            heard += translator.translate(method, params, is_helper=thread != main)
            if method == "turn/completed":
                heard += translator.finish(thread)
                if thread == main:
                    yield [*heard, read_turn_end(params["turn"])]
                    heard = []


def test_a_recorded_session_is_understood() -> None:
    greeting, hub, allowed, refused, withdrawn, slow, write, question, helper, failed = turns()

    assert said(greeting) == "hello there"
    assert len({one.message for one in greeting if isinstance(one, Said)}) == 1
    assert last(greeting, Usage) == Usage(1000, 50)
    assert greeting[-1] == TurnEnded(reason="done")

    assert only(hub, CallStarted).tool == "mcp__greenroom__bus_get_config"
    assert only(hub, CallFinished).ok
    assert '"bus_name"' in only(hub, CallFinished).output
    assert said(hub) == "called"

    asked = only(allowed, PermissionAsked)
    assert (asked.tool, asked.edits, asked.title) == ("commandExecution", False, "touch allowed")
    assert "touch allowed" in asked.input["command"]
    kinds = [type(one) for one in allowed if getattr(one, "call", None) == asked.call]
    assert kinds == [CallStarted, PermissionAsked, CallFinished]
    assert said(allowed) == "did it"
    assert last(allowed, Usage) == Usage(2000, 100)

    assert not only(refused, CallFinished).ok
    assert said(refused) == "went on"

    assert only(withdrawn, CallFinished) == CallFinished(only(withdrawn, CallStarted).call, ok=False, output="stopped")
    assert withdrawn[-1] == slow[-1] == TurnEnded(reason="cancelled")
    assert said(slow).startswith("w0")

    (change,) = only(write, PermissionAsked).input["changes"]
    assert change["path"].endswith("made.txt")
    assert change["diff"] == "hello\n"
    assert not only(write, CallFinished).ok

    first, second = [one for one in question if isinstance(one, QuestionAsked)]
    assert first.question == "Which one?\nA: the first\nB: the second"
    assert first.options == second.options == ["A", "B"]

    assert only(helper, PermissionAsked).input["command"].endswith("'touch helped'")
    assert [one for one in helper if isinstance(one, Thought)] == [Thought("helped")]
    assert "helped" not in [one.text for one in helper if isinstance(one, Said)]
    assert last(helper, Usage).input_tokens >= 4000

    assert failed[-1].reason == "failed"  # type: ignore[union-attr]
    assert "fake error" in str(failed[-1].error)  # type: ignore[union-attr]


def elicited(server: str, kind: str | None = "mcp_tool_call", **more: Any) -> Json:
    meta = {"codex_approval_kind": kind, "tool_params": {"topic": "t"}} if kind else None
    return {"serverName": server, "mode": "form", "message": "Allow it?", "_meta": meta, **more}


ELICITATION = "mcpServer/elicitation/request"


def test_only_calls_of_the_hub_are_accepted_unasked() -> None:
    assert is_hub_call(ELICITATION, elicited("greenroom"))
    assert not is_hub_call(ELICITATION, elicited("other"))
    assert not is_hub_call(ELICITATION, elicited("greenroom", kind=None))
    assert not is_hub_call("item/commandExecution/requestApproval", elicited("greenroom"))


def test_a_tool_of_another_server_is_asked_by_its_name() -> None:
    translator = CodexTranslator()
    call = {"type": "mcpToolCall", "id": "c1", "server": "other", "tool": "make", "arguments": {"topic": "t"}}
    translator.translate("item/started", {"item": call, "threadId": "t1"})
    asked = read_request(translator, 7, ELICITATION, elicited("other"))
    assert asked is not None
    permission = only(list(asked.heard), PermissionAsked)
    assert (permission.call, permission.tool, permission.input) == ("c1", "mcp__other__make", {"topic": "t"})
    assert build_answer(asked, "allow") == {"action": "accept", "content": {}}
    assert build_answer(asked, "deny") == {"action": "decline", "content": None}


def test_a_wish_that_may_be_for_either_of_two_calls_is_named_for_neither() -> None:
    translator = CodexTranslator()
    for tool in ("read", "remove"):
        call = {"type": "mcpToolCall", "id": tool, "server": "other", "tool": tool, "arguments": {"topic": "t"}}
        translator.translate("item/started", {"item": call, "threadId": "t1"})
    asked = read_request(translator, 7, ELICITATION, elicited("other"))
    assert asked is not None
    assert only(list(asked.heard), PermissionAsked).tool == "mcp__other__*"


def test_a_form_is_filled_in() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    asked = read_request(CodexTranslator(), 7, ELICITATION, elicited("other", kind=None, requestedSchema=schema))
    assert asked is not None
    question = only(list(asked.heard), QuestionAsked)
    asked.answers[question.permission] = "Ada"
    assert build_answer(asked, "allow") == {"action": "accept", "content": {"name": "Ada"}}


def test_more_rights_are_given_for_the_turn_only() -> None:
    wanted = {"network": {"enabled": True}}
    params = {"itemId": "c1", "threadId": "t1", "permissions": wanted, "reason": "to fetch", "cwd": "/"}
    asked = read_request(CodexTranslator(), 7, "item/permissions/requestApproval", params)
    assert asked is not None
    assert only(list(asked.heard), PermissionAsked).input["permissions"] == wanted
    assert build_answer(asked, "allow") == {"permissions": wanted, "scope": "turn"}
    assert build_answer(asked, "deny") == {"permissions": {}, "scope": "turn"}


def test_what_is_not_known_is_not_asked() -> None:
    assert read_request(CodexTranslator(), 7, "item/tool/requestUserInput", {"questions": []}) is None
    assert read_request(CodexTranslator(), 7, "attestation/generate", {}) is None


@pytest.mark.parametrize(
    ("turn", "end"),
    [
        ({"status": "failed", "error": {"message": "no", "additionalDetails": "way"}}, ("failed", "no: way")),
        (
            {"status": "failed", "error": {"message": "full", "codexErrorInfo": "contextWindowExceeded"}},
            ("limit", "full"),
        ),
        ({"status": "failed", "error": {"message": "no", "codexErrorInfo": "cyberPolicy"}}, ("refused", "no")),
        ({"status": "failed", "error": {"message": "x", "codexErrorInfo": {"other": 1}}}, ("failed", "x")),
        ({}, ("failed", "the turn failed")),
    ],
)
def test_an_end_has_its_reason(turn: Json, end: tuple[str, str]) -> None:
    found = read_turn_end(turn)
    assert (found.reason, str(found.error)) == end


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("item/started", {}),
        ("item/started", {"item": {"type": "userMessage", "id": "1"}}),
        ("item/completed", {"item": {"id": "1", "type": "agentMessage", "text": None}}),
        ("item/agentMessage/delta", {"delta": 3}),
        ("thread/tokenUsage/updated", {"tokenUsage": {}}),
        ("something/new", {"delta": "x"}),
    ],
)
def test_a_strange_message_is_no_error(method: str, params: Json) -> None:
    assert CodexTranslator().translate(method, params) == []


def test_an_account_that_is_used_up_is_told_with_the_time_of_its_last_full_window() -> None:
    translator = CodexTranslator()
    turn = {"status": "failed", "error": {"message": "You've hit your limit.", "codexErrorInfo": "usageLimitExceeded"}}
    assert translator.translate_turn_end(turn) == TurnEnded(reason="quota", error="You've hit your limit.")
    day, week = {"usedPercent": 100, "resetsAt": 1_800_000_000}, {"usedPercent": 40, "resetsAt": 1_800_500_000}
    translator.translate("account/rateLimits/updated", {"rateLimits": {"primary": day, "secondary": week}})
    assert translator.translate_turn_end(turn).resets_at == 1_800_000_000_000
    assert translator.translate_turn_end({"status": "completed"}) == TurnEnded(reason="done")
