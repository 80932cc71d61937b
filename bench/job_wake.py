"""How long a waiting agent sleeps on after a post, and the bare round trip that this is held against."""

import asyncio
from time import perf_counter

import msgspec

from bench.buses import Agent, Context, Target, Thread, create_thread, open_session, register_agents
from bench.mcp_wire import McpSession
from bench.posters import RestPoster, open_mcp_poster, open_noop_poster
from bench.stats import Times, summarise
from bench.wire import WireError

# Long enough for either bus to have the wait in place, so that a post meets a sleeping waiter.
PAUSE_S = 0.03
WAIT_MS = 30_000


class WakeJob(msgspec.Struct, tag="wake"):
    target: Target
    samples: int


class BareJob(msgspec.Struct, tag="bare"):
    raw: Target
    noop: Target
    samples: int


class WakeResult(msgspec.Struct):
    times: Times
    errors: int


async def wait_for_messages(
    session: McpSession, agent: Agent, thread_id: str, after_seq: int, timeout_ms: int = WAIT_MS
) -> tuple[int, Context]:
    """msg_wait until it brings a message; returns the last seq and the context."""
    while True:
        arguments = {
            "thread_id": thread_id,
            "after_seq": after_seq,
            "timeout_ms": timeout_ms,
            "return_format": "json",
            "agent_id": agent.id,
            "token": agent.token,
        }
        answer = await session.call("msg_wait", arguments)
        if answer.failed or "error" in answer.value:
            raise WireError(f"msg_wait: {answer.value}")
        said = answer.value
        if said["messages"]:
            return said["messages"][-1]["seq"], Context(said["current_seq"], said["reply_token"])


async def run_wake(job: WakeJob) -> WakeResult:
    waiter, writer = await register_agents(job.target, 2)
    thread = await create_thread(job.target, writer)
    session = await open_session(job.target, waiter)
    poster = await open_mcp_poster(job.target, writer, thread)
    seq, errors, seconds = thread.context.seq, 0, list[float]()
    for n in range(job.samples + 3):
        await poster.prepare()
        waiting = asyncio.create_task(wait_for_messages(session, waiter, thread.id, seq))
        await asyncio.sleep(PAUSE_S)
        start = perf_counter()
        posting = asyncio.create_task(poster.post(f"wake {n}"))
        try:
            seq, _ = await waiting
            end = perf_counter()
            await posting
        except WireError:
            errors += 1
            continue
        if n >= 3:
            seconds.append(end - start)
    return WakeResult(summarise(seconds), errors)


async def run_bare(job: BareJob) -> WakeResult:
    """A durable post to the bare handler, then a call of a tool that does nothing; the two times are added."""
    poster = RestPoster(job.raw, Agent("a", "none"), Thread("none", Context(0, "")))
    tool = await open_noop_poster(job.noop)
    seconds = list[float]()
    for n in range(job.samples + 3):
        await asyncio.sleep(PAUSE_S)
        start = perf_counter()
        await poster.post(f"bare {n}")
        await tool.post(f"bare {n}")
        if n >= 3:
            seconds.append(perf_counter() - start)
    return WakeResult(summarise(seconds), 0)
