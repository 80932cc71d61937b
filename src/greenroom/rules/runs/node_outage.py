"""What an unreachable node means for its runs."""

from greenroom.log.model import Rows
from greenroom.rules.nodes.model import NODES
from greenroom.rules.runs.model import LIVE, Run
from greenroom.sentences import Words, build_sentence


def describe_obstacle(rows: Rows, run: Run) -> Words:
    """Why a run's output does not arrive, and what to do about it; empty if it does."""
    node = rows.get(NODES, run.node_id) if run.node_id and run.status in LIVE else None
    if node is None or node.state != "unreachable":
        return ""
    return build_sentence("obstacle.node_unreachable", node=node.name)
