"""What real agents said, translated: each fixture is the same scenario with another agent."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from greenroom.runtimes.acp_manifest import AcpManifest
from greenroom.runtimes.contract import (
    CallFinished,
    CallStarted,
    Heard,
    PermissionAsked,
    QuestionAsked,
    Said,
    TurnEnded,
)
from greenroom.runtimes.driver_list import DRIVER_INFOS
from greenroom.runtimes.drivers.acp import form
from greenroom.runtimes.drivers.acp.translator import AcpTranslator, choose_option
from greenroom.runtimes.drivers.acp.turn_end import TokenCount, TokenMeter, read_turn_end
from tests.runtimes.acp_recorder import get_fixture

Json = dict[str, Any]
MANIFESTS = {name: driver.manifest for name, driver in DRIVER_INFOS.items() if driver.manifest is not None}
RECORDED = [manifest for name, manifest in MANIFESTS.items() if get_fixture(name).exists()]


class Turn:
    """One prompt of a fixture: what is heard of it, how it ended, and what it used."""

    def __init__(self, heard: list[Heard], end: TurnEnded, used: TokenCount | None) -> None:
        self.heard = heard
        self.end = end
        self.used = used

    @property
    def said(self) -> str:
        return "".join(one.text for one in self.heard if isinstance(one, Said))

    def only(self, kind: type[Heard]) -> Any:
        (found,) = [one for one in self.heard if isinstance(one, kind)]
        return found


def turns(manifest: AcpManifest) -> Iterator[Turn]:
    """Feed a fixture through the translation."""
    translator, meter = AcpTranslator(manifest), TokenMeter(manifest)
    heard: list[Heard] = []
    prompts: set[int] = set()
    for line in get_fixture(manifest.name).read_text().splitlines():
        ((who, message),) = json.loads(line).items()
        if who == "client":
            if message.get("method") == "session/prompt":
                prompts.add(message["id"])
                translator.begin()
                meter.begin()
                heard = []
        elif message.get("method") == "session/update":
            meter.count_call(message["params"]["update"])
            heard += translator.translate_update(message["params"]["update"])
        elif message.get("method") == "session/request_permission":
            heard += translator.translate_permission("prm_1", message["params"])
        elif "method" not in message and message["id"] in prompts:
            meter.count(message["result"])
            yield Turn([*heard, *translator.finish_calls()], read_turn_end(message["result"]), meter.turn)


@pytest.mark.parametrize("manifest", RECORDED, ids=lambda manifest: manifest.name)
def test_a_recorded_session_is_understood(manifest: AcpManifest) -> None:
    answer, hub, allowed, refused, *rest = turns(manifest)

    assert answer.said == "hello there"
    assert answer.end == TurnEnded(reason="done")
    assert answer.used is not None
    assert (answer.used.input, answer.used.output) in ((1000, 50), (2000, 100))

    assert hub.only(CallStarted).tool == "mcp__greenroom__bus_get_config"
    assert hub.only(CallFinished).ok
    assert '"bus_name"' in hub.only(CallFinished).output
    assert hub.said == "called"

    asked = allowed.only(PermissionAsked)
    assert "touch allowed" in str(asked.input)
    kinds = [type(one) for one in allowed.heard if getattr(one, "call", None) == asked.call]
    assert kinds == [CallStarted, PermissionAsked, CallFinished]
    assert allowed.only(CallFinished).ok
    assert allowed.said == "did it"

    assert "touch refused" in str(refused.only(PermissionAsked).input)
    assert not refused.only(CallFinished).ok

    assert rest[-1].end == TurnEnded(reason="cancelled")


@pytest.mark.parametrize("manifest", RECORDED, ids=lambda manifest: manifest.name)
def test_the_account_of_each_turn_is_its_own(manifest: AcpManifest) -> None:
    used = [turn.used for turn in turns(manifest) if turn.end.reason == "done" and turn.used is not None]
    assert all(one.input <= 3000 and one.output <= 150 for one in used), used


def test_model_calls_that_are_told_one_by_one_are_added_up() -> None:
    meter = TokenMeter(AcpManifest(usage="each_call"))
    told = {"sessionUpdate": "agent_message_chunk", "_meta": {"usage": {"inputTokens": 10, "outputTokens": 2}}}
    assert meter.count_call({"sessionUpdate": "tool_call"}) is None
    assert [meter.count_call(told), meter.count_call(told)] == [TokenCount(10, 2), TokenCount(20, 4)]
    meter.begin()
    assert meter.turn is None
    assert TokenMeter(AcpManifest()).count_call(told) is None


def call(**told: Any) -> Json:
    return {"sessionUpdate": "tool_call", "toolCallId": "c1", "status": "in_progress", **told}


@pytest.mark.parametrize(
    "told",
    [
        {"kind": "execute", "title": "greenroom-bus_get_config", "rawInput": {"command": "rm -r ."}},
        {"kind": "execute", "title": "greenroom_bus_get_config"},
        {"kind": "other", "title": "mcp__greenroom__x", "rawInput": {"command": "rm -r ."}},
        {"kind": "other", "title": "greenroom-x; rm -r ."},
        {"kind": "other", "title": "greenroom_notes-jot_down"},
        {"kind": "other", "title": "greenroom--msg_post"},
    ],
)
def test_words_of_the_model_do_not_pass_for_a_tool_of_the_hub(told: Json) -> None:
    (heard,) = AcpTranslator(MANIFESTS["copilot"]).translate_update(call(**told))
    assert isinstance(heard, CallStarted)
    assert not heard.tool.startswith("mcp__greenroom")


def wish(**told: Any) -> Json:
    return {"toolCall": {"toolCallId": "c1", "status": "pending", **told}, "options": options("allow_once")}


def test_a_title_that_comes_with_the_wish_does_not_make_a_tool_of_the_hub_of_it() -> None:
    translator = AcpTranslator(MANIFESTS["copilot"])
    translator.translate_update(call(kind="other", title="notes-jot_down", rawInput={}))
    (asked,) = translator.translate_permission("p1", wish(kind="other", title="greenroom-msg_post"))
    assert isinstance(asked, PermissionAsked)
    assert asked.tool == "other:notes-jot_down"
    *_, asked = AcpTranslator(MANIFESTS["copilot"]).translate_permission(
        "p1", wish(kind="other", title="greenroom-msg_post")
    )
    assert isinstance(asked, PermissionAsked)
    assert asked.tool == "other:greenroom-msg_post"


def test_a_tool_of_a_server_is_asked_about_by_its_name_and_never_as_a_command() -> None:
    translator = AcpTranslator(MANIFESTS["codex-acp"])
    given = {"server": "greenroom__notes", "tool": "run", "arguments": {"command": "ls"}}
    translator.translate_update(call(kind="execute", title="run", rawInput=given, _meta={"is_mcp_tool_call": True}))
    (asked,) = translator.translate_permission("p1", wish(kind="execute"))
    assert isinstance(asked, PermissionAsked)
    assert (asked.tool, asked.input) == ("mcp__greenroom_notes__run", {"command": "ls"})


def test_a_wish_that_comes_before_its_arguments_is_not_yet_told() -> None:
    translator = AcpTranslator(AcpManifest(tool_name="first_title", early_calls=True, late_arguments=True))
    early = wish(kind="other", title="notes_jot_down", rawInput={})
    translator.translate_update({**call(kind="other", title="notes_jot_down", rawInput={}), "status": "pending"})
    assert not translator.is_call_known(early)
    translator.translate_update(call(kind="other", title="notes_jot_down", rawInput={"line": "x"}))
    assert translator.is_call_known(early)
    *_, asked = translator.translate_permission("p1", early)
    assert isinstance(asked, PermissionAsked)
    assert asked.input == {"line": "x"}


def options(*kinds: str) -> list[Json]:
    return [{"optionId": f"id_{kind}", "name": kind, "kind": kind} for kind in kinds]


def test_a_yes_is_never_a_yes_for_ever() -> None:
    assert choose_option(options("allow_always", "allow_once", "reject_once"), "allow") == "id_allow_once"
    assert choose_option(options("allow_always", "reject_once"), "allow") is None


def test_a_no_takes_the_least_that_says_no() -> None:
    assert choose_option(options("allow_once", "reject_always", "reject_once"), "deny") == "id_reject_once"
    assert choose_option(options("allow_once", "reject_always"), "deny") == "id_reject_always"
    assert choose_option(options("allow_once"), "deny") is None


def test_several_ways_to_say_yes_are_a_question() -> None:
    offered = [
        {"optionId": "a", "name": "Red", "kind": "allow_once"},
        {"optionId": "b", "name": "Green", "kind": "allow_once"},
        {"optionId": "c", "name": "None", "kind": "reject_once"},
    ]
    params = {"toolCall": {"toolCallId": "q", "title": "Which colour?"}, "options": offered}
    assert AcpTranslator(AcpManifest()).translate_permission("prm_1", params) == [
        QuestionAsked(permission="prm_1", question="Which colour?", options=["Red", "Green"])
    ]
    assert choose_option(offered, "allow", "Green") == "b"


def test_several_ways_to_allow_a_command_are_still_a_permission() -> None:
    told = {"toolCallId": "c", "title": "ls", "kind": "execute", "rawInput": {"command": "ls"}}
    heard = AcpTranslator(AcpManifest()).translate_permission(
        "prm_1", {"toolCall": told, "options": options(*["allow_once"] * 2)}
    )
    assert [type(one) for one in heard] == [CallStarted, PermissionAsked]


CHOICE = {"type": "string", "oneOf": [{"const": "A", "title": "A"}, {"const": "B", "title": "B"}]}
FREE = {"type": "string", "title": "Other"}


def a_form(**fields: Json) -> Json:
    return {"message": "Which one?", "requestedSchema": {"type": "object", "properties": fields}}


def test_a_form_with_one_choice_is_a_question_with_options() -> None:
    asked = form.build_question("prm_1", a_form(pick=CHOICE, custom=FREE))
    assert asked == QuestionAsked(permission="prm_1", question="Which one?", options=["A", "B"])


@pytest.mark.parametrize(
    ("fields", "text", "content"),
    [
        ({"pick": CHOICE, "custom": FREE}, "B", {"pick": "B"}),
        ({"pick": CHOICE, "custom": FREE}, "neither", {"custom": "neither"}),
        ({"answer": FREE}, "as you like", {"answer": "as you like"}),
        ({"count": {"type": "integer"}}, "3", {"count": 3}),
        ({"count": {"type": "integer"}}, "three", {"count": "three"}),
        ({"sure": {"type": "boolean"}}, "Yes", {"sure": True}),
        ({"many": {"type": "array", "items": {"enum": ["x", "y"]}}}, "y", {"many": ["y"]}),
        ({"a": FREE, "b": FREE}, '{"a": "1", "b": "2"}', {"a": "1", "b": "2"}),
        ({}, "whatever", {}),
    ],
)
def test_an_answer_in_words_fills_a_form_in(fields: dict[str, Json], text: str, content: Json) -> None:
    assert form.fill_form(a_form(**fields), text) == content


def test_a_form_with_several_questions_lists_them() -> None:
    asked = form.build_question(
        "prm_1", a_form(first={**CHOICE, "description": "This?"}, second={**CHOICE, "title": "That?"})
    )
    assert asked.question == "Which one?\nfirst: This? (A | B)\nsecond: That? (A | B)"
    assert not asked.options


@pytest.mark.parametrize(
    "update",
    [
        {},
        {"sessionUpdate": "agent_message_chunk"},
        {"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "x"}},
        {"sessionUpdate": "tool_call"},
        {"sessionUpdate": "tool_call_update", "toolCallId": None, "status": "strange", "content": 7},
        {"sessionUpdate": "usage_update", "cost": {"amount": "much", "currency": "USD"}},
        {"sessionUpdate": "session_info_update", "_meta": {"codex": 1}},
        {"sessionUpdate": "something new"},
    ],
)
def test_a_strange_update_is_no_error(update: Json) -> None:
    AcpTranslator(MANIFESTS["codex-acp"]).translate_update(update)


@pytest.mark.parametrize(
    "answer",
    [{}, {"stopReason": "new"}, {"stopReason": "end_turn", "usage": 3, "_meta": {"quota": {"model_usage": [1]}}}],
)
def test_a_strange_answer_is_no_error(answer: Json) -> None:
    TokenMeter(MANIFESTS["copilot"]).count(answer)
    assert read_turn_end(answer).reason in ("failed", "done")


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests"])
def test_a_limit_of_the_runtime_itself_leaves_an_error_text(reason: str) -> None:
    end = read_turn_end({"stopReason": reason})
    assert (end.reason, "limit" in str(end.error)) == ("limit", True)
