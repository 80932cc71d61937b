"""Metrics of the hub, as JSON and as text for Prometheus."""

import itertools
import os
import time
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.clock import format_iso
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest.wire import Number, build_json_response, read_query
from greenroom.ids import id_before
from greenroom.link.loop_watch import LoopNumbers
from greenroom.log.model import Commit, Rows
from greenroom.log.store_sqlite import SCHEMA
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.agents.stored_bytes import NearLimit, find_near_limit
from greenroom.rules.asks.model import ASKS
from greenroom.rules.policy.budgets import format_day
from greenroom.rules.policy.model import DAY_COSTS, DayCost
from greenroom.rules.runs.model import LIVE, RUNS, LiveStatus
from greenroom.rules.runs.queries import count_waiting_for_people
from greenroom.rules.threads.events import MessagePosted
from greenroom.rules.threads.model import ALL_STATES, MESSAGES, STOP_REASONS, THREADS
from greenroom.services.hub import Hub

_MINUTES = (1, 5, 15)


class ThreadNumbers(msgspec.Struct):
    total: int
    by_status: dict[str, int]


class MessageNumbers(msgspec.Struct):
    """`rate` is of the last minutes and `stop_reasons` since the start; how fast people talk is not measured."""

    total: int
    rate: dict[str, int]
    stop_reasons: dict[str, int]
    avg_latency_ms: float | None = None


class AgentNumbers(msgspec.Struct):
    total: int
    online: int


class WorkNumbers(msgspec.Struct):
    """Active runs by status, open asks, and what runs have used on this day (UTC)."""

    runs: dict[LiveStatus, int]
    active_runs: int
    runs_waiting_for_people: int
    open_asks: int
    usd_today: float
    tokens_today: int


class Metrics(msgspec.Struct):
    status: Literal["ok"]
    uptime_seconds: float
    started_at: str
    threads: ThreadNumbers
    messages: MessageNumbers
    agents: AgentNumbers
    work: WorkNumbers
    schema_version: int
    seq: int
    commits: int
    events: int
    queue: int
    waiters: int
    memory_bytes: int | None
    reactor_errors: int
    loop: LoopNumbers
    limited: dict[str, int]
    """How often each limit for valid credentials was reached since the start, by the name of its setting."""
    near_limit: list[NearLimit]
    """Agents, rooms and nodes that have stored four fifths of what they may store in all."""


class CountQuery(msgspec.Struct):
    since: Number
    step_ms: Annotated[int, msgspec.Meta(ge=60_000, le=366 * 86_400_000)] = 3_600_000
    times: Annotated[int, msgspec.Meta(ge=1, le=100)] = 24


class MessageCounts(msgspec.Struct):
    """How many messages were posted in each of equal spans of time, from `since` on."""

    since: int
    step_ms: int
    counts: list[int]


