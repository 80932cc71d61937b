"""What happens to runs when their node returns without them, and when it is removed."""

from greenroom.errors import Refused
from greenroom.link.orders import CancelOrder
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import CREDENTIALS, CredentialRevoked
from greenroom.rules.access.queries import find_unrevoked, need_right
from greenroom.rules.agents.model import AGENTS, Agent, AgentProcessChanged
from greenroom.rules.nodes.decide import need_node
from greenroom.rules.nodes.model import NODES, ORDERS, Node, NodeRemoved, NodeRevoked, OrderGiven
from greenroom.rules.runs.commands import ReconcileNode, RemoveNode
from greenroom.rules.runs.decide_items import LOST, build_end_events
from greenroom.rules.runs.events import RunEnded
from greenroom.rules.runs.model import LIVE, RUNS, Run
from greenroom.rules.runs.orders import revoke_credentials
from greenroom.rules.runs.permissions import withdraw_asks_of_run
from greenroom.sentences import Sentence, build_sentence

_MOST_UNKNOWN = 1000
_WITH_PROCESS = ("starting", "busy", "idle")


def reconcile_node(rows: Rows, command: ReconcileNode, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    node = rows.get(NODES, command.node_id)
    if node is None or node.epoch != command.epoch:
        return []
    live = set(command.live)
    events: list[Event] = []
    for status in LIVE:
        for run in rows.find(RUNS, {"node_id": node.id, "status": status}):
            ordered = rows.find(ORDERS, {"run_id": run.id}, limit=1)
            queued = status == "pending" and (ordered or not _was_started(rows, run))
            if run.id not in live and not queued:
                events += build_end_events(rows, run, "interrupted", f"{run.id}_int", error=LOST, alive=False)
    unknown = [run_id for run_id in command.live[:_MOST_UNKNOWN] if rows.get(RUNS, run_id) is None]
    return events + [_build_cancel_order(node, run_id) for run_id in unknown]


def _build_cancel_order(node: Node, run_id: str) -> OrderGiven:
    """End a run that started after the backup from which this log was restored: the log does not know its agent."""
    return OrderGiven(order_id=f"{run_id}_unknown", node_id=node.id, run_id=run_id, agent_id="", work=CancelOrder())


def _was_started(rows: Rows, run: Run) -> bool:
    agent = rows.get(AGENTS, run.agent_id)
    return agent is not None and agent.run_id == run.id


def remove_node(rows: Rows, command: RemoveNode, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    node = need_node(rows, command.node_id)
    if node.local and node.state == "connected":
        raise Refused("local_node", "conflict", name=node.name)
    runs, agents = _find_live_runs(rows, node), _find_held_agents(rows, node)
    if (runs or agents) and not command.force:
        raise Refused("node_in_use", "conflict", name=node.name, agents=len(agents), runs=len(runs))
    events = _end_all(rows, runs, agents, build_sentence("run_error.node_removed"))
    for one in find_unrevoked(rows, node.id):
        events.append(CredentialRevoked(credential_id=one.id, reason=build_sentence("revoked.node_removed")))
    return [*events, NodeRemoved(node_id=node.id, name=node.name)]


def on_node_revoked(rows: Rows, event: CredentialRevoked, context: Context) -> list[Event]:
    """A node whose last credential was revoked does not return: its program ends its agents and itself."""
    credential = rows.get(CREDENTIALS, event.credential_id)
    node = rows.get(NODES, credential.agent_id or "") if credential is not None and credential.kind == "node" else None
    if node is None or find_unrevoked(rows, node.id):
        return []
    why = build_sentence("run_error.node_revoked")
    ended = _end_all(rows, _find_live_runs(rows, node), _find_held_agents(rows, node), why)
    return [NodeRevoked(node_id=node.id), *ended]


def _end_all(rows: Rows, runs: list[Run], agents: list[Agent], why: Sentence) -> list[Event]:
    """End what a node held that is a node no more."""
    events: list[Event] = []
    for run in runs:
        events += [RunEnded(run_id=run.id, status="failed", error=why), *withdraw_asks_of_run(rows, run, why)]
    for agent in agents:
        events += [AgentProcessChanged(agent_id=agent.id, process="asleep"), *revoke_credentials(rows, agent.id)]
    return events


def _find_live_runs(rows: Rows, node: Node) -> list[Run]:
    """Runs that are at the node, and those that may run on no other."""
    at_it = [run for status in LIVE for run in rows.find(RUNS, {"node_id": node.id, "status": status})]
    waiting = [run for run in rows.find(RUNS, {"status": "pending"}) if run.node_id is None]
    return at_it + [run for run in waiting if run.pinned in (node.id, node.name)]


def _find_held_agents(rows: Rows, node: Node) -> list[Agent]:
    return [agent for process in _WITH_PROCESS for agent in rows.find(AGENTS, {"node_id": node.id, "process": process})]


DECIDE: dict[type[Command], Decide] = {
    ReconcileNode: reconcile_node,
    RemoveNode: remove_node,
}
