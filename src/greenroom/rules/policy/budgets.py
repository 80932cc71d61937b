"""Limits over many calls: loops, asks per hour, and money per day."""

import datetime

import msgspec

from greenroom.link.policy_facts.call_request import CallRequest, LineageEntry
from greenroom.log.model import Rows, Value
from greenroom.rules.policy.model import DAY_COSTS, JUDGEMENTS, DayCost, Options, Verdict

_HOUR_MS = 3_600_000


def describe_repeats(rows: Rows, options: Options, wanted: CallRequest, digest: str, now: int) -> str:
    """What to say of a call that comes again and again; empty when it does not."""
    if options.loop_times <= 0:
        return ""
    since = now - options.loop_window_s * 1000
    before = rows.count(JUDGEMENTS, {"run_id": get_holder(wanted), "digest": digest}, after=("at", since))
    if before + 1 < options.loop_times:
        return ""
    return f"The same call has come {before + 1} times in {options.loop_window_s} s: it looks like a loop."


def apply_budget(
    rows: Rows, options: Options, wanted: CallRequest, place: LineageEntry, verdict: Verdict, now: int
) -> Verdict | None:
    """What a budget makes of a verdict; None when it leaves it."""
    budget, hour = options.budget, now - _HOUR_MS
    run, profile = get_holder(wanted), place.profile or ""
    asked = _count(rows, {"run_id": run, "decision": "ask"}) if verdict.decision == "ask" else 0
    if budget.asks_per_run is not None and asked >= budget.asks_per_run:
        return _build_refusal(verdict, "asks_per_run", f"This run has asked {asked} times already.")
    where: dict[str, Value] = {"profile": profile} if profile else {"run_id": run}
    if verdict.decision == "ask" and budget.asks_per_hour is not None:
        asked = _count(rows, {**where, "decision": "ask"}, hour)
        if asked >= budget.asks_per_hour:
            said = f"{profile or 'This agent'} has asked {asked} times within an hour: wait, or do without."
            return _build_refusal(verdict, "asks_per_hour", said)
    said = name = ""
    if budget.calls_per_run is not None and _count(rows, {"run_id": run}) >= budget.calls_per_run:
        said, name = f"This run has made {budget.calls_per_run} calls already.", "calls_per_run"
    elif budget.calls_per_hour is not None and _count(rows, where, hour) >= budget.calls_per_hour:
        said, name = (
            f"{profile or 'This agent'} has made {budget.calls_per_hour} calls within an hour.",
            "calls_per_hour",
        )
    if not said and (spent := get_exhausted_day_budget(rows, options, now)) is not None:
        name, said = spent[0], f"{spent[1]}."
    if not said:
        return None
    return msgspec.structs.replace(verdict, decision="ask", rule=f"budget.{name}", why=said, once="")


def get_exhausted_day_budget(
    rows: Rows, options: Options, now: int, *, usd: float = 0.0, tokens: int = 0
) -> tuple[str, str] | None:
    """Which budget of this day is used up, and the same in words; with what is just being used."""
    budget = options.budget
    if budget.usd_per_day is None and budget.tokens_per_day is None:
        return None
    today = rows.get(DAY_COSTS, format_day(now)) or DayCost(day=format_day(now), usd=0.0)
    if budget.usd_per_day is not None and today.usd + usd >= budget.usd_per_day:
        return "usd_per_day", f"The {budget.usd_per_day:.2f} USD of this day (UTC) are spent"
    if budget.tokens_per_day is not None and today.tokens + tokens >= budget.tokens_per_day:
        return "tokens_per_day", f"The {budget.tokens_per_day} tokens of this day (UTC) are used"
    return None


def format_day(now: int) -> str:
    """The day of a time, in UTC."""
    return datetime.datetime.fromtimestamp(now / 1000, datetime.UTC).date().isoformat()


def get_holder(wanted: CallRequest) -> str:
    """Whose calls are counted together: the run's, or those of an agent that came from outside."""
    place = wanted.lineage[0] if wanted.lineage else None
    return (place.run if place else None) or wanted.agent_id or ""


def _count(rows: Rows, where: dict[str, Value], since: int = 0) -> int:
    return rows.count(JUDGEMENTS, where, after=("at", since))


def _build_refusal(verdict: Verdict, name: str, why: str) -> Verdict:
    return msgspec.structs.replace(verdict, decision="deny", rule=f"budget.{name}", why=why, once="")
