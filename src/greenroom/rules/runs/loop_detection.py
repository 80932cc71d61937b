"""Detects an agent that repeats the same call, pauses its run, and asks a person whether it may continue."""

from typing import Any

from greenroom.errors import Refused
from greenroom.link.policy_facts.call_request import CallRequest
from greenroom.link.reports import CallStarted
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.asks.call_text import build_call_title
from greenroom.rules.policy.model import JUDGEMENTS
from greenroom.rules.policy.rule_set import get_state
from greenroom.rules.runs.commands import PauseLoop
from greenroom.rules.runs.model import CALLS, RUNS, Run
from greenroom.rules.runs.pauses import LOOP, pause_run
from greenroom.runtimes.call_facts import hash_call_request
from greenroom.runtimes.tool_kinds import get_tool_kind
from greenroom.sentences import build_sentence


def hash_repeated_call(tool: str, given: Any) -> str:
    """What equal calls have in common; empty for calls of the hub, which detects those itself, and unclear calls."""
    kind = get_tool_kind(tool)
    if kind in ("hub", "plan") or not given:
        return ""
    return hash_call_request(CallRequest(tool=tool, arguments=given), kind)


def pause_if_looping(rows: Rows, run: Run, heard: CallStarted, seed: str, context: Context) -> list[Event]:
    """A call has started. The judge counts calls that wait for approval each time."""
    options = get_state(rows).options
    digest = hash_repeated_call(heard.tool, heard.input)
    if not digest or options.loop_times <= 0 or run.status != "running" or run.node_id is None:
        return []
    since = ("started_at", context.now - options.loop_window_s * 1000)
    before = rows.count(CALLS, {"run_id": run.id, "digest": digest}, after=since)
    if before + 1 < options.loop_times:
        return []
    if rows.find(JUDGEMENTS, {"run_id": run.id, "digest": digest}, limit=1):
        return []
    return _pause_for_loop(rows, run, before + 1, build_call_title(heard.tool, heard.input), seed, context)


def pause_loop(rows: Rows, command: PauseLoop, context: Context) -> list[Event]:
    """The hub has given the same answer to the same call too often."""
    if need_principal(command).kind != "hub":
        raise Refused("forbidden.hub_answers", "forbidden")
    run = rows.get(RUNS, command.run_id)
    if run is None or run.status != "running" or run.node_id is None:
        return []
    return _pause_for_loop(
        rows, run, command.times, build_call_title(command.tool, command.arguments), command.order_id, context
    )


def _pause_for_loop(rows: Rows, run: Run, times: int, title: str, order_id: str, context: Context) -> list[Event]:
    agent = rows.get(AGENTS, run.agent_id)
    name = (agent.display_name or agent.name) if agent else run.profile
    window_s = get_state(rows).options.loop_window_s
    said = build_sentence("pause.loop", name=name, times=times, window_s=window_s)
    return pause_run(rows, run, said, order_id, context, key=LOOP, about=title)


DECIDE: dict[type[Command], Decide] = {PauseLoop: pause_loop}
