"""What a long history costs: reads and posts on a hub that holds little and on one that holds much, turn by turn."""

import asyncio
from time import perf_counter

import msgspec

from bench.buses import (
    Agent,
    Loss,
    Rest,
    Target,
    Thread,
    count_losses,
    create_thread,
    headers_of,
    register_agents,
)
from bench.posters import RestPoster
from bench.stats import Times, summarise
from bench.wire import WireError

WRITERS = 64
TAIL = 50


class HistoryJob(msgspec.Struct, tag="history"):
    """Two hubs rather than two threads of one: what grows with all that a hub holds must show too."""

    short: Target
    long: Target
    short_length: int
    long_length: int
    samples: int


class HistoryResult(msgspec.Struct):
    fill_per_s: float
    read_short: Times
    read_long: Times
    post_short: Times
    post_long: Times
    loss: Loss


class Subject(msgspec.Struct):
    """A hub, its thread, and one client that reads and posts in it."""

    reader: Agent
    thread: Thread
    acked: dict[str, int]
    tail_seq: int
    rest: Rest
    poster: RestPoster
    fill_s: float
    reads: list[float] = []
    posts: list[float] = []

    async def read_tail(self) -> None:
        path = f"/api/threads/{self.thread.id}/messages?after_seq={self.tail_seq}&limit={TAIL}"
        start = perf_counter()
        found = await self.rest.need("GET", path)
        self.reads.append(perf_counter() - start)
        if len(found) != TAIL:
            raise WireError(f"the tail has {len(found)} messages instead of {TAIL}")

    async def post(self, content: str) -> None:
        start = perf_counter()
        await self.poster.post(content)
        self.posts.append(perf_counter() - start)


async def run_history(job: HistoryJob) -> HistoryResult:
    short = await make_subject(job.short, job.short_length)
    long = await make_subject(job.long, job.long_length)
    for _ in range(job.samples):
        await short.read_tail()
        await long.read_tail()
    for n in range(job.samples):
        await short.post(f"one more {n}")
        await long.post(f"one more {n}")
    return HistoryResult(
        fill_per_s=job.long_length / long.fill_s,
        read_short=summarise(short.reads),
        read_long=summarise(long.reads),
        post_short=summarise(short.posts),
        post_long=summarise(long.posts),
        loss=await count_losses(job.long, long.reader, [long.thread.id], long.acked),
    )


async def make_subject(target: Target, length: int) -> Subject:
    agents = await register_agents(target, WRITERS)
    reader = agents[0]
    thread = await create_thread(target, reader)
    start = perf_counter()
    acked = await fill(target, agents, thread, length)
    fill_s = perf_counter() - start
    return Subject(
        reader=reader,
        thread=thread,
        acked=acked,
        tail_seq=sorted(acked.values())[-TAIL - 1],
        rest=Rest(target, headers_of(target, reader)),
        poster=RestPoster(target, reader, thread),
        fill_s=fill_s,
    )


async def fill(target: Target, agents: list[Agent], thread: Thread, wanted: int) -> dict[str, int]:
    """Post `wanted` messages from many clients; returns content and seq of each."""
    numbers = iter(range(wanted))
    acked: dict[str, int] = {}

    async def write(poster: RestPoster) -> None:
        for n in numbers:
            content = f"history {n} " + "x" * 80
            acked[content] = await poster.post(content)

    posters = [RestPoster(target, agent, thread) for agent in agents]
    await asyncio.gather(*(write(poster) for poster in posters))
    for poster in posters:
        poster.close()
    return acked
