"""Rows, commands and events of the triggers of stored workflows."""

import hashlib
from typing import Any, ClassVar, Literal

from greenroom.log.model import Command, Event, Row, Table
from greenroom.rules.workflows.definition import Trigger, TriggerKind
from greenroom.sentences import Words


class TriggerState(Row, frozen=True, kw_only=True):
    """One trigger of a stored workflow. It does nothing until a person has armed it."""

    id: str
    workflow: str
    name: str
    """Its id in the definition."""
    kind: TriggerKind | Literal[""]
    """Empty if the trigger does not say exactly one."""
    spec: Trigger
    armed: bool = False
    last: int = 0
    """cron: up to when it has been looked at; no time before this is due any more."""
    due: int = 0
    """cron: when it is due next; 0 is never."""
    after: str = ""
    """after: the workflow whose end it waits for."""
    starts: int = 0
    started_at: int = 0
    last_run: str | None = None
    error: Words | None = None
    """Why it did not start anything the last time."""
    minute: int = 0
    """The minute of its newest starts, and how many there were in it."""
    in_minute: int = 0


class UsedNonce(Row, frozen=True, kw_only=True):
    """A nonce that was used for a signed call; it is remembered for as long as its signature would be taken."""

    door: str
    """The id of the trigger, or `hook NAME` of a step that waits for a call."""
    nonce: str
    at: int


TRIGGERS = Table("trigger", TriggerState, ("id",), (("workflow",), ("kind",), ("after",), ("due",), ("last",)))
SEEN = Table("trigger_nonce", UsedNonce, ("door", "nonce"), (("at",),))


def build_trigger_id(workflow: str, name: str) -> str:
    """The id of a trigger: the same for the same trigger of the same workflow."""
    return "trg_" + hashlib.sha256(f"{workflow}\x1f{name}".encode()).hexdigest()[:24]


class ArmTrigger(Command, frozen=True, kw_only=True):
    """Let a trigger start its workflow from now on, or no longer."""

    trigger_id: str
    armed: bool = True


class LookAtTrigger(Command, frozen=True, kw_only=True):
    """Start the runs that are due; the hub's timer gives this command."""

    trigger_id: str


class FireTrigger(Command, frozen=True, kw_only=True):
    """Start the workflow because of something that happened outside. The same `occurrence` starts it once."""

    trigger_id: str
    occurrence: str
    at: int
    """A time of the firing that stays the same when it is repeated: the run's id begins with it."""
    facts: dict[str, Any]
    """What the trigger's expressions see, besides its kind."""
    nonce: str | None = None
    """Of a signed call: its id."""
    signed_at: int = 0


class SignalHook(Command, frozen=True, kw_only=True):
    """Give a signed call to the steps that wait for it."""

    hook: str
    nonce: str
    signed_at: int
    value: Any = None


class TriggerArmed(Event, frozen=True, kw_only=True):
    """A trigger starts its workflow from now on, or no longer."""

    privileged: ClassVar[bool] = True
    trigger_id: str
    armed: bool
    reason: Words = ""


class TriggerFired(Event, frozen=True, kw_only=True):
    """A trigger has started its workflow."""

    trigger_id: str
    run_id: str


class TriggerFailed(Event, frozen=True, kw_only=True):
    """A trigger could not start its workflow."""

    trigger_id: str
    error: Words


class TriggerLookedAt(Event, frozen=True, kw_only=True):
    """All that was due by the clock up to a time has been started or passed over."""

    trigger_id: str
    last: int
    due: int


class NonceSeen(Event, frozen=True, kw_only=True):
    """A signed call came; the same one is not taken again."""

    door: str
    nonce: str
