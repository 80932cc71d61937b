"""Cancels a run."""

from greenroom.link.orders import CancelOrder
from greenroom.log.model import Event, Rows
from greenroom.rules.agents.model import AGENTS, AgentProcessChanged
from greenroom.rules.runs.events import RunEnded
from greenroom.rules.runs.model import EndStatus, Run
from greenroom.rules.runs.orders import build_order, revoke_credentials
from greenroom.sentences import Words, build_sentence

STATUS_WORDS = {
    "completed": build_sentence("run_status.completed"),
    "failed": build_sentence("run_status.failed"),
    "cancelled": build_sentence("run_status.cancelled"),
    "interrupted": build_sentence("run_status.interrupted"),
}


def build_cancel_events(
    rows: Rows, run: Run, order_id: str, reason: Words, status: EndStatus = "cancelled"
) -> list[Event]:
    """A run is cancelled at once; the node ends its process when it gets the order."""
    events: list[Event] = [RunEnded(run_id=run.id, status=status, error=reason or STATUS_WORDS[status])]
    if run.node_id is not None:
        events.append(build_order(run, order_id, CancelOrder()))
    agent = rows.get(AGENTS, run.agent_id)
    if agent is None or agent.run_id != run.id:
        return events
    if run.keep and agent.process == "busy":
        return [*events, AgentProcessChanged(agent_id=agent.id, process="idle")]
    return [*events, AgentProcessChanged(agent_id=agent.id, process="asleep"), *revoke_credentials(rows, agent.id)]
