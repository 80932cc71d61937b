"""Builds the order that starts an agent, with the credentials that the agent gets for it."""

import msgspec

from greenroom.errors import Refused
from greenroom.link.orders import AgentWork, EndOrder, StartOrder
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Event, Rows
from greenroom.rules.access.model import HUB, CredentialRevoked
from greenroom.rules.access.queries import find_unrevoked
from greenroom.rules.agents.model import AGENTS, Agent, AgentProcessChanged
from greenroom.rules.nodes.model import NODES, OrderGiven
from greenroom.rules.runs.events import RunCreated, RunPlaced
from greenroom.rules.runs.model import RUNS, AgentContext, Overrides, Run
from greenroom.rules.runs.queries import count_runs
from greenroom.rules.threads.model import THREADS
from greenroom.sentences import build_sentence
from greenroom.sentences.english import render_english

OVERRIDES = frozenset({"model", "instructions", "directory", "worktree", "temperature"})
"""What one run may have different from its profile."""
RESUME = (
    "# You were interrupted. Go on where you were: finish the task below without repeating what is done, and answer as"
    " it asks you to."
)
PROBE = (
    "# You were interrupted. First look whether the task below is done already, wholly or in part; then do only what is"
    " missing, and answer as it asks you to."
)


def build_start_order(
    rows: Rows, run: RunCreated | Run, order_id: str, definition: ProfileDefinition, agent: Agent | None
) -> list[Event]:
    """What the node needs to start a run. The credential is added when the order is sent: the log must not have it."""
    run_id = run.run_id if isinstance(run, RunCreated) else run.id
    node_id = run.node_id or (agent.node_id if agent else None)
    assert node_id is not None  # noqa: S101 the callers have placed it
    thread = rows.get(THREADS, run.thread_id) if run.thread_id else None
    work = copy_fields(
        run,
        StartOrder,
        definition=override_definition(render_english(definition), run.overrides),
        prompt=prepend_context(run.prompt, run.context),
        thread_topic=thread.topic if thread else None,
        task=run.task or run_id,
        # it is where that node keeps it
        session=agent.session if agent and agent.session and agent.node_id == node_id else run.session,
    )
    order = OrderGiven(order_id=order_id, node_id=node_id, run_id=run_id, agent_id=run.agent_id, work=work)
    starting = AgentProcessChanged(agent_id=run.agent_id, process="starting", node_id=node_id, run_id=run_id)
    placed: list[Event] = [] if run.node_id else [RunPlaced(run_id=run_id, node_id=node_id)]
    return [*placed, order, starting]


def build_order(run: Run, order_id: str, work: AgentWork) -> OrderGiven:
    """An order for the agent of a run that is on a node."""
    assert run.node_id is not None  # noqa: S101 the callers have looked
    return OrderGiven(order_id=order_id, node_id=run.node_id, run_id=run.id, agent_id=run.agent_id, work=work)


def override_definition(definition: ProfileDefinition, overrides: Overrides) -> ProfileDefinition:
    """A profile with the changes for one run."""
    try:
        return msgspec.convert({**msgspec.to_builtins(definition), **overrides}, ProfileDefinition)
    except msgspec.ValidationError as error:
        raise Refused("bad_overrides.value", problem=error) from None


def build_resume_prompt(rows: Rows, run: Run, *, probe: bool) -> str:
    """The prompt of an agent that resumes an interrupted run: its whole task again, so that it answers that task.

    The words before the task are a heading, which is no part of a script.
    """
    begun = rows.get(RUNS, run.task) if run.task else run
    return f"{PROBE if probe else RESUME}\n\n{(begun or run).prompt}"


def make_room(rows: Rows, node_id: str, agent_id: str, run_id: str, order_id: str) -> list[Event]:
    """Kept agents that idle count on their node: when it is full, those that idle longest lose their processes."""
    node = rows.get(NODES, node_id)
    if node is None or node.state != "connected":
        return []
    idle = [
        one for one in rows.find(AGENTS, {"node_id": node_id, "process": "idle"}, order="_seq") if one.id != agent_id
    ]
    own = rows.get(RUNS, run_id)
    at_work = count_runs(rows, node) - int(own is not None and own.node_id == node_id)
    surplus = max(0, at_work + 1 + len(idle) - node.capacity)
    events: list[Event] = []
    for number, one in enumerate(idle[:surplus]):
        events += build_release_order(rows, one, node_id, f"{order_id}_room{number}")
    return events


def build_release_order(rows: Rows, agent: Agent, node_id: str, order_id: str) -> list[Event]:
    """End the process of an agent that idles; its conversation can be resumed."""
    order = OrderGiven(order_id=order_id, node_id=node_id, run_id="", agent_id=agent.id, work=EndOrder())
    asleep = AgentProcessChanged(agent_id=agent.id, process="asleep")
    return [order, asleep, *revoke_credentials(rows, agent.id)]


def revoke_credentials(rows: Rows, agent_id: str, but: str | None = None) -> list[Event]:
    """Revoke the credentials that the hub gave an agent for its runs, except the one that its process has."""
    return [
        CredentialRevoked(credential_id=one.id, reason=build_sentence("revoked.unused"))
        for one in find_unrevoked(rows, agent_id)
        if one.kind == "agent" and one.created_by == HUB.id and one.id != but
    ]


def prepend_context(prompt: str, context: AgentContext | None) -> str:
    """The prompt after the quoted context that the agent gets: the context is no part of the prompt."""
    if context is None:
        return prompt
    parts = []
    if context.history_summary:
        parts.append(f"What happened before:\n{context.history_summary}")
    if context.parent_output is not None:
        parts.append(f"From the agent that called you:\n{_render_value(context.parent_output)}")
    if context.shared_variables:
        parts.append(f"Variables:\n{_render_value(context.shared_variables)}")
    if context.file_references:
        parts.append("Files:\n" + "\n".join(context.file_references))
    handed = "\n\n".join(parts)
    return f"{_quote(handed)}\n\n{prompt}" if parts else prompt


def _quote(text: str) -> str:
    return "\n".join(f"> {row}".rstrip() for row in text.splitlines())


def _render_value(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
