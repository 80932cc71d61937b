"""The frames of run-tree clients: flat, or in the envelope that correlates requests with answers."""

import time
from typing import Any

import msgspec

from greenroom.doors.compat.run_tree.workflows import WorkflowStart
from greenroom.ids import new_id
from greenroom.json_types import JsonObject
from greenroom.rules.runs.model import AgentContext


class RunTreeFrame(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", rename="camel"):
    """Something that a client says. Its `clientRequestId`, if it has one, is repeated in what answers it."""

    client_request_id: str | None = None


class RunStart(RunTreeFrame, frozen=True, kw_only=True, tag="run_start"):
    agent_id: str = ""
    session_id: str = ""
    parent_run_id: str | None = None
    input: Any = None
    context: AgentContext | None = None


class RunCancel(RunTreeFrame, frozen=True, kw_only=True, tag="run_cancel"):
    run_id: str


class PermissionDecision(RunTreeFrame, frozen=True, kw_only=True, tag="permission_decision"):
    request_id: str
    allow: bool
    feedback: str = ""


class RunTreePing(RunTreeFrame, frozen=True, kw_only=True, tag="ping"):
    timestamp: Any = None


class AgentSpawn(RunTreeFrame, frozen=True, kw_only=True, tag="agent_spawn"):
    agent_id: str
    session_id: str = ""
    parent_run_id: str | None = None
    input: Any = None


class AgentCancel(RunTreeFrame, frozen=True, kw_only=True, tag="agent_cancel"):
    agent_run_id: str
    cascade: bool = True


class AgentStatusQuery(RunTreeFrame, frozen=True, kw_only=True, tag="agent_status_query"):
    agent_run_id: str | None = None
    session_id: str | None = None


Wish = (
    RunStart
    | RunCancel
    | PermissionDecision
    | RunTreePing
    | AgentSpawn
    | AgentCancel
    | AgentStatusQuery
    | WorkflowStart
)


class RunTreeEnvelope(msgspec.Struct, frozen=True, kw_only=True):
    """A request with an id, as run-tree clients correlate it with its answer."""

    id: str
    type: str
    payload: JsonObject


class RunTreeRequest:
    """One frame of a client: its request, and how the answer is marked."""

    def __init__(self, text: str) -> None:
        self._envelope: RunTreeEnvelope | None = None
        self._given: Any = msgspec.json.decode(text)
        if isinstance(self._given, dict) and "payload" in self._given and "id" in self._given:
            self._envelope = msgspec.convert(self._given, RunTreeEnvelope)
            kind = self._envelope.type.removesuffix(".request")
            self._given = {**self._envelope.payload, "type": kind}

    @property
    def is_enveloped(self) -> bool:
        return self._envelope is not None

    def parse_command(self) -> Wish:
        """The request in a frame; raises msgspec.ValidationError."""
        found: Wish = msgspec.convert(self._given, Wish)
        return found

    def build_answer(self, frame: JsonObject) -> JsonObject:
        """A frame that answers this request."""
        if self._envelope is None:
            given = self._given.get("clientRequestId") if isinstance(self._given, dict) else None
            return frame if given is None else {**frame, "clientRequestId": given}
        kind, payload = str(frame["type"]), {name: value for name, value in frame.items() if name != "type"}
        metadata: JsonObject = {"requestId": self._envelope.id, "success": kind != "error"}
        if kind == "error":
            metadata["error"], payload, kind = payload, {}, self._envelope.type.replace(".request", ".response")
        return {**wrap_in_envelope({"type": kind, **payload}), "metadata": metadata}


def wrap_in_envelope(frame: JsonObject) -> JsonObject:
    """A frame in the envelope, for something that the hub sends by itself."""
    payload = {name: value for name, value in frame.items() if name != "type"}
    return {"id": new_id("frm"), "type": frame["type"], "payload": payload, "timestamp": int(time.time() * 1000)}
