"""Whether a profile could start an agent, on every node that could run it, without spending a token."""

import asyncio
from pathlib import Path

import msgspec

from greenroom.link.profile_definition import ProfileDefinition
from greenroom.log.model import Rows
from greenroom.rules.agents.profiles import Profile, find_profile_problems
from greenroom.rules.nodes.model import NODES, Node, NodeState
from greenroom.rules.runs.queries import find_fitting
from greenroom.sentences import Sentence, build_sentence
from greenroom.services.node_links import NodeLinks
from greenroom.services.skills import find_missing_skills
from greenroom.validation import build_named_problem

_STATES: dict[NodeState, str] = {
    "new": "node_state.new",
    "connected": "node_state.connected",
    "unreachable": "node_state.unreachable",
    "revoked": "node_state.revoked",
}


class NodeHealth(msgspec.Struct, frozen=True, kw_only=True):
    """One node that has the driver: its version there, and what prevents a start."""

    node: str
    state: NodeState
    version: str
    problems: list[str] = []
    sentences: list[Sentence] = []
    """The same problems, for a reader of another language."""


class ProfileHealth(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a profile. `ok` when some node could start it now."""

    name: str
    driver: str
    source: str
    enabled: bool
    ok: bool
    problems: list[str]
    sentences: list[Sentence]
    """The same problems, for a reader of another language."""
    nodes: list[NodeHealth]


async def check_profile_health(
    rows: Rows, links: NodeLinks, profile: Profile, data: Path, model: str | None = None
) -> ProfileHealth:
    """Look at a profile, or at what becomes of it with another model; each node that could run it is asked."""
    definition = profile.definition
    if model is not None:
        definition = msgspec.structs.replace(definition, model=model)
    wrong = find_profile_problems(profile.name, definition) + find_missing_skills(
        definition.skills, definition.directory, data
    )
    if not definition.enabled:
        wrong.append(build_named_problem("enabled", build_sentence("profile_problem.disabled")))
    every = rows.find(NODES, order="_key")
    pinned = [node for node in every if definition.node in (None, node.id, node.name)]
    if not pinned:
        wrong.append(build_named_problem("node", build_sentence("profile_problem.no_node", name=definition.node)))
    labelled = [node for node in pinned if set(definition.labels) <= set(node.labels)]
    if pinned and not labelled:
        said = build_sentence("profile_problem.no_labels", labels=definition.labels)
        wrong.append(build_named_problem("labels", said))
    having = find_fitting(labelled, definition)
    if labelled and not having:
        known = sorted({name for node in labelled for name in node.drivers})
        wrong.append(build_named_problem("driver", _explain_no_driver(definition.driver, known)))
    nodes = await asyncio.gather(*(_check_on_node(links, node, definition) for node in having))
    ok = not wrong and any(not node.problems for node in nodes)
    return ProfileHealth(
        name=profile.name,
        driver=definition.driver,
        source=profile.source,
        enabled=definition.enabled,
        ok=ok,
        problems=list(map(str, wrong)),
        sentences=wrong,
        nodes=nodes,
    )


def _explain_no_driver(driver: str, known: list[str]) -> Sentence:
    if not known:
        return build_sentence("profile_problem.no_driver_at_all", driver=driver)
    return build_sentence("profile_problem.no_driver", driver=driver, found=known)


async def _check_on_node(links: NodeLinks, node: Node, definition: ProfileDefinition) -> NodeHealth:
    """What prevents a start on one node, which knows its own machine."""
    state = build_sentence(_STATES[node.state])
    wrong = [] if node.state == "connected" else [build_sentence("profile_problem.node_state", state=state)]
    if node.draining:
        wrong.append(build_sentence("profile_problem.node_draining", node=node.name))
    if node.state == "connected":
        found = await links.check_profile(node.id, definition)
        if found is None:
            wrong.append(build_sentence("profile_problem.other_hub"))
        else:
            wrong += found.sentences or [build_sentence("text", text=one) for one in found.problems]
    version = node.drivers.get(definition.driver, "")
    problems = list(map(str, wrong))
    return NodeHealth(node=node.name, state=node.state, version=version, problems=problems, sentences=wrong)
