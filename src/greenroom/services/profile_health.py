"""Whether a profile could start an agent, on every node that could run it, without spending a token."""

import asyncio
from pathlib import Path

import msgspec

from greenroom.link.profile_definition import ProfileDefinition
from greenroom.log.model import Rows
from greenroom.rules.agents.profiles import Profile, find_profile_problems
from greenroom.rules.nodes.model import NODES, Node, NodeState
from greenroom.rules.runs.queries import find_fitting
from greenroom.services.node_links import NodeLinks
from greenroom.services.skills import find_missing_skills


class NodeHealth(msgspec.Struct, frozen=True, kw_only=True):
    """One node that has the driver: its version there, and what prevents a start."""

    node: str
    state: NodeState
    version: str
    problems: list[str] = []


class ProfileHealth(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a profile. `ok` when some node could start it now."""

    name: str
    driver: str
    source: str
    enabled: bool
    ok: bool
    problems: list[str]
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
        wrong.append("enabled: the profile is switched off; set enabled = true")
    every = rows.find(NODES, order="_key")
    pinned = [node for node in every if definition.node in (None, node.id, node.name)]
    if not pinned:
        wrong.append(f"node: there is no node '{definition.node}'; see `greenroom node list`")
    labelled = [node for node in pinned if set(definition.labels) <= set(node.labels)]
    if pinned and not labelled:
        wrong.append(
            f"labels: no node has all of these: {', '.join(definition.labels)}; start a node with them, or remove some"
        )
    having = find_fitting(labelled, definition)
    if labelled and not having:
        known = sorted({name for node in labelled for name in node.drivers})
        found = ", ".join(known) or "none"
        wrong.append(f"driver: no node has '{definition.driver}' (found: {found}); install its program on a node")
    nodes = await asyncio.gather(*(_check_on_node(links, node, definition) for node in having))
    ok = not wrong and any(not node.problems for node in nodes)
    return ProfileHealth(
        name=profile.name,
        driver=definition.driver,
        source=profile.source,
        enabled=definition.enabled,
        ok=ok,
        problems=wrong,
        nodes=nodes,
    )


async def _check_on_node(links: NodeLinks, node: Node, definition: ProfileDefinition) -> NodeHealth:
    """What prevents a start on one node, which knows its own machine."""
    wrong = [] if node.state == "connected" else [f"the node is {node.state}"]
    if node.draining:
        wrong.append(f"the node accepts no new agents: run `greenroom node undrain {node.name}`")
    if node.state == "connected":
        found = await links.check_profile(node.id, definition)
        wrong += ["the node is connected to another hub: run this check there"] if found is None else found.problems
    return NodeHealth(node=node.name, state=node.state, version=node.drivers.get(definition.driver, ""), problems=wrong)
