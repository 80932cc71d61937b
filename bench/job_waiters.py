"""A thousand agents in msg_wait: what each costs in memory, what they cost while idle, and when the last one wakes."""

import asyncio
import resource
from time import perf_counter

import msgspec
import psutil

from bench.buses import Agent, Target, create_thread, open_session, register_agents
from bench.job_wake import wait_for_messages
from bench.mcp_wire import McpSession
from bench.posters import open_mcp_poster
from bench.stats import cpu_s
from bench.wire import WireError

WAIT_MS = 300_000
SETTLE_LIMIT_S = 120


class WaitersJob(msgspec.Struct, tag="waiters"):
    target: Target
    waiters: int
    idle_s: float
    wakes: int


class WaitersResult(msgspec.Struct):
    kb_each: float
    idle_cpu_percent: float
    last_woken_s: list[float]  # one for each post that woke them all
    errors: int
    register_s: float  # all of them, as agents of the same kind


async def run_waiters(job: WaitersJob) -> WaitersResult:
    allow_files(job.waiters + 200)
    server = psutil.Process(job.target.pid)
    start = perf_counter()
    writer, first, *others = await register_agents(job.target, job.waiters + 2)
    register_s = perf_counter() - start
    thread = await create_thread(job.target, writer)
    poster = await open_mcp_poster(job.target, writer, thread)
    seq = await wake_once(job.target, first, thread.id, await poster.post("warm-up"))

    before = server.memory_info().rss
    members = list(zip(others, await open_sessions(job.target, others), strict=True))
    result = WaitersResult(0, 0, [], 0, register_s)
    for n in range(job.wakes):
        waits = [asyncio.create_task(wake_time(session, agent, thread.id, seq)) for agent, session in members]
        await settle(server)
        if n == 0:
            result.idle_cpu_percent = await measure_cpu(server, job.idle_s)
            result.kb_each = (server.memory_info().rss - before) / 1024 / job.waiters
        await poster.prepare()
        start = perf_counter()
        seq = await poster.post(f"wake up {n}")
        woken = await asyncio.wait_for(asyncio.gather(*waits, return_exceptions=True), SETTLE_LIMIT_S)
        result.errors += sum(isinstance(end, BaseException) for end in woken)
        result.last_woken_s.append(max(end - start for end in woken if not isinstance(end, BaseException)))
    return result


async def wake_time(session: McpSession, agent: Agent, thread_id: str, seq: int) -> float:
    await wait_for_messages(session, agent, thread_id, seq, WAIT_MS)
    return perf_counter()


async def wake_once(target: Target, agent: Agent, thread_id: str, seq: int) -> int:
    """One wait before the memory is read, so that what is loaded on first use is not counted."""
    session = await open_session(target, agent)
    last_seq, _ = await wait_for_messages(session, agent, thread_id, seq - 1)
    session.close()
    return last_seq


async def open_sessions(target: Target, agents: list[Agent]) -> list[McpSession]:
    sessions: list[McpSession] = []
    for start in range(0, len(agents), 16):
        group = agents[start : start + 16]
        sessions += await asyncio.gather(*(open_session(target, agent) for agent in group))
    return sessions


async def settle(server: psutil.Process) -> None:
    """Wait until the server is done with taking in the waits: its load stays the same for two seconds."""
    last = await measure_cpu(server, 1)
    for _ in range(SETTLE_LIMIT_S):
        now = await measure_cpu(server, 1)
        if now < 60 and abs(now - last) <= 5:
            return
        last = now
    raise WireError(f"the server is still busy {SETTLE_LIMIT_S} s after the last msg_wait was sent")


async def measure_cpu(server: psutil.Process, window_s: float) -> float:
    """Percent of one core."""
    used, start = cpu_s(server), perf_counter()
    await asyncio.sleep(window_s)
    return (cpu_s(server) - used) / (perf_counter() - start) * 100


def allow_files(count: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        raise WireError(f"{count} open files are needed, the limit is {hard} (ulimit -n)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))
