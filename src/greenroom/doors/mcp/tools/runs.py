"""Tools that start agents and watch them: invite, spawn, status, cancel; and profiles, for operators."""

import asyncio
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from greenroom.doors.http.server import build_local_url
from greenroom.doors.mcp.tool import McpCall, NoArgs, Tool
from greenroom.doors.mcp.tools.speaker import get_taint
from greenroom.doors.mcp.tools.verbs import build_verb_tools
from greenroom.errors import Refused
from greenroom.json_types import JsonObject
from greenroom.log.copied_fields import copy_fields
from greenroom.rules.agents.profiles import (
    PutProfile,
    explain_definition_error,
    find_profiles,
    read_definition,
)
from greenroom.rules.agents.verbs import PROFILE_VERBS
from greenroom.rules.runs.commands import CancelRun
from greenroom.rules.runs.model import ENDED, AgentContext, Run, RunStatus
from greenroom.rules.runs.queries import is_invitable, need_run
from greenroom.rules.runs.verbs import RUN_VERBS
from greenroom.rules.threads.queries import need_thread
from greenroom.services.run_service import start_run, wait_for_end
from greenroom.services.waker import Invitation, invite

_PATIENCE_S = 45.0
_AT_ONCE = 16


class InviteArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    agent_name: Annotated[
        str, Meta(description="The profile to start, or an agent of the thread to wake, from agent_list.")
    ]
    thread_id: Annotated[str, Meta(description="The thread to invite it into.")]


async def agent_invite(call: McpCall[InviteArgs]) -> Any:
    args, hub = call.args, call.hub
    try:
        thread = need_thread(hub.rows, call.by, args.thread_id)
        address = build_local_url(hub.settings, hub.settings.port)
        came = await invite(hub.log, call.by, args.agent_name, thread, address, taint=get_taint(call))
    except Refused as no:
        came = Invitation(False, no.message, "")
    out = {
        "ok": came.ok,
        "agent_name": args.agent_name,
        "reason": came.reason,
        "command_executed": came.command_executed,
    }
    return {**out, "run_id": came.run.id, "agent_id": came.run.agent_id} if came.run else out


