"""Lists runs, checks who may see them, and finds the nodes that fit."""

from greenroom.errors import Refused
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.log.model import Rows
from greenroom.log.pages import find_page, is_before
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import AGENTS, Agent
from greenroom.rules.agents.profiles import PROFILES, Profile
from greenroom.rules.agents.unavailable_programs import lacks_program
from greenroom.rules.nodes.decide import need_node
from greenroom.rules.nodes.model import NODES, Node
from greenroom.rules.runs.model import CALLS, ITEMS, LIVE, RUNS, TREES, Run, RunItem, RunStatus, ToolCall, Tree
from greenroom.rules.threads.queries import find_page_in_threads, is_in_visible_thread
from greenroom.runtimes.driver_list import DRIVER_INFOS
from greenroom.validation import get_nearest

_SEE_ALL = ("operator", "viewer", "hub")


def need_run(rows: Rows, by: Principal, run_id: str) -> Run:
    """The run, if it is there for this principal: an agent sees its own subtree and nothing else."""
    run = rows.get(RUNS, run_id)
    if run is None or not may_see_run(rows, by, run):
        raise Refused("run_not_found", "not_found", run_id=run_id[:80])
    return run


def may_see_run(rows: Rows, by: Principal, run: Run) -> bool:
    """Whether a run is for a principal; a viewer of certain threads sees the runs of these."""
    if by.kind in _SEE_ALL:
        return not by.is_confined or is_in_visible_thread(rows, by, run.thread_id)
    if by.kind != "agent" or by.agent_id is None:
        return False
    above: Run | None = run
    while above is not None:
        if above.agent_id == by.agent_id:
            return True
        above = rows.get(RUNS, above.parent_id) if above.parent_id else None
    return False


def may_see_tree(rows: Rows, by: Principal, tree: Tree) -> bool:
    """Whoever may see the root sees everything below it, except runs in threads that they may not see."""
    root = rows.get(RUNS, tree.root_id)
    return root is not None and may_see_run(rows, by, root)


def get_current_run(rows: Rows, agent_id: str) -> Run | None:
    """The run that an agent is at."""
    agent = rows.get(AGENTS, agent_id)
    return rows.get(RUNS, agent.run_id) if agent is not None and agent.run_id else None


def is_untold(rows: Rows, run: Run) -> bool:
    """Whether the agent of a run has certainly received nothing: a node reports its session before it sends the prompt.

    A command that has the prompt among its arguments has it from the start.
    """
    profile = rows.get(PROFILES, run.profile)
    if run.started_at is not None or profile is None or profile.definition.driver == "command":
        return False
    return not any("{prompt}" in argument for argument in profile.definition.command)


def find_runs(
    rows: Rows, by: Principal, *, status: RunStatus | None = None, before: int | None = None, limit: int = 50
) -> list[Run]:
    """Runs, newest first."""
    if by.kind not in _SEE_ALL:
        return _find_own_runs(rows, by, status, before, limit)
    where = {} if status is None else {"status": status}
    if by.is_confined:
        return find_page_in_threads(rows, RUNS, by, where, before=before, limit=limit)
    return find_page(rows, RUNS, where or None, before=before, limit=limit)


def _find_own_runs(rows: Rows, by: Principal, status: RunStatus | None, before: int | None, limit: int) -> list[Run]:
    """The runs of an agent and all below them: few of all that there are."""
    own = rows.find(RUNS, {"agent_id": by.agent_id}) if by.agent_id else []
    seen = {run.id: run for one in own for run in (one, *find_below(rows, one)) if status in (None, run.status)}
    newest = sorted(seen.values(), key=lambda run: run.seq, reverse=True)
    return [run for run in newest if is_before(run, before, run.created_at)][:limit]


def count_waiting_for_people(rows: Rows) -> int:
    """How many active runs wait for the answer of a person, and not for a time at which they continue."""
    return rows.count(RUNS, {"status": "waiting", "goes_on_at": 0})


def find_tree(rows: Rows, root_id: str) -> list[Run]:
    """All runs of a tree, in the order they were made."""
    return rows.find(RUNS, {"root_id": root_id}, order="seq")


def find_below(rows: Rows, run: Run) -> list[Run]:
    """All runs below a run, nearest first."""
    out: list[Run] = []
    parents = [run.id]
    while parents:
        children = [child for parent in parents for child in rows.find(RUNS, {"parent_id": parent})]
        out += children
        parents = [child.id for child in children]
    return out


def need_tree(rows: Rows, root_id: str) -> Tree:
    tree = rows.get(TREES, root_id)
    if tree is None:
        raise Refused("run_not_found.tree", "not_found")
    return tree


def find_calls(rows: Rows, run_id: str) -> list[ToolCall]:
    return rows.find(CALLS, {"run_id": run_id}, order="started_at")


