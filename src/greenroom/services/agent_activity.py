"""Says what an agent is doing at the moment, for the person who wrote to it and waits."""

import functools

from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import AGENTS, Agent
from greenroom.rules.agents.profiles import PROFILES
from greenroom.rules.runs.model import CALLS, LIVE, RUNS, Run
from greenroom.rules.runs.node_outage import describe_obstacle
from greenroom.rules.runs.queries import may_see_run
from greenroom.sentences import Sentence, Words, build_sentence
from greenroom.services.presence import Presence

_WORDS = 80
_WAKES = {"mention": "activity.wake_mention", "handoff": "activity.wake_handoff", "mail": "activity.wake_mail"}


def describe_activity(rows: Rows, presence: Presence, by: Principal, agent_id: str, now: int) -> Words:
    """Why a message may not have been read yet, and what would change that; empty for people."""
    agent = rows.get(AGENTS, agent_id)
    if agent is None:
        return ""
    if agent.state != "registered":
        return build_sentence("activity.left")
    run = rows.get(RUNS, agent.run_id) if agent.run_id else None
    if presence.is_waiting(agent_id):
        return build_sentence("activity.waits")
    if run is not None and run.status in LIVE:
        return _describe_work(rows, by, run, now)
    if presence.is_online(agent_id):
        return build_sentence("activity.online")
    return _describe_sleep(rows, agent) if agent.profile is not None else build_sentence("activity.away")


def _describe_work(rows: Rows, by: Principal, run: Run, now: int) -> Sentence:
    minutes = (now - (run.started_at or run.created_at)) // 60_000
    since = (
        build_sentence("activity.for_minutes", minutes=minutes) if minutes else build_sentence("activity.for_a_moment")
    )
    if not may_see_run(rows, by, run):
        return build_sentence("activity.hidden", since=since)
    if held_up := describe_obstacle(rows, run):
        return build_sentence("activity.held_up", since=since, obstacle=held_up)
    if run.status == "waiting":
        if not run.waiting_for:
            return build_sentence("activity.waiting", since=since)
        return build_sentence("activity.waiting_for", since=since, waiting=run.waiting_for)
    calls = rows.find(CALLS, {"run_id": run.id}, order="started_at", desc=True, limit=1)
    doing = next((call.title or call.tool for call in calls if call.ended_at is None), "")
    if not doing:
        return build_sentence("activity.working", since=since)
    return build_sentence("activity.doing", since=since, call=doing[:_WORDS])


def _describe_sleep(rows: Rows, agent: Agent) -> Sentence:
    profile = rows.get(PROFILES, agent.profile or "")
    if profile is None or not profile.definition.enabled:
        return build_sentence("activity.profile_gone")
    definition = profile.definition
    by_people = definition.wake_for_people and "mention" not in definition.wake_on
    wakes = [*(["activity.wake_person"] if by_people else []), *(_WAKES[one] for one in definition.wake_on)]
    if not wakes:
        return build_sentence("activity.never_wakes")
    either = functools.reduce(
        lambda first, second: build_sentence("activity.either", first=first, second=second), map(build_sentence, wakes)
    )
    return build_sentence("activity.woken_by", causes=either)
