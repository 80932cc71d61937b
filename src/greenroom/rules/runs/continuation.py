"""Whether the agent of a finished run can get another task in the same conversation."""

from greenroom.errors import Refused
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.nodes.model import NODES
from greenroom.rules.runs.model import LIVE, Run
from greenroom.rules.runs.queries import need_run
from greenroom.sentences import Sentence, build_sentence


def need_continuable(rows: Rows, by: Principal, run_id: str) -> Run:
    """The run, if its agent can continue it; the refusal says why not, and what to do instead."""
    run = need_run(rows, by, run_id)
    if run.status in LIVE:
        raise Refused("run_not_over", "conflict", status=run.status)
    why = _explain_obstacle(rows, run)
    if why:
        raise Refused("cannot_continue", "conflict", why=why)
    return run


def _explain_obstacle(rows: Rows, run: Run) -> Sentence | None:
    agent = rows.get(AGENTS, run.agent_id)
    if agent is None or agent.state != "registered":
        return build_sentence("obstacle.agent_left")
    if not agent.session and agent.process not in ("starting", "busy", "idle"):
        return build_sentence("obstacle.no_conversation")
    if agent.node_id is not None and rows.get(NODES, agent.node_id) is None:
        return build_sentence("obstacle.node_removed")
    return None
