"""What a long history costs: reads of the tail of, and posts into, a short and a long thread, turn by turn."""

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
    target: Target
    short: int
    long: int
    samples: int


class HistoryResult(msgspec.Struct):
    fill_per_s: float
    read_short: Times
    read_long: Times
    post_short: Times
    post_long: Times
    loss: Loss


async def run_history(job: HistoryJob) -> HistoryResult:
    agents = await register_agents(job.target, WRITERS)
    short, long = [await create_thread(job.target, agents[0]) for _ in range(2)]
    short_acked = await fill(job.target, agents, short, job.short)
    start = perf_counter()
    long_acked = await fill(job.target, agents, long, job.long)
    fill_s = perf_counter() - start

    rest = Rest(job.target, headers_of(job.target, agents[0]))
    tails = [(short, find_tail(short_acked)), (long, find_tail(long_acked))]
    reads: tuple[list[float], list[float]] = ([], [])
    for _ in range(job.samples):
        for (thread, seq), seconds in zip(tails, reads, strict=True):
            seconds.append(await time_read(rest, thread, seq))
    posters = [RestPoster(job.target, agents[0], thread) for thread in (short, long)]
    posts: tuple[list[float], list[float]] = ([], [])
    for n in range(job.samples):
        for poster, seconds in zip(posters, posts, strict=True):
            begin = perf_counter()
            await poster.post(f"one more {n}")
            seconds.append(perf_counter() - begin)
    return HistoryResult(
        fill_per_s=job.long / fill_s,
        read_short=summarise(reads[0]),
        read_long=summarise(reads[1]),
        post_short=summarise(posts[0]),
        post_long=summarise(posts[1]),
        loss=await count_losses(job.target, agents[0], [long.id], long_acked),
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


def find_tail(acked: dict[str, int]) -> int:
    """The seq after which the last messages of the thread come."""
    return sorted(acked.values())[-TAIL - 1]


async def time_read(rest: Rest, thread: Thread, seq: int) -> float:
    start = perf_counter()
    found = await rest.need("GET", f"/api/threads/{thread.id}/messages?after_seq={seq}&limit={TAIL}")
    seconds = perf_counter() - start
    if len(found) != TAIL:
        raise WireError(f"the tail has {len(found)} messages instead of {TAIL}")
    return seconds
