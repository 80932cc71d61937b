"""Calls of MCP servers' tools through the hub: judged, and asked about, like every other call."""

from typing import Any

from greenroom.errors import Refused
from greenroom.link.call_digest import Subject, hash_wish
from greenroom.link.policy_facts.call_request import CallRequest
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import Principal
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
from greenroom.rules.servers.model import McpServer, ServerTool, get_tool_risk
from greenroom.rules.servers.queries import get_offered
from greenroom.rules.threads.queries import get_current_thread


class WantToolCall(Command, frozen=True, kw_only=True):
    """Ask the gate whether a tool of a server may be called. The same request finds the same ask while it waits."""

    judgement_id: str
    tool: str
    """As it is offered: server__tool."""
    arguments: Any


def want_tool_call(rows: Rows, command: WantToolCall, context: Context) -> list[Event]:
    by = need_principal(command)
    found = get_offered(rows, by, command.tool)
    if found is None:
        raise Refused("tool_not_found", "not_found", name=command.tool[:100])
    wish = hash_call_wish(by, command.tool, command.arguments)
    run = get_current_run(rows, by.agent_id) if by.agent_id else None
    known = get_waiting_ask(rows, wish, context.now)
    if known is not None and known.run_id == (run.id if run else None):
        return []
    lapsed = build_lapse_events(rows, wish, context.now)
    wanted = build_call_request(rows, by, command.arguments, *found)
    verdict = judge(rows, wanted, context.now)
    if verdict.decision != "ask":
        return [*lapsed, *build_judgement_events(command.judgement_id, wanted, verdict)]
    waiting = rows.count(ASKS, {"agent_id": by.agent_id, "state": "open"}) if by.agent_id else 0
    if waiting >= context.settings.max_open_asks:
        raise Refused("too_many_asks.waiting", "limited", count=waiting)
    ask_id = f"ask_{command.judgement_id.removeprefix('jdg_')}"
    ask = build_ask_raised(
        context,
        ask_id,
        "permission",
        _build_asker(rows, by, run),
        build_call_title(command.tool, command.arguments),
        wish=wish,
        risk=verdict.risk,
        why=verdict.why,
        rule=verdict.rule,
        thread_id=(run.thread_id if run else None) or get_current_thread(rows, by.agent_id),
        subject=_build_subject(by, run, command, found[1]),
        edits=True,
        **build_reach_fields(verdict),
    )
    return [*lapsed, ask, *build_judgement_events(command.judgement_id, wanted, verdict, ask_id)]


def hash_call_wish(by: Principal, tool: str, arguments: Any) -> str:
    """What makes it the same request: caller and call."""
    return hash_wish("gateway", by.id, tool, arguments)


def build_call_request(rows: Rows, by: Principal, arguments: Any, server: McpServer, tool: ServerTool) -> CallRequest:
    """The call as the policy judges it."""
    run = get_current_run(rows, by.agent_id) if by.agent_id else None
    return CallRequest(
        tool=tool.offered_as,
        arguments=arguments,
        server=server.name,
        risk=get_tool_risk(server.definition, tool.accepted or tool.seen),
        lineage=build_lineage(rows, run) if run is not None else [],
        agent_id=by.agent_id or by.id,
    )


def _build_asker(rows: Rows, by: Principal, run: Run | None) -> Asker:
    agent = rows.get(AGENTS, by.agent_id) if by.agent_id else None
    name = (agent.display_name or agent.name) if agent else by.name
    return Asker(by=by.id, name=name, agent_id=by.agent_id, run_id=run.id if run else None)


def _build_subject(by: Principal, run: Run | None, command: WantToolCall, tool: ServerTool) -> Subject:
    return Subject(
        tool=command.tool,
        arguments=command.arguments,
        profile=run.profile if run else "",
        agent_id=by.agent_id or by.id,
        run_id=run.id if run else "",
        files={tool.offered_as: tool.seen.digest},  # the tool's description is part of what is approved
    )


DECIDE: dict[type[Command], Decide] = {WantToolCall: want_tool_call}
