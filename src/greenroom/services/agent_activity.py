"""Says what an agent is doing at the moment, for the person who wrote to it and waits."""

from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import AGENTS, Agent
from greenroom.rules.agents.profiles import PROFILES
from greenroom.rules.runs.model import CALLS, LIVE, RUNS, Run
from greenroom.rules.runs.node_outage import describe_obstacle
from greenroom.rules.runs.queries import may_see_run
from greenroom.services.presence import Presence

_WORDS = 80


def describe_activity(rows: Rows, presence: Presence, by: Principal, agent_id: str, now: int) -> str:
    """Why a message may not have been read yet, and what would change that; empty for people."""
    agent = rows.get(AGENTS, agent_id)
    if agent is None:
        return ""
    if agent.state != "registered":
        return "gone: it has left the hub"
    run = rows.get(RUNS, agent.run_id) if agent.run_id else None
    if presence.is_waiting(agent_id):
        return "waits for messages"
    if run is not None and run.status in LIVE:
        return _describe_work(rows, by, run, now)
    if presence.is_online(agent_id):
        return "online: it reads when it waits for messages next"
    return _describe_sleep(rows, agent) if agent.profile is not None else "away: it reads when it is back"


def _describe_work(rows: Rows, by: Principal, run: Run, now: int) -> str:
    minutes = (now - (run.started_at or run.created_at)) // 60_000
    since = f"for {minutes} min" if minutes else "since a moment"
    if not may_see_run(rows, by, run):
        return f"at work {since}: it reads when it looks, or at the end of its turn"
    if held_up := describe_obstacle(rows, run):
        return f"at work {since}, but {held_up}"
    if run.status == "waiting":
        return f"at work {since}, and waits: {run.waiting_for or ''}"[: 3 * _WORDS].rstrip(": ")
    calls = rows.find(CALLS, {"run_id": run.id}, order="started_at", desc=True, limit=1)
    doing = next((call.title or call.tool for call in calls if call.ended_at is None), "")
    return f"at work {since}" + (f", at: {doing[:_WORDS]}" if doing else "")


def _describe_sleep(rows: Rows, agent: Agent) -> str:
    profile = rows.get(PROFILES, agent.profile or "")
    if profile is None or not profile.definition.enabled:
        return "asleep: its profile is gone, nothing wakes it"
    definition = profile.definition
    by_people = definition.wake_for_people and "mention" not in definition.wake_on
    wakes = [*(["a person's mention"] if by_people else []), *definition.wake_on]
    if not wakes:
        return "asleep: nothing wakes it but an invitation or a run"
    return f"asleep: woken by {' or '.join(wakes)}"
