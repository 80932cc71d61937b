"""Rules, the calls that they judge, and their judgements."""

from typing import Literal

import msgspec

from greenroom.link.policy_facts.call_request import CallKind, CallRequest, Risk
from greenroom.log.model import Row, Table
from greenroom.log.pages import PagedRow
from greenroom.sentences import Words

Decision = Literal["allow", "deny", "ask"]
Where = Literal["any", "inside", "outside"]
STRICTNESS: dict[str, int] = {"allow": 0, "ask": 1, "deny": 2}
DEFAULT_LOOP_TIMES = 10
TRIED = "this rule"
"""The name of a rule that is tried without one."""


class Rule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What an operator writes. Every condition that is given must hold; one that is left out holds always.

    An allow must cover all that a call does; a deny or an ask is matched by any part of it.
    """

    decision: Decision
    tools: list[str] = []
    """Patterns of tool names; `*` and `?` match anything."""
    kinds: list[str] = []
    """What the call does: read, search, write, execute, network, plan, hub, other."""
    arguments: dict[str, str] = {}
    """Arguments by name (`a.b` for one inside another) and the pattern that their text must match."""
    paths: list[str] = []
    """Patterns of files; those without a leading / are below the working directory."""
    directories: list[str] = []
    """Patterns of the directory that the agent works in; `*` stops at /, `**` does not."""
    calls: list[str] = []
    """Exact calls by their keys, as remembered answers leave them: tool, arguments, and where links in it lead."""
    where: Where = "any"
    """Whether the files are in the working directory or out of it."""
    hosts: list[str] = []
    commands: list[str] = []
    """Commands word by word, `*` within a word, `**` as the last word for any further words."""
    when: str = ""
    """A CEL expression over tool, arguments, paths, hosts, commands, assigns, reads, writes, profile, depth, thread,
    run, risk, kind, directory and contested."""
    profiles: list[str] = []
    min_depth: int | None = None
    max_depth: int | None = None
    threads: list[str] = []
    runs: list[str] = []
    days: list[str] = []
    """mon, tue, wed, thu, fri, sat, sun."""
    hours: str = ""
    """From and to, as 09:00-18:00; the hours are those of the policy's timezone."""
    until: int | None = None
    """When the rule ends, in milliseconds."""
    risk: Risk | None = None
    """The risk that is shown; None leaves the one that was worked out."""
    once: Literal["", "run"] = ""
    """For an ask: one approval covers similar calls of the same run."""
    note: Words = ""
    """Why the rule is there, in words that are shown with its decisions."""


class KeptRule(Row, frozen=True, kw_only=True):
    """A rule in its place."""

    name: str
    place: int
    rule: Rule
    source: str
    changed_at: int
    by: str


class Budget(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Limits on what is judged or asked before a person must look; None is no limit."""

    calls_per_run: int | None = None
    calls_per_hour: int | None = None
    """Of one profile."""
    asks_per_run: int | None = None
    """Beyond it a call is refused instead of asked."""
    asks_per_hour: int | None = 120
    """Of one profile; beyond it a call is refused instead of asked."""
    usd_per_day: float | None = None
    """Limit of the whole hub; beyond it active runs are paused, every call asks, and no new run starts."""
    tokens_per_day: int | None = None
    """The same for tokens."""


class Options(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What holds beside the rules."""

    loop_times: int = DEFAULT_LOOP_TIMES
    """The same call so many times within `loop_window_s` is a loop: a person is asked. 0 looks for none."""
    loop_window_s: int = 300
    contested_s: int = 900
    """A call asks if another active run wrote its file within this time. 0 disables it."""
    timezone: str = "UTC"
    budget: Budget = Budget()


class PolicyState(Row, frozen=True, kw_only=True):
    """The policy as a whole: its options, and a digest that changes with every rule."""

    id: str
    digest: str
    options: Options = Options()
    version: int = 0


class Verdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the policy says, and why."""

    decision: Decision
    risk: Risk
    rule: str
    """The name of the rule, or `default.<name>`, `profile.<name>`, `budget.<name>`, `loop`, `grant.<id>`, `error`."""
    why: Words
    once: str = ""
    """`run` if one approval covers similar calls of the same run."""
    like: str = ""
    """The key of all calls that an approval for this run or profile would cover."""
    like_words: Words = ""
    """The same in words, for the button."""
    kind: CallKind = "other"
    digest: str = ""
    """Of the call itself: the same call has the same digest."""


class Judgement(PagedRow, frozen=True, kw_only=True):
    """One decision of the policy, with all that it was made of."""

    id: str
    seq: int = 0
    at: int
    wanted: CallRequest
    verdict: Verdict
    decision: str
    run_id: str
    profile: str
    digest: str
    ask_id: str | None = None
    answer: str | None = None
    """What a person said, if one was asked: approve, deny, ..."""
    answered_by: str | None = None
    answered_at: int | None = None


class Grant(Row, frozen=True, kw_only=True):
    """A person's approval that covers similar calls of a run or a profile."""

    id: str
    scope: Literal["run", "profile"]
    holder: str
    """The run's id or the profile's name."""
    like: str
    words: Words
    at: int
    by: str
    ask_id: str | None = None


class DayCost(Row, frozen=True, kw_only=True):
    """What all runs have used in one day."""

    day: str
    usd: float
    tokens: int = 0


RULES = Table("rule", KeptRule, ("name",), (("place",), ("source",), ("_seq",)))
STATE = Table("policy", PolicyState, ("id",), (("_seq",),))
JUDGEMENTS = Table(
    "judgement",
    Judgement,
    ("id",),
    (
        ("at",),
        ("seq",),
        ("decision", "seq"),
        ("run_id", "at"),
        ("run_id", "decision", "at"),
        ("profile", "at"),
        ("profile", "decision", "at"),
        ("run_id", "digest", "at"),
        ("ask_id",),
        ("_seq",),
    ),
)
GRANTS = Table("grant", Grant, ("id",), (("holder", "like"), ("at",), ("_seq",)))
DAY_COSTS = Table("day_cost", DayCost, ("day",))
THE = "policy"
"""The key of the one row of STATE."""
