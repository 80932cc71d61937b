"""The verbs for nodes, for every door. Removing one is a verb of runs, because its runs end with it."""

from greenroom.rules.nodes.model import DrainNode, UndrainNode
from greenroom.rules.verb import CliVerb, Verb

_ONE = "/api/nodes/{node_id}"
_NAMED = "its name or id"
NODE_VERBS = (
    Verb(
        DrainNode,
        "POST",
        f"{_ONE}/drain",
        "operate",
        "Give a node no new agents; it keeps the ones that it has",
        cli=CliVerb("node drain", "{name} keeps its agents and gets no others.", "desk", "NODE", "node", _NAMED),
    ),
    Verb(
        UndrainNode,
        "POST",
        f"{_ONE}/undrain",
        "operate",
        "Give a node new agents again",
        cli=CliVerb("node undrain", "{name} gets agents again.", "desk", "NODE", "node", _NAMED),
    ),
)