class MetricsCollector:
    """Counts what goes by, from the start of the hub."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._started_at = hub.log.clock.now()
        self._commits = self._events = 0
        self._stop_reasons = Counter(dict.fromkeys(STOP_REASONS, 0))
        self._posted: deque[tuple[int, int]] = deque()
        hub.log.subscribe(self._on_commit)

    def _on_commit(self, commit: Commit) -> None:
        self._commits += 1
        self._events += len(commit.records)
        posted = [r.event for r in commit.records if type(r.event) is MessagePosted]
        if not posted:
            return
        self._stop_reasons.update(event.stop_reason for event in posted if event.stop_reason)
        second = int(time.monotonic())
        count = len(posted)
        if self._posted and self._posted[-1][0] == second:
            count += self._posted.pop()[1]
        self._posted.append((second, count))
        while self._posted[0][0] < second - 60 * _MINUTES[-1]:
            self._posted.popleft()

    async def read_metrics(self) -> Metrics:
        hub, now = self._hub, time.monotonic()
        messages, by_status, agents = await hub.store.read(_count_rows)
        work = await hub.store.read(lambda rows: _count_work(rows, hub.log.clock.now()))
        rate = {f"last_{m}m": sum(count for at, count in self._posted if at > now - 60 * m) for m in _MINUTES}
        return Metrics(
            status="ok",
            uptime_seconds=round(now - hub.started, 1),
            started_at=format_iso(self._started_at),
            threads=ThreadNumbers(sum(by_status.values()), by_status),
            messages=MessageNumbers(messages, rate, dict(self._stop_reasons)),
            agents=AgentNumbers(agents, len(hub.presence.find_online())),
            work=work,
            schema_version=SCHEMA,
            seq=hub.store.head(),
            commits=self._commits,
            events=self._events,
            queue=hub.log.backlog,
            waiters=hub.bus.waiters.count(),
            memory_bytes=_get_memory_bytes(),
            reactor_errors=len(hub.reactor_errors),
            loop=hub.loop_watch.numbers,
            limited=dict(hub.limited),
            near_limit=await hub.store.read(lambda rows: find_near_limit(rows, hub.settings)),
        )


def _count_rows(rows: Rows) -> tuple[int, dict[str, int], int]:
    listed = {state: rows.count(THREADS, {"status": state, "mailbox_of": None}) for state in ALL_STATES}
    agents = rows.count(AGENTS, {"state": "registered"})
    return rows.count(MESSAGES), {state: count for state, count in listed.items() if count}, agents


def _count_work(rows: Rows, now: int) -> WorkNumbers:
    runs = {status: rows.count(RUNS, {"status": status}) for status in LIVE}
    today = rows.get(DAY_COSTS, format_day(now)) or DayCost(day=format_day(now), usd=0.0)
    open_asks = rows.count(ASKS, {"state": "open"})
    return WorkNumbers(runs, sum(runs.values()), count_waiting_for_people(rows), open_asks, today.usd, today.tokens)


def _count_messages(rows: Rows, wanted: CountQuery) -> list[int]:
    """Messages are counted by their ids, which begin with their time."""
    edges = [id_before("msg", wanted.since + n * wanted.step_ms) for n in range(wanted.times + 1)]
    return [
        rows.count(MESSAGES, after=("_key", first), before=("_key", last)) for first, last in itertools.pairwise(edges)
    ]


def _get_memory_bytes() -> int | None:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _format_prometheus(numbers: Metrics) -> str:
    """The exposition format of Prometheus."""
    return "".join(f"# TYPE greenroom_{name} {kind}\n{lines}" for name, kind, lines in _iterate_series(numbers))


def _iterate_series(numbers: Metrics) -> Iterator[tuple[str, str, str]]:
    def plain(name: str, kind: Literal["gauge", "counter"], value: float) -> tuple[str, str, str]:
        return name, kind, f"greenroom_{name} {value}\n"

    yield plain("uptime_seconds", "gauge", numbers.uptime_seconds)
    states = [f'greenroom_threads{{status="{s}"}} {n}\n' for s, n in numbers.threads.by_status.items()]
    yield "threads", "gauge", "".join(states)
    yield plain("messages", "gauge", numbers.messages.total)
    reasons = [f'greenroom_stops_total{{reason="{r}"}} {n}\n' for r, n in numbers.messages.stop_reasons.items()]
    yield "stops_total", "counter", "".join(reasons)
    yield plain("agents", "gauge", numbers.agents.total)
    yield plain("agents_online", "gauge", numbers.agents.online)
    yield "runs", "gauge", "".join(f'greenroom_runs{{status="{s}"}} {n}\n' for s, n in numbers.work.runs.items())
    yield plain("runs_waiting_for_people", "gauge", numbers.work.runs_waiting_for_people)
    yield plain("open_asks", "gauge", numbers.work.open_asks)
    yield plain("usd_today", "gauge", numbers.work.usd_today)
    yield plain("tokens_today", "gauge", numbers.work.tokens_today)
    yield plain("seq", "counter", numbers.seq)
    yield plain("commits_total", "counter", numbers.commits)
    yield plain("events_total", "counter", numbers.events)
    yield plain("queue", "gauge", numbers.queue)
    yield plain("waiters", "gauge", numbers.waiters)
    yield plain("reactor_errors_total", "counter", numbers.reactor_errors)
    pauses = msgspec.structs.asdict(numbers.loop)
    yield plain("loop_longest_busy_ms", "gauge", pauses.pop("longest_busy_ms"))
    yield (
        "loop_pauses_total",
        "counter",
        "".join(f'greenroom_loop_pauses_total{{kind="{k}"}} {n}\n' for k, n in pauses.items()),
    )
    limits = [f'greenroom_limited_total{{limit="{name}"}} {count}\n' for name, count in numbers.limited.items()]
    yield "limited_total", "counter", "".join(limits)
    stored = [f'greenroom_stored_bytes{{id="{one.id}"}} {one.bytes}\n' for one in numbers.near_limit]
    yield "stored_bytes", "gauge", "".join(stored)
    if numbers.memory_bytes is not None:
        yield plain("memory_bytes", "gauge", numbers.memory_bytes)


def endpoints(hub: Hub) -> list[Endpoint]:
    """The numbers of one hub."""
    meter = MetricsCollector(hub)

    async def show(hub: Hub, by: Principal, request: Request) -> Response:
        numbers = await meter.read_metrics()
        accepted = request.headers.get("accept", "")
        if "text/plain" in accepted or "openmetrics" in accepted:
            return Response(_format_prometheus(numbers), media_type="text/plain; version=0.0.4; charset=utf-8")
        return build_json_response(numbers)

    async def count_messages(hub: Hub, by: Principal, request: Request) -> Response:
        wanted = read_query(request, CountQuery)
        counts = await hub.store.read(lambda rows: _count_messages(rows, wanted))
        return build_json_response(MessageCounts(wanted.since, wanted.step_ms, counts))

    return [
        Endpoint("GET", "/api/metrics", "all", show, "Metrics of the hub", answer=Metrics),
        Endpoint(
            "GET",
            "/api/metrics/messages",
            "all",
            count_messages,
            "How many messages were posted, by time",
            query=CountQuery,
            answer=MessageCounts,
        ),
    ]
