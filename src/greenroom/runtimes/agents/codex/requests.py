"""Requests of the app server that wait for an answer, and the answers in its format."""

from typing import Any

import msgspec

from greenroom.ids import new_id
from greenroom.json_types import JsonObject
from greenroom.runtimes.agents.codex.manifest import HUB
from greenroom.runtimes.agents.codex.translator import CodexTranslator
from greenroom.runtimes.contract import PermissionAsked, QuestionAsked
from greenroom.runtimes.drivers.acp import form

ACCEPTED = {"action": "accept", "content": {}}
_DECLINED = {"action": "decline", "content": None}
_APPROVALS = ("item/commandExecution/requestApproval", "item/fileChange/requestApproval")
_PERMISSIONS = "item/permissions/requestApproval"
_INPUT = "item/tool/requestUserInput"
_ELICITATION = "mcpServer/elicitation/request"


class CodexRequest(msgspec.Struct):
    """A request that waits for an answer; `answers` has a place for each question, if it asks any."""

    request: Any
    method: str
    params: JsonObject
    heard: list[PermissionAsked | QuestionAsked]
    answers: dict[str, str] = {}

    @property
    def title(self) -> str:
        first = self.heard[0]
        return first.title if isinstance(first, PermissionAsked) else first.question

    @property
    def is_answered(self) -> bool:
        return len(self.answers) == len(self.heard)

    @property
    def ends_turn(self) -> bool:
        """Whether the answer `cancel` ends the turn by itself."""
        return self.method in _APPROVALS


def is_hub_call(method: str, params: JsonObject) -> bool:
    """Whether it asks if the hub's own tools may be used."""
    return method == _ELICITATION and params.get("serverName") == HUB and _is_tool_call(params)


def read_request(translator: CodexTranslator, request: Any, method: str, params: JsonObject) -> CodexRequest | None:
    """A request for whoever decides; None if it is none."""
    id = new_id("prm")
    if method in _APPROVALS or method == _PERMISSIONS:
        return CodexRequest(request, method, params, [translator.translate_permission(id, params)])
    if method == _ELICITATION and _is_tool_call(params):
        return CodexRequest(request, method, params, [translator.translate_tool_permission(id, params)])
    if method == _ELICITATION:
        asked = form.build_question(id, params)
        if params.get("url"):
            asked = QuestionAsked(id, f"{asked.question}\n{params['url']}")
        return CodexRequest(request, method, params, [asked])
    questions = _find_questions(params)
    if method == _INPUT and questions:
        heard = [QuestionAsked(f"{id}/{number}", *_read_question(one)) for number, one in enumerate(questions)]
        return CodexRequest(request, method, params, list(heard))
    return None


def build_answer(asked: CodexRequest, decision: str) -> JsonObject:
    """The answer to a request; for questions with the answers that were given."""
    if asked.method in _APPROVALS:
        return {"decision": {"allow": "accept", "deny": "decline"}.get(decision, "cancel")}
    if asked.method == _PERMISSIONS:
        wanted = asked.params.get("permissions") if decision == "allow" else {}
        return {"permissions": wanted, "scope": "turn"}
    if asked.method == _INPUT:
        ids = [str(one.get("id")) for one in _find_questions(asked.params)]
        given = [asked.answers.get(one.permission) for one in asked.heard]
        return {"answers": {id: {"answers": [text]} for id, text in zip(ids, given, strict=True) if text is not None}}
    if decision != "allow":
        return _DECLINED
    if _is_tool_call(asked.params):
        return ACCEPTED
    return {"action": "accept", "content": form.fill_form(asked.params, next(iter(asked.answers.values()), ""))}


def _is_tool_call(params: JsonObject) -> bool:
    meta = params.get("_meta")
    return isinstance(meta, dict) and meta.get("codex_approval_kind") == "mcp_tool_call"


def _find_questions(params: JsonObject) -> list[JsonObject]:
    return [one for one in params.get("questions") or [] if isinstance(one, dict)]


def _read_question(question: JsonObject) -> tuple[str, list[str]]:
    options = [one for one in question.get("options") or [] if isinstance(one, dict)]
    lines = [str(question.get("question") or "")]
    lines += [f"{one.get('label')}: {one['description']}" for one in options if one.get("description")]
    return "\n".join(lines), [str(one.get("label")) for one in options]
