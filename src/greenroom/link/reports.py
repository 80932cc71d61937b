"""Items of an agent, and reports of its node to the hub: tagged unions, decoded once where they arrive."""

from typing import Any, Literal, get_args

import msgspec

from greenroom.json_types import JsonObject
from greenroom.link.lenient_reader import read_fitting
from greenroom.sentences import Words
from greenroom.sentences.english import render_english

TurnEnding = Literal["done", "cancelled", "refused", "limit", "quota", "failed"]
"""quota: the account that the runtime works with has reached its limit; the session can continue later."""


class Said(msgspec.Struct, frozen=True, tag="said"):
    """A piece of what the agent says to whoever asked. Pieces of one message have the same `message`."""

    text: str
    message: str = ""


class Thought(msgspec.Struct, frozen=True, tag="thought"):
    """A piece of what the agent thinks aloud."""

    text: str


class CallStarted(msgspec.Struct, frozen=True, tag="call_started"):
    """The agent uses a tool."""

    call: str
    tool: str
    title: str = ""
    input: Any = None


class CallFinished(msgspec.Struct, frozen=True, tag="call_finished"):
    """A tool has answered, or failed."""

    call: str
    ok: bool
    output: str = ""


class PermissionAsked(msgspec.Struct, frozen=True, tag="permission_asked"):
    """The runtime waits: may this call run? Answered with `Session.decide`, however long that takes."""

    permission: str
    call: str
    tool: str
    title: str = ""
    input: Any = None
    """The exact arguments that will run."""
    edits: bool = False
    """Whether the runtime takes changed arguments with the answer."""


class PermissionWithdrawn(msgspec.Struct, frozen=True, tag="permission_gone"):
    """The runtime does not wait for this answer any more (cancelled, or answered in its own terminal)."""

    permission: str


class QuestionAsked(msgspec.Struct, frozen=True, tag="question_asked"):
    """The agent asks its person something through its runtime. Answered with `Session.decide`, words in `text`."""

    permission: str
    question: str
    options: list[str] = []


class Usage(msgspec.Struct, frozen=True, tag="usage"):
    """What the turn has used so far, as the runtime reports it: totals of this turn, not increments."""

    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None
    """None when the runtime does not report money."""
    model: str | None = None
    is_last: bool = False
    """Whether the turn is over with it, so that there is nothing left to stop."""


class Opened(msgspec.Struct, frozen=True, tag="opened"):
    """The session is there; `session` is the runtime's own id, by which it can be resumed, and empty if it cannot."""

    session: str
    details: JsonObject = {}


class TurnEnded(msgspec.Struct, frozen=True, tag="turn_ended"):
    """The agent has answered a prompt, or has been stopped."""

    reason: TurnEnding
    error: Words = ""
    resets_at: int | None = None
    """When the account can be used again, in milliseconds, if the runtime reports it."""
    output: Any = None
    """Structured output, where the runtime gives any."""


class Died(msgspec.Struct, frozen=True, tag="died"):
    """The process is gone. `last_words` is the end of what it wrote to stderr."""

    code: int | None
    last_words: Words = ""


class WorkPlace(msgspec.Struct, frozen=True):
    """Where an agent works, and with which model."""

    directory: str = ""
    repository: str = ""
    branch: str = ""
    model: str = ""


class SessionReport(Opened, frozen=True, tag="opened"):
    """An agent's session is open, or continues with another run."""

    credential: str | None = None
    """The id of the credential that its process was given."""
    place: WorkPlace = WorkPlace()


class CallReport(PermissionAsked, frozen=True, tag="permission_asked"):
    """A call waits for permission; with it, what only its machine can see of it."""

    directory: str = ""
    resolved: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    """Those of its paths that lead elsewhere than they say."""
    own: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether it names something in the hub's or the node's own directory."""
    files: dict[str, str] = {}
    """The digests of the programs that it names."""


class WordsReport(msgspec.Struct, frozen=True, tag="said"):
    """What the agent has said, several pieces of it together."""

    text: str


class TurnResult(TurnEnded, frozen=True):
    """A turn is over; which of the following it is says what that means for the run."""

    text: str | None = None
    """What the agent said last."""


class TurnReport(TurnResult, frozen=True, tag="turn_ended"):
    """A turn is over, and with it the run."""


class TurnWentOn(TurnResult, frozen=True, tag="turn_went_on"):
    """A turn is over, and the run continues with the messages that the agent got meanwhile."""


class TurnUsedUp(TurnResult, frozen=True, tag="turn_used_up"):
    """A turn is over because the runtime's account is used up; the run can continue later."""


