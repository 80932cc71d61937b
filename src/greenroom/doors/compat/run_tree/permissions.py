"""Calls that wait for approval, for run-tree clients: `permission_request` and `permission_decision`."""

from greenroom.doors.compat.run_tree.frames import PermissionDecision
from greenroom.doors.compat.shown_asks import ShownAsks
from greenroom.errors import Refused
from greenroom.json_types import JsonObject
from greenroom.rules.access.model import Principal
from greenroom.rules.asks.commands import AnswerAsk
from greenroom.rules.asks.events import AskAnswered, AskExpired, AskRaised, AskWithdrawn
from greenroom.rules.asks.model import ASKS, Ask
from greenroom.rules.asks.queries import may_see_ask
from greenroom.rules.runs.model import Run
from greenroom.services.hub import Hub

PERMISSION_EVENTS = (AskRaised, AskAnswered, AskExpired, AskWithdrawn)
_VIEWER = "run tree"


class RunTreePermissions:
    """The calls that one connection was sent, and its decisions. Only operators get them."""

    def __init__(self, hub: Hub, by: Principal) -> None:
        self._hub = hub
        self._by = by
        self._shown = ShownAsks()

    def build_frame_for_event(self, event: object) -> JsonObject | None:
        """The frame for an event, if it concerns a call that waits, or waited."""
        if not isinstance(event, PERMISSION_EVENTS):
            return None
        ask = self._hub.rows.get(ASKS, event.ask_id)
        if ask is None or not self._is_ours(ask):
            return None
        return self._build_request(ask) if isinstance(event, AskRaised) else build_resolution(ask)

    def find_open_requests(self, runs: list[Run]) -> list[JsonObject]:
        """The calls of these runs that wait now."""
        if not self._by.may_operate:
            return []
        ids = {run.id for run in runs}
        found = self._hub.rows.find(ASKS, {"state": "open"}, order="_key")
        return [self._build_request(ask) for ask in found if ask.run_id in ids and self._is_ours(ask)]

    async def decide(self, wish: PermissionDecision) -> JsonObject:
        """Answer a call that waits; it must be one that this connection was sent."""
        ask = self._hub.rows.get(ASKS, wish.request_id)
        if ask is None or not self._is_ours(ask):
            raise Refused("ask_not_found.request", "not_found")
        answer = AnswerAsk(
            by=self._by,
            ask_id=ask.id,
            verdict="approve" if wish.allow else "deny",
            text=wish.feedback,
            digest=self._shown.get_digest(_VIEWER, ask.id),
        )
        return build_resolution(await self._hub.asks.answer(answer))

    def _is_ours(self, ask: Ask) -> bool:
        if ask.kind != "permission" or ask.run_id is None:
            return False
        return self._by.may_operate and may_see_ask(self._hub.rows, self._by, ask)

    def _build_request(self, ask: Ask) -> JsonObject:
        self._shown.note(_VIEWER, ask)
        subject = ask.subject
        return {
            "type": "permission_request",
            "requestId": ask.id,
            "agentRunId": ask.run_id,
            "toolName": subject.tool if subject else "",
            "toolInput": subject.arguments if subject else None,
            "detail": str(ask.title),
            "riskLevel": ask.risk,
            "timeoutSec": round((ask.deadline - ask.asked_at) / 1000) if ask.deadline else 0,
        }


def build_resolution(ask: Ask) -> JsonObject:
    """The outcome of a call that waited."""
    allow = ask.answer is not None and ask.answer.verdict == "approve"
    status = ("approved" if allow else "rejected") if ask.answer is not None else ask.state
    frame = {"type": "permission_resolved", "requestId": ask.id, "agentRunId": ask.run_id}
    return {**frame, "allow": allow, "status": status}
