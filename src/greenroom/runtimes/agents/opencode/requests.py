"""Permissions and questions that OpenCode waits for, of the session and of the sessions that it starts itself."""

import msgspec

from greenroom.ids import new_id
from greenroom.json_types import JsonObject
from greenroom.runtimes.agents.opencode.translator import OpencodeTranslator
from greenroom.runtimes.contract import Decision, Heard, PermissionAsked, QuestionAsked
from greenroom.runtimes.tool_names import name_unknown_tool

_REFUSED = "This was not allowed. Go on without it."


class OpencodeRequest(msgspec.Struct):
    """One request: a permission, or questions that are answered together."""

    request: str
    permissions: list[str]
    is_question: bool = False
    answers: dict[str, str] = {}

    def build_reply(self, decision: Decision, text: str) -> tuple[str, JsonObject | None]:
        """The path and the body of an answer. A refusal with words lets the turn continue; one without ends it."""
        if self.is_question:
            if decision != "allow":
                return f"/question/{self.request}/reject", None
            answers = [[self.answers.get(one, "")] for one in self.permissions]
            return f"/question/{self.request}/reply", {"answers": answers}
        if decision == "allow":
            body: JsonObject = {"reply": "once"}
        elif decision == "deny":
            body = {"reply": "reject", "message": text or _REFUSED}
        else:
            body = {"reply": "reject"}
        return f"/permission/{self.request}/reply", body


def is_call_known(translator: OpencodeTranslator, properties: JsonObject) -> bool:
    """Whether it is known what the call does that a permission is asked for."""
    return bool(properties.get("metadata")) or translator.is_running(_extract_call(properties))


def _extract_call(properties: JsonObject) -> str:
    found = properties.get("tool")
    return str(found.get("callID") or "") if isinstance(found, dict) else ""


def read_permission(translator: OpencodeTranslator, properties: JsonObject) -> tuple[OpencodeRequest, list[Heard]]:
    """A permission that is asked, with the call that it is for."""
    call = _extract_call(properties)
    metadata = properties.get("metadata")
    permitted = str(properties.get("permission") or "")
    tool = translator.name_tool(call) or permitted
    if tool == permitted and "_" in tool:  # its own tools of such names are permitted by others, such as `edit`
        tool = name_unknown_tool(tool)
    # The call's arguments may not be known yet; what is asked is known in any case.
    given = translator.get_input(call) or metadata or {"patterns": properties.get("patterns")}
    title = ", ".join(str(one) for one in properties.get("patterns") or []) or tool
    permission = new_id("prm")
    asked = PermissionAsked(permission=permission, call=call, tool=tool, title=title, input=given)
    return OpencodeRequest(str(properties["id"]), [permission]), [
        *translator.start_call(call, tool, title, given),
        asked,
    ]


def read_question(properties: JsonObject) -> tuple[OpencodeRequest, list[Heard]]:
    """Questions of the agent, each with its choices."""
    heard: list[Heard] = []
    permissions = []
    for question in properties.get("questions") or []:
        options = [str(one.get("label")) for one in question.get("options") or [] if isinstance(one, dict)]
        permission = new_id("prm")
        permissions.append(permission)
        heard.append(QuestionAsked(permission=permission, question=str(question.get("question")), options=options))
    return OpencodeRequest(str(properties["id"]), permissions, is_question=True), heard
