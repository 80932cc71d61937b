"""A person's answer to the report of an agent that does not wait: it becomes the agent's next prompt if possible."""

from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Context, Event, Rows
from greenroom.rules.agents.model import AGENTS, Agent
from greenroom.rules.agents.profiles import PROFILES, Profile
from greenroom.rules.asks.events import AnswerMissed, AnswerTaken, AskAnswered
from greenroom.rules.asks.model import ASKS
from greenroom.rules.nodes.model import NODES
from greenroom.rules.policy.budgets import get_exhausted_day_budget
from greenroom.rules.policy.rule_set import get_state
from greenroom.rules.runs.events import RunCreated
from greenroom.rules.runs.model import LIVE, RUNS, TREES, Run
from greenroom.rules.runs.orders import build_start_order, make_room
from greenroom.rules.runs.queries import get_placement
from greenroom.sentences import Sentence, build_sentence


def handle_report_answer(rows: Rows, event: AskAnswered, context: Context) -> list[Event]:
    """A text becomes the agent's next run; if that is not possible, the person learns it. An approval needs nothing."""
    ask = rows.get(ASKS, event.ask_id)
    run = rows.get(RUNS, ask.run_id) if ask is not None and ask.run_id else None
    if ask is None or run is None or ask.kind != "report" or event.verdict == "approve" or not event.text.strip():
        return []
    agent, profile = rows.get(AGENTS, run.agent_id), rows.get(PROFILES, run.profile)
    if run.status in LIVE and (profile is None or profile.definition.driver != "pty"):
        return []  # the call by which it reported waits for this answer
    hindrance = _explain_obstacle(rows, run, agent, profile, context)
    if hindrance is not None or agent is None or profile is None:
        return [AnswerMissed(ask_id=ask.id, reason=build_sentence("missed.nobody", obstacle=hindrance))]
    next_run = copy_fields(
        run,
        RunCreated,
        run_id=f"run_{ask.id.removeprefix('ask_')}",
        prompt=event.text,
        node_id=None,
        pinned=None,
        context=None,
        session=None,
        is_step=False,
        task=None,
        continues=None,
    )
    events: list[Event] = [next_run, AnswerTaken(ask_id=ask.id)]
    if agent.run_id is not None or (node_id := get_placement(rows, profile.definition, None, agent)) is None:
        return events  # it is started when the agent, or the node, is free
    order_id = f"ord_{ask.id.removeprefix('ask_')}_next"
    room = make_room(rows, node_id, agent.id, next_run.run_id, order_id)
    return [*events, *room, *build_start_order(rows, next_run, order_id, profile.definition, agent)]


def _explain_obstacle(
    rows: Rows, run: Run, agent: Agent | None, profile: Profile | None, context: Context
) -> Sentence | None:
    """Why the agent cannot be given the words; None when it can."""
    tree = rows.get(TREES, run.root_id)
    if agent is None or agent.state != "registered" or not (agent.session or (run.keep and agent.process != "asleep")):
        return build_sentence("missed.agent_ended")
    if agent.node_id is None or rows.get(NODES, agent.node_id) is None:
        return build_sentence("missed.no_node")
    if profile is None or not profile.definition.enabled:
        return build_sentence("missed.no_profile")
    if tree is None or tree.tombstone is not None:
        return build_sentence("missed.tree_cancelled")
    spent = get_exhausted_day_budget(rows, get_state(rows).options, context.now)
    return None if spent is None else spent[1]
