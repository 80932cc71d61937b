"""Many agents in one thread under strict sync: each waits for a context and posts with it, and obeys the errors."""

import asyncio
from bisect import bisect_left, bisect_right
from time import perf_counter
from typing import Any

import msgspec

from bench.buses import (
    Agent,
    Context,
    Loss,
    Target,
    Thread,
    compare,
    create_thread,
    open_session,
    read_thread,
    register_agents,
)
from bench.mcp_wire import McpSession
from bench.posters import open_mcp_poster
from bench.wire import WireError

WAIT_MS = 2000
OBEYED = ("READ_MESSAGES_THEN_CALL_MSG_WAIT", "CALL_MSG_WAIT")


class CyclesJob(msgspec.Struct, tag="cycles"):
    target: Target
    agents: int
    duration_s: float


class CyclesResult(msgspec.Struct):
    """A cycle is an accepted post that really came right after what its author had read; the rest are broken."""

    cycles: int
    broken: int
    per_s: float
    sync_refusals: int
    errors: int
    first_error: str
    loss: Loss


class Talk:
    """The thread all of them post in, and what happened so far."""

    def __init__(self, thread: Thread) -> None:
        self.thread = thread
        self.acked: dict[str, tuple[int, int]] = {}  # content: seq that was expected, seq that was given
        self.sync_refusals = 0
        self.errors = 0
        self.first_error = ""

    async def take_part(self, agent: Agent, session: McpSession, until: float) -> None:
        seen, n = 0, 0
        while perf_counter() < until:
            n += 1
            try:
                seen, context = await self.wait(agent, session, seen)
                seen = await self.post(agent, session, context, f"{agent.id} {n}") or seen
            except WireError as error:
                self.errors += 1
                self.first_error = self.first_error or str(error)

    async def wait(self, agent: Agent, session: McpSession, seen: int) -> tuple[int, Context]:
        """One msg_wait; with or without messages it brings a context."""
        said = await call(
            session,
            "msg_wait",
            {
                "thread_id": self.thread.id,
                "after_seq": seen,
                "timeout_ms": WAIT_MS,
                "return_format": "json",
                "agent_id": agent.id,
                "token": agent.token,
            },
        )
        if "error" in said:
            raise WireError(f"msg_wait: {said}")
        if said["messages"]:
            seen = max(seen, said["messages"][-1]["seq"])
        return seen, Context(said["current_seq"], said["reply_token"])

    async def post(self, agent: Agent, session: McpSession, context: Context, content: str) -> int | None:
        """The seq of the new message, the last one read from a sync refusal, or None."""
        said = await call(
            session,
            "msg_post",
            {
                "thread_id": self.thread.id,
                "author": agent.id,
                "content": content,
                "expected_last_seq": context.seq,
                "reply_token": context.reply_token,
            },
        )
        if said.get("action") in OBEYED:
            self.sync_refusals += 1
            unread = said.get("new_messages_1st_read") or []
            return max((message["seq"] for message in unread), default=None)
        if "error" in said:
            raise WireError(f"msg_post: {said}")
        seq: int = said["seq"]
        self.acked[content] = (context.seq, seq)
        return seq


async def call(session: McpSession, tool: str, arguments: dict[str, Any]) -> Any:
    answer = await session.call(tool, arguments)
    if answer.failed:
        raise WireError(f"{tool}: {answer.value}")
    return answer.value


async def run_cycles(job: CyclesJob) -> CyclesResult:
    opener, *agents = await register_agents(job.target, job.agents + 1)
    thread = await create_thread(job.target, opener)
    sessions = [await open_session(job.target, agent) for agent in agents]
    talk = Talk(thread)
    poster = await open_mcp_poster(job.target, opener, thread)
    await poster.post("begin")
    start = perf_counter()
    until = start + job.duration_s
    both = zip(agents, sessions, strict=True)
    await asyncio.gather(*(talk.take_part(agent, session, until) for agent, session in both))
    elapsed_s = perf_counter() - start
    stored = await read_thread(job.target, opener, thread.id)
    broken = count_broken(talk, [message.seq for message in stored])
    cycles = len(talk.acked) - broken
    return CyclesResult(
        cycles=cycles,
        broken=broken,
        per_s=cycles / elapsed_s,
        sync_refusals=talk.sync_refusals,
        errors=talk.errors,
        first_error=talk.first_error,
        loss=compare(stored, talk.acked),
    )


def count_broken(talk: Talk, seqs: list[int]) -> int:
    """Posts before which another message had slipped in, or that share their seq with another one."""
    ordered = sorted(seqs)
    return sum(
        1
        for expected, given in talk.acked.values()
        if bisect_left(ordered, given) != bisect_right(ordered, expected)
        or bisect_right(ordered, given) != bisect_left(ordered, given) + 1
    )
