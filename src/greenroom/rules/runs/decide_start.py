"""The rules for starting agents: who may start what, within which limits, and on which node."""

import math
import re

import msgspec

from greenroom.errors import Refused
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import Principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.agents.decide import find_free_name
from greenroom.rules.agents.model import AGENTS, Agent, AgentStarted
from greenroom.rules.agents.profiles import PROFILES, Profile, need_profile
from greenroom.rules.nodes.model import NODES
from greenroom.rules.policy.budgets import get_exhausted_day_budget
from greenroom.rules.policy.rule_set import get_state
from greenroom.rules.runs.commands import PlaceRun, ResumeRun, StartRun
from greenroom.rules.runs.continuation import need_continuable
from greenroom.rules.runs.events import RunCreated, RunEnded, RunPlaced
from greenroom.rules.runs.lineage import get_caller_taint
from greenroom.rules.runs.model import LIVE, RUNS, Constraints, Overrides, Run, TreeLimits
from greenroom.rules.runs.orders import (
    OVERRIDES,
    build_resume_prompt,
    build_start_order,
    make_room,
    override_definition,
)
from greenroom.rules.runs.queries import get_current_run, get_placement, may_see_run, need_run, need_tree
from greenroom.sentences import build_sentence

_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{7,127}")
PROMPT_CHARS = 1_000_000
TAINT_CHARS = 100
"""The longest prompt."""


def start_run(rows: Rows, command: StartRun, context: Context) -> list[Event]:
    by = need_principal(command)
    parent = _get_parent(rows, by, command)
    profile = need_profile(rows, command.profile)
    if not profile.definition.enabled:
        raise Refused("profile_disabled", "conflict", name=profile.name)
    if command.overrides and (not by.may_operate or not OVERRIDES.issuperset(command.overrides)):
        raise Refused("bad_overrides.fields", fields=sorted(OVERRIDES))
    if command.overrides.get("worktree") and not (command.overrides.get("directory") or profile.definition.directory):
        raise Refused("bad_overrides.worktree")
    override_definition(profile.definition, command.overrides)
    if command.continues is not None:
        need_continuable(rows, by, command.continues)
    if (command.taint or command.is_step) and not by.may_operate:
        raise Refused("forbidden.words_source", "forbidden")
    if command.session is not None:
        _need_session(by, command, command.session)
    if not command.prompt.strip() or len(command.prompt) > PROMPT_CHARS:
        raise Refused("bad_prompt.length", limit=PROMPT_CHARS)
    _need_money(rows, context)
    if parent is not None:
        _need_room_in_tree(rows, parent, profile)
    agent = _get_reused_agent(rows, by, command, profile)
    node_id = get_placement(rows, profile.definition, command.node, agent)
    overrides = command.overrides or _get_first_overrides(rows, agent)
    created = _build_run_created(command, profile, parent, agent, node_id, overrides, context)
    taint = created.taint or get_caller_taint(rows, by) or _get_remembered_taint(rows, agent)
    created = msgspec.structs.replace(created, taint=taint[:TAINT_CHARS])
    events: list[Event] = []
    if agent is None:
        events.append(_build_agent_started(rows, command, profile))
    events.append(created)
    busy = agent is not None and agent.process in ("busy", "starting")
    if node_id is not None and not busy:
        events += make_room(rows, node_id, created.agent_id, created.run_id, command.order_id)
        events += build_start_order(rows, created, command.order_id, profile.definition, agent)
    return events


def _need_session(by: Principal, command: StartRun, session: str) -> None:
    """Only an operator may pass on a conversation from outside the hub, and its id is never taken for an option."""
    if not by.may_operate:
        raise Refused("forbidden.conversation", "forbidden")
    if command.agent is not None:
        raise Refused("bad_session.named_agent")
    if not _SESSION.fullmatch(session):
        raise Refused("bad_session.id")


def _need_money(rows: Rows, context: Context) -> None:
    spent = get_exhausted_day_budget(rows, get_state(rows).options, context.now)
    if spent is not None:
        raise Refused("budget_spent", "limited", reason=spent[1], setting=spent[0])


