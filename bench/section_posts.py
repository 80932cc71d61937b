"""Durable posts over both doors, against the peer, the raw limit and the SDK's own no-op."""

from typing import Literal

from bench.job_posts import PostsJob, PostsResult
from bench.report import Goal, Row, compare_rates, compare_speed, count_faults, divide
from bench.run import Bench

Door = Literal["rest", "mcp"]
Results = dict[tuple[Door, str, int], list[PostsResult]]

CLIENTS = (1, 8, 64)
LIMITS: dict[Door, str] = {"rest": "raw", "mcp": "noop"}
LIMIT_NAMES: dict[Door, str] = {"rest": "raw limit", "mcp": "SDK no-op"}
PEER_GOALS: dict[tuple[Door, int], Goal] = {("mcp", 64): Goal(at_least=10)}
LIMIT_GOALS: dict[tuple[Door, int], Goal] = {("rest", 64): Goal(at_least=0.5), ("mcp", 64): Goal(at_least=0.6)}


def measure_posts(bench: Bench) -> list[Row]:
    """The servers take turns, so that a noisy moment of the machine does not fall on one of them alone."""
    results: Results = {}
    with bench.servers("greenroom", "peer", "raw", "noop") as up:
        for round_number in range(1, bench.scale.rounds + 1):
            for door in LIMITS:
                for clients in CLIENTS:
                    for name in ("greenroom", "peer", LIMITS[door]):
                        if name not in up:
                            continue
                        job = PostsJob(up[name].target, door, clients, bench.scale.post_s)
                        label = f"posts over {door.upper()}, {clients} clients, {name}, round {round_number}"
                        found = bench.measure(label, job, PostsResult)
                        results.setdefault((door, name, clients), []).append(found)
    return [row for door in LIMITS for clients in CLIENTS for row in compare_door(results, door, clients)] + [
        count_all_faults(results, bench.with_peer, kind) for kind in ("errors", "lost", "doubled")
    ]


def compare_door(results: Results, door: Door, clients: int) -> list[Row]:
    ours = best(results[door, "greenroom", clients])
    what = f"posts over {door.upper()}, {clients} client{'s' * (clients > 1)}"
    limit = best(results[door, LIMITS[door], clients])
    goal = LIMIT_GOALS.get((door, clients))
    rows = [compare_rates(what, ours.per_s, LIMIT_NAMES[door], limit.per_s, goal)]
    if (door, "peer", clients) in results:
        peer = best(results[door, "peer", clients])
        rows += [
            compare_rates(what, ours.per_s, "peer", peer.per_s, PEER_GOALS.get((door, clients))),
            compare_speed(f"{what}, p50", ours.times.p50_ms, "peer", peer.times.p50_ms),
            compare_speed(f"{what}, p99", ours.times.p99_ms, "peer", peer.times.p99_ms),
        ]
    if clients == max(CLIENTS):
        rows.append(compare_cost(f"{what}, processor time each", ours, LIMIT_NAMES[door], limit))
    return rows


def compare_cost(what: str, ours: PostsResult, against: str, other: PostsResult) -> Row:
    """Processor time of the server alone: what neighbours on the machine change least."""
    ratio = divide(ours.cpu_us_each, other.cpu_us_each)
    return Row(what, f"{ours.cpu_us_each:.0f} us", against, f"{other.cpu_us_each:.0f} us", ratio)


def best(results: list[PostsResult]) -> PostsResult:
    """Neighbours on the machine only ever make a round slower."""
    return max(results, key=lambda result: result.per_s)


def count_all_faults(results: Results, with_peer: bool, kind: str) -> Row:
    def count(name: str) -> tuple[int, int]:
        rounds = [r for (_, who, _), found in results.items() if who == name for r in found]
        faults = {
            "errors": sum(r.errors for r in rounds),
            "lost": sum(r.loss.lost for r in rounds),
            "doubled": sum(r.loss.doubled for r in rounds),
        }
        return faults[kind], sum(r.acked for r in rounds)

    ours, posted = count("greenroom")
    row = count_faults(f"posts: {kind}", ours, None)
    row.greenroom = f"{ours} of {posted:,}"
    if with_peer:
        row.against = "peer"
        row.other = "{} of {:,}".format(*count("peer"))
    return row
