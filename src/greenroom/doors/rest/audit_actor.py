"""Names the person or agent behind an entry of the audit."""

from typing import Any, NamedTuple

from greenroom.log.model import Recorded, Rows
from greenroom.rules.access.model import HUB
from greenroom.rules.access.refused_calls import CallRefused
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.agents.queries import get_known_name
from greenroom.rules.asks.events import AskAnswered, AskRaised
from greenroom.rules.asks.model import ASKS
from greenroom.rules.nodes.model import NODES
from greenroom.rules.policy.events import CallJudged
from greenroom.rules.runs.model import RUNS


class AuditActor(NamedTuple):
    """The name of a person, an agent, a node, the hub or the policy; for an agent, also the node it works on."""

    name: str
    agent_id: str | None = None
    node: str | None = None


def find_actor(rows: Rows, record: Recorded) -> AuditActor:
    """Whoever caused an event. What an agent does reaches the hub through its node, which is recorded as `by`."""
    event = record.event
    if isinstance(event, AskAnswered) and event.rule:
        return AuditActor("policy")
    if isinstance(event, CallRefused):
        return _build_actor(rows, event.refused.by) if event.refused.by else AuditActor(event.refused.peer)
    node = rows.get(NODES, record.by)
    agent_id = None
    if node is not None or record.by == HUB.id:
        agent_id = _get_asking_agent(event)
    if node is not None and agent_id is None:
        agent_id = _get_run_agent(rows, event)
    if agent_id is not None:
        return _build_actor(rows, agent_id)._replace(node=node.name if node is not None else None)
    return _build_actor(rows, record.by)


def _build_actor(rows: Rows, principal_id: str) -> AuditActor:
    agent = rows.get(AGENTS, principal_id)
    return AuditActor(get_known_name(rows, principal_id), agent.id if agent is not None else None)


def _get_asking_agent(event: Any) -> str | None:
    """The agent that asks, or wants to make a call."""
    match event:
        case AskRaised():
            return event.asker.agent_id
        case CallJudged():
            return event.wanted.agent_id
    return None


def _get_run_agent(rows: Rows, event: Any) -> str | None:
    """The agent of the run that an event is about, directly or by an ask of it."""
    if (run_id := getattr(event, "run_id", None)) is not None and (run := rows.get(RUNS, run_id)) is not None:
        return run.agent_id
    ask = rows.get(ASKS, event.ask_id) if hasattr(event, "ask_id") else None
    return ask.agent_id if ask is not None else None
