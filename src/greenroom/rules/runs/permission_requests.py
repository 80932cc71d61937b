"""Permission that an agent asks for itself, over MCP, before a call that the hub does not see."""

from typing import Any

from greenroom.errors import Refused
from greenroom.link.call_digest import Subject, hash_wish
from greenroom.link.policy_facts.call_request import CallRequest
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.asks.ask_builder import build_ask_raised, build_lapse_events
from greenroom.rules.asks.call_text import build_call_title
from greenroom.rules.asks.model import ASKS, Asker
from greenroom.rules.asks.queries import get_waiting_ask
from greenroom.rules.policy.answer_effects import build_judgement_events, build_reach_fields
from greenroom.rules.policy.judge import judge
from greenroom.rules.runs.lineage import build_lineage
from greenroom.rules.runs.model import Run
from greenroom.rules.runs.queries import get_current_run
from greenroom.rules.servers.queries import is_passed_on
from greenroom.rules.threads.queries import get_current_thread


class RequestPermission(Command, frozen=True, kw_only=True):
    """Ask the gate for approval of one call. The same request finds the same ask until its answer is picked up."""

    ask_id: str
    tool: str
    arguments: Any
    call_id: str | None = None


def request_permission(rows: Rows, command: RequestPermission, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "chat")
    if not command.tool.strip() or len(command.tool) > 200:
        raise Refused("bad_tool")
    wish = hash_permission_wish(command)
    agent = rows.get(AGENTS, by.agent_id) if by.agent_id else None
    run = get_current_run(rows, agent.id) if agent is not None else None
    known = get_waiting_ask(rows, wish, context.now)
    if known is not None and known.run_id == (run.id if run else None):
        return []
    who = by.agent_id or by.id
    wanted = CallRequest(
        tool=command.tool,
        arguments=command.arguments,
        lineage=build_lineage(rows, run) if run is not None else [],
        agent_id=who,
        is_passed_on=is_passed_on(rows, command.tool),
    )
    verdict = judge(rows, wanted, context.now)
    if verdict.decision != "ask":
        return [*build_lapse_events(rows, wish, context.now), *build_judgement_events(command.ask_id, wanted, verdict)]
    if rows.count(ASKS, {"agent_id": by.agent_id, "state": "open"}) >= context.settings.max_open_asks:
        raise Refused("too_many_asks", "limited")
    asker = Asker(
        by=by.id,
        name=(agent.display_name or agent.name) if agent else by.name,
        agent_id=by.agent_id,
        run_id=run.id if run else None,
        call_id=command.call_id,
    )
    ask = build_ask_raised(
        context,
        command.ask_id,
        "permission",
        asker,
        build_call_title(command.tool, command.arguments),
        wish=wish,
        risk=verdict.risk,
        why=verdict.why,
        rule=verdict.rule,
        thread_id=(run.thread_id if run else None) or get_current_thread(rows, by.agent_id),
        subject=_build_subject(command, who, run),
        edits=True,
        **build_reach_fields(verdict),
    )
    judged = build_judgement_events(command.ask_id, wanted, verdict, command.ask_id)
    return [*build_lapse_events(rows, wish, context.now), ask, *judged]


def _build_subject(command: RequestPermission, who: str, run: Run | None) -> Subject:
    return Subject(
        tool=command.tool,
        arguments=command.arguments,
        profile=run.profile if run else "",
        agent_id=who,
        run_id=run.id if run else "",
        sandbox=run.isolation if run else "",
    )


def hash_permission_wish(command: RequestPermission) -> str:
    """What makes it the same request: agent and call. A repeat of a call that was answered is a new one."""
    return hash_wish("permission_request", command.by.id, command.tool, command.arguments, command.call_id)


DECIDE: dict[type[Command], Decide] = {RequestPermission: request_permission}