class TurnPaused(TurnResult, frozen=True, tag="turn_paused"):
    """A turn was stopped by a pause of its run."""


class ModelCallCut(msgspec.Struct, frozen=True, tag="model_call_cut"):
    """A call of a model was cut off, which no runtime accounts for."""


class WorktreeChanged(msgspec.Struct, frozen=True, tag="changed"):
    """What an agent has changed in a git worktree of its own."""

    base: str
    diff: str
    is_cut: bool = False


class ApprovalUnused(msgspec.Struct, frozen=True, tag="approval_refused"):
    """The node has not let an approved call run: what would have run was not what was approved."""

    permission: str
    reason: Words


class RunLost(msgspec.Struct, frozen=True, tag="lost"):
    """The node does not know a run that it was ordered to start: it was restarted meanwhile."""


class FellAsleep(msgspec.Struct, frozen=True, tag="asleep"):
    """A kept agent's process was ended while it idled; this is of no run."""

    agent: str


class UnknownReport(msgspec.Struct, frozen=True, tag="unknown"):
    """Something that this hub does not know, from a node of another version. It is kept, and nothing follows."""

    name: str
    data: JsonObject = {}


TurnOutcome = TurnReport | TurnWentOn | TurnUsedUp | TurnPaused
Heard = (
    Opened
    | Said
    | Thought
    | CallStarted
    | CallFinished
    | PermissionAsked
    | PermissionWithdrawn
    | QuestionAsked
    | Usage
    | TurnEnded
    | Died
)
"""The facts that a driver reports of its runtime."""
Report = (
    SessionReport
    | WordsReport
    | Thought
    | CallStarted
    | CallFinished
    | CallReport
    | PermissionWithdrawn
    | QuestionAsked
    | Usage
    | TurnOutcome
    | ModelCallCut
    | WorktreeChanged
    | ApprovalUnused
    | RunLost
    | Died
    | FellAsleep
    | UnknownReport
)
"""What a node reports to its hub."""
ReportKind = Literal[
    "opened",
    "said",
    "thought",
    "call_started",
    "call_finished",
    "permission_asked",
    "permission_gone",
    "question_asked",
    "usage",
    "turn_ended",
    "turn_went_on",
    "turn_used_up",
    "turn_paused",
    "model_call_cut",
    "changed",
    "approval_refused",
    "lost",
    "died",
    "asleep",
    "unknown",
]
"""The tags of these, for whoever stores or shows a report as a kind and its fields."""
_KINDS: dict[str, type[msgspec.Struct]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Report)}
_NOTHING: dict[Any, Any] = {str: "", Words: "", int: 0, bool: False, int | None: None, TurnEnding: "failed"}
"""The values of required fields that a report lacks."""


def get_report_fields(report: Report) -> tuple[ReportKind, JsonObject]:
    """The kind of a report, and its fields as JSON has them."""
    data: JsonObject = msgspec.to_builtins(render_english(report))
    return data.pop("type"), data


def read_report(fields: JsonObject) -> Report:
    """The report in a JSON object. A field of another type counts as missing.

    The node may be of another version, and would send a report that is refused again and again.
    """
    try:
        report: Report = msgspec.convert(fields, Report)
    except msgspec.ValidationError:
        return _read_other(fields)
    return report


def _read_other(fields: JsonObject) -> Report:
    name = str(fields.get("type", ""))
    kind = _KINDS.get(name, UnknownReport)
    if kind is UnknownReport:
        return UnknownReport(name=name, data={key: value for key, value in fields.items() if key != "type"})
    return read_fitting(fields, kind, _NOTHING)  # type: ignore[return-value]
