"""Starts runs and waits for them, for the doors."""

from typing import Any

from greenroom.ids import new_id
from greenroom.log.log import Log
from greenroom.log.row_waiter import wait_for_row
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.profiles import need_profile
from greenroom.rules.runs.commands import StartRun
from greenroom.rules.runs.events import RunCreated
from greenroom.rules.runs.model import ENDED, RUNS, Run
from greenroom.rules.threads.model import Thread


async def start_run(
    log: Log, by: Principal, profile: str, prompt: str, *, run_id: str | None = None, **fields: Any
) -> Run:
    """Put an agent to work; returns as soon as that is written down."""
    done = await log.do(
        StartRun(
            by=by,
            run_id=run_id or new_id("run"),
            agent_id=new_id("agt"),
            order_id=new_id("ord"),
            profile=profile,
            prompt=prompt,
            **fields,
        )
    )
    created: RunCreated = done.first(RunCreated)
    run = log.rows.get(RUNS, created.run_id)
    assert run is not None  # noqa: S101 it was just written
    return run


async def wait_for_end(log: Log, run_id: str, timeout_s: float) -> Run | None:
    """The run once it is over, or None when it is still at work after the time."""
    return await wait_for_row(log, RUNS, run_id, lambda run: run.status in ENDED, timeout_s)


def build_invitation(log: Log, profile_name: str, thread: Thread) -> str:
    """The prompt of an agent that is invited into a thread."""
    definition = need_profile(log.rows, profile_name).definition
    if definition.invite_prompt:
        return definition.invite_prompt.replace("{thread_id}", thread.id).replace("{thread_topic}", thread.topic)
    return (
        f"You are invited into the thread “{thread.topic}” (thread_id {thread.id}) of the Greenroom hub. Its MCP tools"
        f" are connected. Call bus_connect with thread_id {thread.id} to read what was said, answer with msg_post,"
        " then msg_wait for more. When nothing more is asked of you, end your turn."
    )
