"""Leave that an agent asks for itself, over MCP, before it makes a call that the hub does not see."""

from typing import Any

from greenroom.log.errors import Refused
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.nouns.access.decide import principal
from greenroom.nouns.access.queries import need_right
from greenroom.nouns.agents.model import AGENTS
from greenroom.nouns.asks.digest import wish_of
from greenroom.nouns.asks.model import ASKS, Asker, Subject
from greenroom.nouns.asks.queries import get_waiting
from greenroom.nouns.asks.raising import lapsed_events, raised
from greenroom.nouns.asks.words import title_of
from greenroom.nouns.policy.answers import judged_events, reach_labels
from greenroom.nouns.policy.judge import judge
from greenroom.nouns.policy.model import Wanted
from greenroom.nouns.runs.lineage import lineage_of
from greenroom.nouns.runs.model import Run
from greenroom.nouns.runs.queries import current_run
from greenroom.nouns.servers.queries import is_passed_on
from greenroom.nouns.threads.queries import get_present_thread


class RequestPermission(Command, frozen=True, kw_only=True):
    """Ask the gate for leave for one call. The same wish finds the same ask until its answer was taken."""

    ask_id: str
    tool: str
    arguments: Any
    call_id: str | None = None


def request_permission(rows: Rows, command: RequestPermission, context: Context) -> list[Event]:
    by = principal(command)
    need_right(by, "chat")
    if not command.tool.strip() or len(command.tool) > 200:
        raise Refused("bad_tool", "Name the tool that you want to use.")
    wish = permission_wish(command)
    agent = rows.get(AGENTS, by.agent_id) if by.agent_id else None
    run = current_run(rows, agent.id) if agent is not None else None
    known = get_waiting(rows, wish, context.now)
    if known is not None and known.run_id == (run.id if run else None):
        return []
    who = by.agent_id or by.id
    wanted = Wanted(
        tool=command.tool,
        arguments=command.arguments,
        lineage=lineage_of(rows, run) if run is not None else [],
        agent_id=who,
        is_passed_on=is_passed_on(rows, command.tool),
    )
    verdict = judge(rows, wanted, context.now)
    if verdict.decision != "ask":
        return [*lapsed_events(rows, wish, context.now), *judged_events(command.ask_id, wanted, verdict)]
    if rows.count(ASKS, {"agent_id": by.agent_id, "state": "open"}) >= context.settings.max_open_asks:
        raise Refused("too_many_asks", "Too many asks wait for a person already: wait for their answers.", "limited")
    asker = Asker(
        by=by.id,
        name=(agent.display_name or agent.name) if agent else by.name,
        agent_id=by.agent_id,
        run_id=run.id if run else None,
        call_id=command.call_id,
    )
    ask = raised(
        context,
        command.ask_id,
        "permission",
        asker,
        title_of(command.tool, command.arguments),
        wish=wish,
        risk=verdict.risk,
        why=verdict.why,
        rule=verdict.rule,
        thread_id=(run.thread_id if run else None) or get_present_thread(rows, by.agent_id),
        subject=_subject(command, who, run),
        edits=True,
        labels=reach_labels(verdict),
    )
    judged = judged_events(command.ask_id, wanted, verdict, command.ask_id)
    return [*lapsed_events(rows, wish, context.now), ask, *judged]


def _subject(command: RequestPermission, who: str, run: Run | None) -> Subject:
    return Subject(
        tool=command.tool,
        arguments=command.arguments,
        profile=run.profile if run else "",
        agent_id=who,
        run_id=run.id if run else "",
        sandbox=run.isolation if run else "",
    )


def permission_wish(command: RequestPermission) -> str:
    """What makes it the same wish: who asks for which call; a repeat of a call that was answered is another one."""
    return wish_of("permission_request", command.by.id, command.tool, command.arguments, command.call_id)


DECIDE: dict[type[Command], Decide] = {RequestPermission: request_permission}