def _get_parent(rows: Rows, by: Principal, command: StartRun) -> Run | None:
    """The run under which the new one stands: an agent starts agents under its own run and nowhere else."""
    if by.may_operate:
        return need_run(rows, by, command.parent_id) if command.parent_id else None
    need_right(by, "chat")
    own = get_current_run(rows, by.agent_id) if by.agent_id else None
    if own is None or own.status not in LIVE or command.parent_id not in (None, own.id):
        raise Refused("cannot_spawn.no_run", "forbidden")
    return own


def _need_room_in_tree(rows: Rows, parent: Run, profile: Profile) -> None:
    tree = need_tree(rows, parent.root_id)
    if tree.tombstone is not None or parent.status not in LIVE:
        raise Refused("tree_cancelled.start", "conflict")
    above = need_profile(rows, parent.profile).definition
    if not above.may_spawn:
        raise Refused("cannot_spawn.profile", "forbidden", profile=parent.profile)
    if profile.name != parent.profile and profile.name in parent.path:
        chain = " → ".join([*parent.path, profile.name])
        raise Refused("cycle", "conflict", chain=chain)
    if parent.depth + 1 > min(tree.limits.max_depth, above.max_depth + parent.depth):
        raise Refused("too_deep.tree", "limited", depth=parent.depth)
    if tree.runs >= tree.limits.max_runs:
        raise Refused("too_many_runs", "limited", runs=tree.runs)
    children = sum(rows.count(RUNS, {"parent_id": parent.id, "status": status}) for status in LIVE)
    if children >= above.max_children:
        raise Refused("too_many_children", "limited", children=children)
    if (tree.limits.max_tokens is not None and tree.tokens >= tree.limits.max_tokens) or (
        tree.limits.max_cost_usd is not None and tree.cost_usd >= tree.limits.max_cost_usd
    ):
        raise Refused("budget_used", "limited")


def _get_reused_agent(rows: Rows, by: Principal, command: StartRun, profile: Profile) -> Agent | None:
    if command.agent is None:
        return None
    named = [rows.get(AGENTS, command.agent), *rows.find(AGENTS, {"kept_as": command.agent})]
    agent = next((a for a in named if a is not None and a.profile is not None and a.state == "registered"), None)
    if agent is None or not (by.may_operate or _is_own(rows, by, agent)):
        raise Refused("agent_not_kept", "not_found", agent=command.agent[:64])
    if agent.profile != profile.name:
        raise Refused("wrong_profile", "conflict", agent=command.agent, profile=agent.profile)
    return agent


def _get_first_overrides(rows: Rows, agent: Agent | None) -> Overrides:
    """A resumed agent keeps its settings and its directory."""
    before = rows.find(RUNS, {"agent_id": agent.id}, order="created_at", limit=1) if agent is not None else []
    return before[0].overrides if before else {}


def _get_remembered_taint(rows: Rows, agent: Agent | None) -> str:
    """What a resumed agent received before is still in its conversation."""
    before = rows.find(RUNS, {"agent_id": agent.id}, order="created_at", desc=True, limit=1) if agent else []
    return before[0].taint if before else ""


def _is_own(rows: Rows, by: Principal, agent: Agent) -> bool:
    """Whether this run started that agent: another's agent has a memory and a credential that it must not use."""
    first = rows.find(RUNS, {"agent_id": agent.id}, order="created_at", limit=20)
    return any(may_see_run(rows, by, run) for run in first)


def _build_agent_started(rows: Rows, command: StartRun, profile: Profile) -> AgentStarted:
    definition = profile.definition
    return AgentStarted(
        agent_id=command.agent_id,
        name=find_free_name(rows, command.keep_as or command.name or definition.display_name or profile.name),
        profile=profile.name,
        driver=definition.driver,
        model=str(command.overrides.get("model") or definition.model or "default"),
        description=definition.description,
        capabilities=definition.capabilities,
        kept_as=command.keep_as,
    )