class Task(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    profile: Annotated[str, Meta(description="Which kind of agent, from agent_list.")]
    prompt: Annotated[str, Meta(description="What it is to do.")]


class SpawnArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    profile: Annotated[str | None, Meta(description="Which kind of agent, from agent_list.")] = None
    prompt: Annotated[str | None, Meta(description="What the agent is to do.")] = None
    tasks: Annotated[list[Task], Meta(max_length=_AT_ONCE, description="Several at once, instead of one.")] = []
    context: Annotated[AgentContext | None, Meta(description="What is handed down to the agents.")] = None
    wait: Annotated[bool, Meta(description="Wait for the results; false returns at once.")] = True
    key: Annotated[
        Annotated[str, Meta(min_length=1, max_length=180)] | None,
        Meta(description="A name of your own for this: repeating the call with it starts nothing twice."),
    ] = None


async def spawn_agent(call: McpCall[SpawnArgs]) -> Any:
    args = call.args
    tasks = list(args.tasks)
    if args.profile is not None and args.prompt is not None:
        tasks.insert(0, Task(profile=args.profile, prompt=args.prompt))
    if not tasks:
        raise Refused("nothing_to_do")
    begun = [await _start_run(call, task, number) for number, task in enumerate(tasks)]
    refusals = [one for one in begun if isinstance(one, Refused)]
    if len(refusals) == len(begun):
        raise refusals[0]
    answers = await asyncio.gather(
        *(_build_spawn_result(call, task, one) for task, one in zip(tasks, begun, strict=True))
    )
    return answers[0] if len(answers) == 1 and not args.tasks else {"runs": answers}


async def _start_run(call: McpCall[SpawnArgs], task: Task, number: int) -> Run | Refused:
    """The run, or why there is none: those that were started before it are not lost for that."""
    args = call.args
    key = f"{args.key} {number}" if args.key else None
    try:
        return await start_run(
            call.hub.log, call.by, task.profile, task.prompt, context=args.context, key=key, taint=get_taint(call)
        )
    except Refused as no:
        return no


class RefusedTask(msgspec.Struct):
    """A task for which no agent was started, and why."""

    run_id: None
    profile: str
    status: Literal["refused"]
    code: str
    error: str


class UsageAnswer(msgspec.Struct):
    """What a run has used so far."""

    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    is_partial: bool | msgspec.UnsetType = msgspec.UNSET


class RunAnswer(msgspec.Struct):
    """A run as an agent sees it."""

    run_id: str
    profile: str
    status: RunStatus
    output: str | None
    result: Any
    error: str | None
    usage: UsageAnswer
    next: str | msgspec.UnsetType = msgspec.UNSET
    """What to do while it is not over."""


async def _build_spawn_result(call: McpCall[SpawnArgs], task: Task, begun: Run | Refused) -> RunAnswer | RefusedTask:
    if isinstance(begun, Refused):
        return RefusedTask(None, task.profile, "refused", begun.code, begun.message)
    ended = await wait_for_end(call.hub.log, begun.id, _PATIENCE_S) if call.args.wait else None
    return build_run_status(ended or need_run(call.hub.rows, call.by, begun.id))


class RunArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    run_id: Annotated[str, Meta(description="The ticket that spawn_agent gave.")]
    wait: Annotated[bool, Meta(description="Wait a while for its end.")] = True


async def run_status(call: McpCall[RunArgs]) -> Any:
    run = need_run(call.hub.rows, call.by, call.args.run_id)
    if call.args.wait and run.status not in ENDED:
        run = await wait_for_end(call.hub.log, run.id, _PATIENCE_S) or need_run(call.hub.rows, call.by, run.id)
    return build_run_status(run)


def build_run_status(run: Run) -> RunAnswer:
    """A run as an agent sees it; for a run that is not over, it says what to do next."""
    usage = copy_fields(run, UsageAnswer, is_partial=run.is_usage_partial or msgspec.UNSET)
    hint = msgspec.UNSET if run.status in ENDED else "It is still at work: call run_status with this run_id."
    error = None if run.error is None else str(run.error)
    return copy_fields(run, RunAnswer, run_id=run.id, error=error, usage=usage, next=hint)


async def profile_list(call: McpCall[NoArgs]) -> Any:
    return [
        {
            "name": profile.name,
            "source": profile.source,
            "is_invitable": is_invitable(call.hub.rows, profile),
            "definition": profile.definition,
        }
        for profile in find_profiles(call.hub.rows)
    ]


class ProfilePutArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(description="Lower-case letters, digits, '.', '-' and '_'.")]
    definition: Annotated[JsonObject, Meta(description="Its keys as in a file of agents/: driver, command, ...")]


async def profile_put(call: McpCall[ProfilePutArgs]) -> Any:
    args = call.args
    try:
        definition = read_definition(args.definition)
    except (msgspec.ValidationError, ValueError) as error:
        raise Refused("bad_profile", name=args.name[:64], problems=explain_definition_error(error)) from error
    await call.hub.log.do(PutProfile(by=call.by, name=args.name, definition=definition))
    return {"ok": True, "name": args.name}


def _build_cancelled(call: McpCall[Any], run_id: str) -> RunAnswer:
    return build_run_status(need_run(call.hub.rows, call.by, run_id))


_BUILT = build_verb_tools((*RUN_VERBS, *PROFILE_VERBS), {CancelRun: _build_cancelled})
RUN_TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "agent_invite",
        "Start an agent and invite it into a thread. It joins by itself; wait for its words with msg_wait.",
        InviteArgs,
        "operate",
        agent_invite,
    ),
    Tool(
        "spawn_agent",
        "Start one agent, or several at once, below your own run, and wait for what they answer. What takes longer"
        " than 45 seconds comes back as a ticket for run_status; of several, one that is refused says why.",
        SpawnArgs,
        "chat",
        spawn_agent,
        waits=True,
    ),
    Tool("run_status", "How a run that you started stands, or its result.", RunArgs, "read", run_status, waits=True),
    _BUILT["run_cancel"],
    Tool("profile_list", "Which kinds of agents can be started, and how.", NoArgs, "operate", profile_list),
    Tool(
        "profile_put", "Make or replace a profile: how a kind of agent starts.", ProfilePutArgs, "operate", profile_put
    ),
    _BUILT["profile_delete"],
)