def find_items(rows: Rows, run_id: str, after: int = 0, limit: int = 500) -> list[RunItem]:
    return rows.find(ITEMS, {"run_id": run_id}, after=("number", after), order="number", limit=limit)


def is_invitable(rows: Rows, profile: Profile) -> bool:
    """Whether some node has what the profile needs, its program included."""
    if not profile.definition.enabled:
        return False
    fitting = find_fitting(rows.find(NODES), profile.definition)
    return any(not node.draining and not lacks_program(rows, node.id, profile) for node in fitting)


def find_fitting(nodes: list[Node], definition: ProfileDefinition) -> list[Node]:
    """The nodes that have what the profile needs.

    A program that it names by its whole path need not be where nodes look for programs: where none has found the
    driver's own, each may have it, and one that does not says so.
    """
    labelled = [node for node in nodes if set(definition.labels) <= set(node.labels)]
    having = [node for node in labelled if definition.driver in node.drivers]
    names_program = definition.command and definition.command[0].startswith("/")
    return having or [node for node in labelled if names_program and node.drivers]


def count_runs(rows: Rows, node: Node) -> int:
    """How many runs a node is at."""
    return sum(rows.count(RUNS, {"node_id": node.id, "status": status}) for status in LIVE)


def has_room(rows: Rows, node: Node) -> bool:
    """Whether a node takes an agent now."""
    return node.state == "connected" and not node.draining and count_runs(rows, node) < node.capacity


def get_placement(rows: Rows, definition: ProfileDefinition, wanted: str | None, agent: Agent | None) -> str | None:
    """The node to run on, or None for now. A resumed agent runs where its conversation is."""
    node = rows.get(NODES, agent.node_id) if agent is not None and agent.node_id is not None else None
    if agent is None or node is None:
        return choose_node(rows, definition, wanted)
    has_process = agent.process in ("idle", "busy", "starting")
    waits_there = node.state != "connected" and not node.draining  # an order waits for a node that is away
    return node.id if has_process or waits_there or has_room(rows, node) else None


def find_placeable(rows: Rows) -> list[Run]:
    """Runs that wait for a node and could be given one now, oldest first; those that still wait hold up no other.

    Of the new agents of a profile no more are found than there are places: all others cost one look each.
    """
    free = sum(node.capacity - count_runs(rows, node) for node in rows.find(NODES) if has_room(rows, node))
    places: dict[tuple[str, str | None], int] = {}
    out = []
    for run in rows.find(RUNS, {"status": "pending"}, order="seq"):
        agent = rows.get(AGENTS, run.agent_id)
        if agent is not None and agent.run_id is not None:
            continue  # it waits for its agent, or has been ordered already
        profile = rows.get(PROFILES, run.profile)
        if profile is None or run.node_id:
            out.append(run)
        elif agent is not None and agent.node_id is not None:
            out += [run] if _has_place(rows, profile.definition, run, agent) else []
        else:
            kind = (run.profile, run.pinned)
            if kind not in places:
                places[kind] = free if _has_place(rows, profile.definition, run, None) else 0
            if places[kind] > 0:
                places[kind] -= 1
                out.append(run)
    return out


def _has_place(rows: Rows, definition: ProfileDefinition, run: Run, agent: Agent | None) -> bool:
    try:
        return get_placement(rows, definition, run.pinned, agent) is not None
    except Refused:
        return False  # no node that is known fits any more: another may come


def _build_no_node(definition: ProfileDefinition, nodes: list[Node]) -> Refused:
    known = DRIVER_INFOS.keys() | {driver for node in nodes for driver in node.drivers}
    near = get_nearest(definition.driver, sorted(known))
    if definition.driver not in known and near is not None:
        return Refused("no_node.near", "conflict", driver=definition.driver, near=near)
    if definition.labels:
        return Refused("no_node.labels", "conflict", driver=definition.driver, labels=definition.labels)
    return Refused("no_node", "conflict", driver=definition.driver)


def choose_node(rows: Rows, definition: ProfileDefinition, wanted: str | None) -> str | None:
    """The node to run on; None when the one that is pinned cannot be reached now. Refuses when none could fit."""
    pinned = wanted or definition.node
    if pinned is not None:
        node = need_node(rows, pinned)
        return node.id if has_room(rows, node) else None
    nodes = rows.find(NODES, order="_key")
    fitting = find_fitting(nodes, definition)
    if not fitting:
        if definition.driver in DRIVER_INFOS and any(n.state == "new" for n in nodes):
            return None  # it has not reported yet what it can run
        raise _build_no_node(definition, nodes)
    free = [(count_runs(rows, n) - n.capacity, n.id) for n in fitting if has_room(rows, n)]
    return min(free)[1] if free else None
