"""The graph of a workflow: the order of steps, and the level of each."""

import graphlib

from greenroom.rules.workflows.definition import Edge, WorkflowDefinition


class Graph:
    """Steps in an order in which they can be carried out. Raises graphlib.CycleError when there is none.

    What a failed step is routed to comes after it, like what depends on it. Edges from or to nowhere are left out.
    """

    def __init__(self, definition: WorkflowDefinition) -> None:
        ids = {step.id for step in definition.steps}
        self.edges: list[Edge] = [e for e in definition.all_edges() if e.source in ids and e.target in ids]
        self.routes: list[Edge] = [
            Edge(source=step.id, target=step.route) for step in definition.steps if step.route in ids and step.route
        ]
        self.into: dict[str, list[Edge]] = {step.id: [] for step in definition.steps}
        for edge in self.edges:
            self.into[edge.target].append(edge)
        self.before: dict[str, list[str]] = {step.id: [] for step in definition.steps}
        for edge in [*self.edges, *self.routes]:
            self.before[edge.target].append(edge.source)
        self.order: list[str] = list(graphlib.TopologicalSorter(self.before).static_order())
        self._place = {step: place for place, step in enumerate(self.order)}
        self._above: dict[str, int] = {}
        for step in self.order:
            bits = 0
            for source in self.before[step]:
                bits |= self._above[source] | 1 << self._place[source]
            self._above[step] = bits

    def is_before(self, step: str, other: str) -> bool:
        """Whether the first always comes before the second."""
        return step in self._place and bool(self._above[other] >> self._place[step] & 1)

    def build_layers(self) -> list[list[str]]:
        """The steps by level: each stands one below the lowest of those before it, and in the order of the file."""
        level: dict[str, int] = {}
        for step in self.order:
            level[step] = max((level[source] + 1 for source in self.before[step]), default=0)
        out: list[list[str]] = [[] for _ in range(max(level.values(), default=-1) + 1)]
        for step in self.before:
            out[level[step]].append(step)
        return out
