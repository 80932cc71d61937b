"""Words refusals as the bus's REST clients expect."""

from typing import Any

from greenroom.clock import format_iso
from greenroom.doors.http.errors import STATUS, HttpRefused
from greenroom.doors.rest import shapes
from greenroom.errors import Refused
from greenroom.rules.agents.queries import get_agent
from greenroom.rules.threads import sync_rules
from greenroom.rules.threads.queries import is_for_people
from greenroom.sentences import list_wire_fields
from greenroom.services.bus import SyncRefused
from greenroom.services.hub import Hub

_SYNC = {
    sync_rules.MISSING: "MISSING_SYNC_FIELDS",
    sync_rules.INVALID: "TOKEN_INVALID",
    sync_rules.REPLAY: "TOKEN_REPLAY",
}
_BLOCKED = {"content_blocked": "Content blocked by filter", "prompt_blocked": "system_prompt blocked by content filter"}


class BusErrorTranslator:
    """Inside it, refusals whose body is part of the bus's protocol become that body."""

    __slots__ = ("_hub",)

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        match error:
            case SyncRefused():
                raise _translate_sync_refusal(self._hub, error) from None
            case Refused() if error.code in _BLOCKED:
                detail = {"error": _BLOCKED[error.code], "pattern": error.details["pattern"], "message": error.message}
                raise HttpRefused(400, error.code, detail, **list_wire_fields(error.said)) from None
            case Refused(code="rate_limited"):
                window = error.details["window_seconds"]
                fields = {"error": "Rate limit exceeded", "window": window, **error.details}
                raise HttpRefused(STATUS[error.kind], error.code, error.said, **fields) from None


def _translate_sync_refusal(hub: Hub, no: SyncRefused) -> HttpRefused:
    event = no.event
    if event.code == sync_rules.MISMATCH:
        to_agent = get_agent(hub.rows, event.member_id) is not None
        unread = [m for m in no.new_messages if not (to_agent and is_for_people(m))]
        new_messages = [_build_unread_message(m, hub.bus.read_content(m)) for m in unread]
        said = {
            "error": "SEQ_MISMATCH",
            "expected_last_seq": event.expected_last_seq,
            "current_seq": event.current_seq,
        }
        detail: dict[str, Any] = {**said, "new_messages": new_messages, "action": "RE_READ_AND_RETRY"}
        # Older clients read `detail`, newer ones the keys at the root.
        root = {**said, "new_messages_1st_read": new_messages, "action": "READ_MESSAGES_THEN_CALL_MSG_WAIT"}
        return HttpRefused(409, "SEQ_MISMATCH", detail, **root)
    error = _SYNC[event.code]
    detail = {"error": error, "action": "CALL_SYNC_CONTEXT_THEN_RETRY"}
    if error == "MISSING_SYNC_FIELDS":
        missing = "expected_last_seq" if event.expected_last_seq is None else "reply_token"
        detail["missing_fields"] = [missing]
    return HttpRefused(400, error, detail)


def _build_unread_message(message: Any, content: str) -> dict[str, Any]:
    """A message as the bus shows it in an error: its id is called msg_id there."""
    return {
        "msg_id": message.id,
        "seq": message.seq,
        "author": message.author_name,
        "author_id": shapes.get_author_id(message.author_id, message.agent),
        "author_name": message.author_name,
        "role": message.role,
        "content": content,
        "created_at": format_iso(message.created_at),
        "metadata": shapes.encode_metadata(message.metadata, message.mentions),
        "reply_to_msg_id": message.reply_to,
        "priority": message.priority,
    }
