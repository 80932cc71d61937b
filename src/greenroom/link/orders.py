"""What a hub orders a node to do: a tagged union, the same in the log and on both sides of the link."""

from typing import Any, Literal

import msgspec

from greenroom.json_types import JsonObject
from greenroom.link.profile_definition import ProfileDefinition

Decision = Literal["allow", "deny", "cancel"]
"""allow: run the call · deny: refuse it and let the turn continue, with words for the model · cancel: end the turn."""


class StartOrder(msgspec.Struct, frozen=True, kw_only=True, tag="start", tag_field="op"):
    """Put an agent to work."""

    profile: str = ""
    definition: ProfileDefinition
    prompt: str
    thread_id: str | None = None
    thread_topic: str | None = None
    keep: bool = False
    task: str = ""
    """The run whose task it is, if not its own."""
    is_step: bool = False
    session: str | None = None
    """The runtime's conversation to resume."""
    missing_skills: list[str] | msgspec.UnsetType = msgspec.UNSET
    """Those that the profile names, and that nobody has."""


class SteerOrder(msgspec.Struct, frozen=True, kw_only=True, tag="steer", tag_field="op"):
    """Say something to the agent at work."""

    text: str = ""


class DecideOrder(msgspec.Struct, frozen=True, kw_only=True, tag="decide", tag_field="op"):
    """Answer a call or a question that waits in the agent's runtime."""

    native: str
    """The runtime's own id of what waits."""
    decision: Decision
    text: str = ""
    arguments: Any = None
    """What a person has written instead of the call's arguments."""
    digest: str = ""
    """Of the call that was approved."""
    ask: str = ""
    """The ask that a person has answered; empty if the policy has."""


class CancelOrder(msgspec.Struct, frozen=True, kw_only=True, tag="cancel", tag_field="op"):
    """End the run, whatever is under way."""


class PauseOrder(msgspec.Struct, frozen=True, kw_only=True, tag="pause", tag_field="op"):
    """Stop the turn but not the run."""


class ResumeOrder(msgspec.Struct, frozen=True, kw_only=True, tag="go_on", tag_field="op"):
    """Resume a paused run."""


class FinishOrder(msgspec.Struct, frozen=True, kw_only=True, tag="finish", tag_field="op"):
    """End the turn of an agent that lives in a terminal, with what it said last."""

    text: str = ""


class EndOrder(msgspec.Struct, frozen=True, kw_only=True, tag="end", tag_field="op"):
    """End the process of an agent that idles."""


class UnknownOrder(msgspec.Struct, frozen=True, kw_only=True, tag="unknown", tag_field="op"):
    """Something that a node cannot read, from a hub of another version."""

    what: str
    problem: str


AgentWork = SteerOrder | DecideOrder | CancelOrder | PauseOrder | ResumeOrder | FinishOrder | EndOrder
"""What an agent that is there is to do, or to have done to it."""
Work = StartOrder | AgentWork


def get_order_name(work: Work | UnknownOrder) -> str:
    return work.what if isinstance(work, UnknownOrder) else str(work.__struct_config__.tag)


def build_body(work: Work | UnknownOrder, run: str) -> JsonObject:
    """The fields of an order as they go over the link."""
    body: JsonObject = msgspec.to_builtins(work)
    del body["op"]
    if isinstance(work, DecideOrder):
        return {"permission": f"{run}:{body.pop('native')}", **body}
    return body


def read_work(what: str, body: JsonObject, run: str) -> Work | UnknownOrder:
    """The order that came over the link."""
    fields = {**body, "op": what}
    if "permission" in fields:
        fields["native"] = str(fields.pop("permission")).removeprefix(f"{run}:")
    try:
        work: Work = msgspec.convert(fields, Work)
    except msgspec.ValidationError as error:
        return UnknownOrder(what=what, problem=str(error))
    return work