def _build_run_created(
    command: StartRun,
    profile: Profile,
    parent: Run | None,
    agent: Agent | None,
    node_id: str | None,
    overrides: Overrides,
    context: Context,
) -> RunCreated:
    definition = profile.definition
    constraints = command.context.constraints if command.context else Constraints()
    seconds = None if constraints.max_duration is None else max(1, math.ceil(constraints.max_duration / 1000))
    is_timed = parent is not None and parent.deadline > 0  # what its caller has no time for, it has not either
    left_s = max(1, math.ceil((parent.deadline - context.now) / 1000)) if parent and is_timed else None
    tokens, cost_usd = _least(definition.max_tokens, command.max_tokens), definition.max_cost_usd
    limits = None
    if parent is None:  # what a profile may use, its tree may; below another's root it holds for the run itself
        cost_usd = _least(cost_usd, command.max_cost_usd)
        limits = TreeLimits(max_depth=definition.max_depth, max_tokens=_whole(tokens), max_cost_usd=cost_usd)
        tokens, cost_usd = command.max_tokens, None
    return copy_fields(
        command,
        RunCreated,
        profile=profile.name,
        agent_id=agent.id if agent else command.agent_id,
        root_id=parent.root_id if parent else command.run_id,
        depth=parent.depth + 1 if parent else 0,
        path=[*(parent.path if parent else []), profile.name],
        parent_id=parent.id if parent else None,
        thread_id=command.thread_id or (parent.thread_id if parent else None),
        node_id=node_id,
        pinned=command.node,
        keep=command.keep or command.keep_as is not None or (agent is not None and agent.kept_as is not None),
        timeout_s=int(_least(definition.timeout_s, command.timeout_s, seconds, left_s) or definition.timeout_s),
        max_tokens=_whole(_least(tokens, constraints.max_tokens)),
        max_cost_usd=_least(cost_usd, command.max_cost_usd if parent else None),
        isolation=definition.sandbox,
        overrides=overrides,
        taint=(parent.taint if parent else "") or command.taint[:TAINT_CHARS],
        limits=limits,
    )


def _least(*values: float | None) -> float | None:
    given = [value for value in values if value is not None]
    return min(given) if given else None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def place_run(rows: Rows, command: PlaceRun, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    run = rows.get(RUNS, command.run_id)
    if run is None or run.status != "pending":
        return []
    agent = rows.get(AGENTS, run.agent_id)
    if agent is not None and agent.run_id is not None:
        return []  # it waits for its agent, or has been ordered already
    profile = rows.get(PROFILES, run.profile)
    if profile is None:
        deleted = build_sentence("run_error.profile_deleted", profile=run.profile)
        return [RunEnded(run_id=run.id, status="failed", error=deleted)]
    node_id = run.node_id or get_placement(rows, profile.definition, run.pinned, agent)
    if node_id is None:
        return []
    placed = msgspec.structs.replace(run, node_id=node_id)
    room = make_room(rows, node_id, run.agent_id, run.id, command.order_id)
    ordered = build_start_order(rows, placed, command.order_id, profile.definition, agent)
    return [RunPlaced(run_id=run.id, node_id=node_id), *room, *ordered]


def resume_run(rows: Rows, command: ResumeRun, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "operate")
    run = need_run(rows, by, command.run_id)
    if run.status != "interrupted":
        raise Refused("not_interrupted", "conflict", status=run.status)
    agent = rows.get(AGENTS, run.agent_id)
    if agent is None or not agent.session:
        raise Refused("no_session", "conflict")
    if agent.run_id is not None:
        raise Refused("agent_busy.at_run", "conflict", run_id=agent.run_id)
    if need_tree(rows, run.root_id).tombstone is not None:
        raise Refused("tree_cancelled.resume", "conflict")
    node = rows.get(NODES, run.node_id) if run.node_id else None
    if node is None:
        raise Refused("no_session.node_removed", "conflict")
    if node.draining:
        raise Refused("node_draining", "conflict", name=node.name)
    profile = need_profile(rows, run.profile)
    created = copy_fields(
        run,
        RunCreated,
        run_id=command.new_run_id,
        prompt=command.prompt or build_resume_prompt(rows, run, probe=command.probe),
        pinned=None,
        session=None,
        task=None if command.prompt else run.task or run.id,
        continues=run.id,
    )
    return [created, *build_start_order(rows, created, command.order_id, profile.definition, agent)]


DECIDE: dict[type[Command], Decide] = {
    StartRun: start_run,
    PlaceRun: place_run,
    ResumeRun: resume_run,
}
