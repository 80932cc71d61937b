"""Places the steps of a workflow on layers, so that edges point down, rarely cross, and go around boxes."""

import bisect
import itertools
from collections.abc import Iterable
from dataclasses import dataclass

BOX_WIDTH = 232.0
BOX_HEIGHT = 58.0
GAP = 36.0
LANE = 16.0
LAYER = 118.0
SWEEPS = 24
MAX_LANES = 5_000
"""With more, arrows have no places on the layers that they pass: they are drawn straight, and order nothing."""
Vertex = str | tuple[int, int]
"""A step by its id; or the place of an arrow, by its number, on a layer that it passes through."""

Ties = dict[Vertex, list[Vertex]]


@dataclass(frozen=True)
class Layout:
    """Where everything is: the middle of each box, the points of each arrow, and the size of the whole."""

    places: dict[str, tuple[float, float]]
    arrows: list[list[tuple[float, float]]]
    width: float
    height: float


def lay_out(layers: list[list[str]], arrows: list[tuple[str, str]]) -> Layout:
    """A layout for steps on layers, and arrows from upper to lower ones."""
    level = {step: at for at, layer in enumerate(layers) for step in layer}
    rows: list[list[Vertex]] = [list(layer) for layer in layers]
    chains: list[list[Vertex]] = []
    lanes = sum(level[target] - level[source] - 1 for source, target in arrows)
    for number, (source, target) in enumerate(arrows):
        between: list[Vertex] = []
        if lanes <= MAX_LANES:
            between = [(number, at) for at in range(level[source] + 1, level[target])]
            for vertex in between:
                rows[vertex[1]].append(vertex)  # type: ignore[index]
        chains.append([source, *between, target])
    above: Ties = {vertex: [] for row in rows for vertex in row}
    below: Ties = {vertex: [] for row in rows for vertex in row}
    for chain in chains:
        for upper, lower in itertools.pairwise(chain):
            above[lower].append(upper)
            below[upper].append(lower)
    _order_rows(rows, above, below)
    across = _place_vertices(rows, above, below)
    least = min((x - _get_width(vertex) / 2 for vertex, x in across.items()), default=0.0)
    most = max((x + _get_width(vertex) / 2 for vertex, x in across.items()), default=0.0)

    def point(vertex: Vertex) -> tuple[float, float]:
        row = level[vertex] if isinstance(vertex, str) else vertex[1]
        return across[vertex] - least + GAP, row * LAYER + GAP + BOX_HEIGHT / 2

    places = {step: point(step) for step in level}
    lines = [[point(vertex) for vertex in chain] for chain in chains]
    height = max(0, len(layers) - 1) * LAYER + BOX_HEIGHT + 2 * GAP
    return Layout(places, lines, most - least + 2 * GAP, height)


def _get_width(vertex: Vertex) -> float:
    return BOX_WIDTH if isinstance(vertex, str) else LANE


def _order_rows(rows: list[list[Vertex]], above: Ties, below: Ties) -> None:
    """Put neighbours of neighbours next to each other, and keep the order in which the fewest arrows cross."""
    best, fewest = [list(row) for row in rows], _count_crossings(rows, below)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        ties = above if down else below
        for at in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            place = {vertex: float(x) for x, vertex in enumerate(rows[at - 1 if down else at + 1])}
            near = {v: [place[one] for one in ties[v] if one in place] for v in rows[at]}
            wished = {v: _mean(near[v], float(x)) for x, v in enumerate(rows[at])}
            rows[at].sort(key=wished.__getitem__)
        found = _count_crossings(rows, below)
        if found < fewest:
            best, fewest = [list(row) for row in rows], found
    rows[:] = best


def _count_crossings(rows: list[list[Vertex]], below: Ties) -> int:
    """How often arrows between neighbouring layers cross."""
    count = 0
    for row, following in itertools.pairwise(rows):
        place = {vertex: at for at, vertex in enumerate(following)}
        passed: list[int] = []
        for vertex in row:
            ends = sorted(place[one] for one in below[vertex] if one in place)
            count += sum(len(passed) - bisect.bisect_right(passed, end) for end in ends)
            for end in ends:
                bisect.insort(passed, end)
    return count


def _place_vertices(rows: list[list[Vertex]], above: Ties, below: Ties) -> dict[Vertex, float]:
    """How far to the right each vertex is: as near to its neighbours as the order and the gaps allow."""
    both = {vertex: above[vertex] + below[vertex] for vertex in above}
    across: dict[Vertex, float] = {}
    for row in rows:
        across |= zip(row, _spread([0.0] * len(row), row), strict=True)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        ties = both if sweep >= SWEEPS // 2 else above if down else below
        for row in rows if down else reversed(rows):
            wished = [_mean((across[one] for one in ties[vertex]), across[vertex]) for vertex in row]
            across |= zip(row, _spread(wished, row), strict=True)
    return across


def _spread(wished: list[float], row: list[Vertex]) -> list[float]:
    """The places nearest to the desired ones that keep the order and the gaps (isotonic regression)."""
    offsets = [0.0]
    for left, right in itertools.pairwise(row):
        offsets.append(offsets[-1] + (_get_width(left) + _get_width(right)) / 2 + GAP)
    blocks: list[tuple[float, int]] = []
    for wish, offset in zip(wished, offsets, strict=False):
        value, count = wish - offset, 1
        while blocks and blocks[-1][0] > value:
            other, size = blocks.pop()
            value, count = (other * size + value * count) / (size + count), size + count
        blocks.append((value, count))
    spread = [value for value, count in blocks for _ in range(count)]
    return [value + offset for value, offset in zip(spread, offsets, strict=False)]


def _mean(values: Iterable[float], otherwise: float) -> float:
    found = list(values)
    return sum(found) / len(found) if found else otherwise
