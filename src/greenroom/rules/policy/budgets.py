"""Limits over many calls: loops, asks per hour, and money per day."""

import datetime

import msgspec

from greenroom.link.policy_facts.call_request import CallRequest, LineageEntry
from greenroom.log.model import Rows, Value
from greenroom.rules.policy.model import DAY_COSTS, JUDGEMENTS, DayCost, Options, Verdict
from greenroom.sentences import Sentence, build_sentence

_HOUR_MS = 3_600_000
_OF_DAY = {"usd_per_day": "judged.usd_per_day", "tokens_per_day": "judged.tokens_per_day"}


def describe_repeats(rows: Rows, options: Options, wanted: CallRequest, digest: str, now: int) -> Sentence | None:
    """What to say of a call that comes again and again; None when it does not."""
    if options.loop_times <= 0:
        return None
    since = now - options.loop_window_s * 1000
    before = rows.count(JUDGEMENTS, {"run_id": get_holder(wanted), "digest": digest}, after=("at", since))
    if before + 1 < options.loop_times:
        return None
    return build_sentence("judged.loop", times=before + 1, window_s=options.loop_window_s)


def apply_budget(
    rows: Rows, options: Options, wanted: CallRequest, place: LineageEntry, verdict: Verdict, now: int
) -> Verdict | None:
    """What a budget makes of a verdict; None when it leaves it."""
    budget, hour = options.budget, now - _HOUR_MS
    run, profile = get_holder(wanted), place.profile or ""
    named = profile or build_sentence("judged.this_agent")
    asked = _count(rows, {"run_id": run, "decision": "ask"}) if verdict.decision == "ask" else 0
    if budget.asks_per_run is not None and asked >= budget.asks_per_run:
        said = (
            build_sentence("judged.asks_per_run_one")
            if asked == 1
            else build_sentence("judged.asks_per_run", times=asked)
        )
        return _build_refusal(verdict, "asks_per_run", said)
    where: dict[str, Value] = {"profile": profile} if profile else {"run_id": run}
    if verdict.decision == "ask" and budget.asks_per_hour is not None:
        asked = _count(rows, {**where, "decision": "ask"}, hour)
        if asked >= budget.asks_per_hour:
            said = (
                build_sentence("judged.asks_per_hour_one", profile=named)
                if asked == 1
                else build_sentence("judged.asks_per_hour", profile=named, times=asked)
            )
            return _build_refusal(verdict, "asks_per_hour", said)
    if budget.calls_per_run is not None and _count(rows, {"run_id": run}) >= budget.calls_per_run:
        most = budget.calls_per_run
        said = (
            build_sentence("judged.calls_per_run_one")
            if most == 1
            else build_sentence("judged.calls_per_run", calls=most)
        )
        return _build_question(verdict, "calls_per_run", said)
    if budget.calls_per_hour is not None and _count(rows, where, hour) >= budget.calls_per_hour:
        most = budget.calls_per_hour
        said = (
            build_sentence("judged.calls_per_hour_one", profile=named)
            if most == 1
            else build_sentence("judged.calls_per_hour", profile=named, calls=most)
        )
        return _build_question(verdict, "calls_per_hour", said)
    spent = get_exhausted_day_budget(rows, options, now)
    if spent is None:
        return None
    return _build_question(verdict, spent[0], build_sentence(_OF_DAY[spent[0]], **spent[1].params))


def get_exhausted_day_budget(
    rows: Rows, options: Options, now: int, *, usd: float = 0.0, tokens: int = 0
) -> tuple[str, Sentence] | None:
    """Which budget of this day is used up, and the same in words; with what is just being used."""
    budget = options.budget
    if budget.usd_per_day is None and budget.tokens_per_day is None:
        return None
    today = rows.get(DAY_COSTS, format_day(now)) or DayCost(day=format_day(now), usd=0.0)
    if budget.usd_per_day is not None and today.usd + usd >= budget.usd_per_day:
        return "usd_per_day", build_sentence("spent.usd_per_day", usd=f"{budget.usd_per_day:.2f}")
    if budget.tokens_per_day is not None and today.tokens + tokens >= budget.tokens_per_day:
        return "tokens_per_day", build_sentence("spent.tokens_per_day", tokens=budget.tokens_per_day)
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


def _build_question(verdict: Verdict, name: str, why: Sentence) -> Verdict:
    return msgspec.structs.replace(verdict, decision="ask", rule=f"budget.{name}", why=why, once="")


def _build_refusal(verdict: Verdict, name: str, why: Sentence) -> Verdict:
    return msgspec.structs.replace(verdict, decision="deny", rule=f"budget.{name}", why=why, once="")
