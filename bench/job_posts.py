"""Durable posts per second: each client posts in a thread of its own, as fast as it is answered."""

import asyncio
from itertools import count
from time import perf_counter
from typing import Literal

import msgspec
import psutil

from bench.buses import Agent, Context, Loss, Rest, Target, Thread, count_losses, create_thread, register_agents
from bench.posters import Poster, RestPoster, open_mcp_poster, open_noop_poster
from bench.stats import Times, cpu_s, summarise
from bench.wire import WireError

# More contexts than the peer can use in the measured time; it takes 60 to 90 a second.
PEER_POSTS_PER_S = 150


class PostsJob(msgspec.Struct, tag="posts"):
    target: Target
    door: Literal["rest", "mcp"]
    clients: int
    duration_s: float


class PostsResult(msgspec.Struct):
    per_s: float
    times: Times
    cpu_us_each: float
    acked: int
    errors: int
    first_error: str
    loss: Loss


class Tally:
    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.acked: list[str] = []
        self.errors = 0
        self.first_error = ""

    async def run(self, poster: Poster, name: str, until: float) -> None:
        for n in count():
            content = f"{name}-{n} " + "x" * 80
            start = perf_counter()
            if start >= until:
                return
            try:
                await poster.post(content)
            except WireError as error:
                self.errors += 1
                self.first_error = self.first_error or str(error)
                continue
            self.seconds.append(perf_counter() - start)
            self.acked.append(content)


async def run_posts(job: PostsJob) -> PostsResult:
    agents: list[Agent] = []
    threads: list[Thread] = []
    if job.target.kind in ("greenroom", "peer"):
        agents = await register_agents(job.target, job.clients)
        threads = [await create_thread(job.target, agent) for agent in agents]
    posters = [await open_poster(job, n, agents, threads) for n in range(job.clients)]
    await warm_up(posters)

    tally = Tally()
    server = psutil.Process(job.target.pid)
    used_s, start = cpu_s(server), perf_counter()
    until = start + job.duration_s
    await asyncio.gather(*(tally.run(poster, str(n), until) for n, poster in enumerate(posters)))
    elapsed_s, used_s = perf_counter() - start, cpu_s(server) - used_s
    for poster in posters:
        poster.close()
    return PostsResult(
        per_s=len(tally.acked) / elapsed_s,
        times=summarise(tally.seconds),
        cpu_us_each=used_s * 1e6 / max(1, len(tally.acked)),
        acked=len(tally.acked),
        errors=tally.errors,
        first_error=tally.first_error,
        loss=await check(job, agents, threads, tally.acked),
    )


async def open_poster(job: PostsJob, n: int, agents: list[Agent], threads: list[Thread]) -> Poster:
    if job.target.kind == "raw":
        return RestPoster(job.target, Agent(f"a{n}", "none"), Thread(f"t{n}", Context(0, "")))
    if job.target.kind == "noop":
        return await open_noop_poster(job.target)
    if job.door == "rest":
        return RestPoster(job.target, agents[n], threads[n])
    poster = await open_mcp_poster(job.target, agents[n], threads[n])
    if job.target.kind == "peer":
        await poster.stock_up(int(PEER_POSTS_PER_S * job.duration_s / job.clients) + 1)
    return poster


async def warm_up(posters: list[Poster]) -> None:
    for n in range(3):
        posts = [poster.post(f"warm-up {n} {who}") for who, poster in enumerate(posters)]
        results = await asyncio.gather(*posts, return_exceptions=True)
        for result in results:
            # The peer refuses some of its posts; that is counted when it is measured, not here.
            if isinstance(result, BaseException) and not isinstance(result, WireError):
                raise result


async def check(job: PostsJob, agents: list[Agent], threads: list[Thread], acked: list[str]) -> Loss:
    if job.target.kind == "noop":
        return Loss(0, 0)
    if job.target.kind == "raw":
        rest = Rest(job.target, {})
        said = await rest.need("GET", "/")
        rest.close()
        return Loss(lost=max(0, len(acked) - said["stored"]), doubled=0)
    return await count_losses(job.target, agents[0], [thread.id for thread in threads], acked)
