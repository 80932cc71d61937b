"""A slow and simple reading of what a definition means: after each end it looks through the whole graph again."""

from collections.abc import Callable
from typing import Any

from greenroom.rules.workflows.definition import Step, WorkflowDefinition

Outcome = tuple[bool, Any]
NEVER = ("false", "inputs.nothing == 1")
"""The conditions of these workflows that do not hold."""
OVER = ("completed", "failed", "skipped", "cancelled")


class Oracle:
    """Plays steps with agents; `script(key, attempt)` says how each attempt ends, `rank` which is first."""

    def __init__(
        self, definition: WorkflowDefinition, script: Callable[[str, int], Outcome], rank: Callable[[str], Any]
    ) -> None:
        self.definition = definition
        self.steps = {step.id: step for step in definition.steps}
        self.script = script
        self.rank = rank
        self.status = dict.fromkeys(self.steps, "pending")
        self.debt: set[str] = set()
        self.output: dict[str, Any] = {}
        self.attempts: dict[str, int] = {}
        self.tries: dict[str, int] = {}
        self.fans: dict[str, dict[str, str]] = {}
        self.result = ""

    def sources(self, step: Step) -> dict[str, str]:
        """The steps before one, and whether they lead to it by success or by failure."""
        by_error = {one.id: "error" for one in self.definition.steps if one.route == step.id}
        return {**by_error, **dict.fromkeys(step.dependencies, "success")}

    def play(self) -> "Oracle":
        while not self.result:
            while self.look():
                pass
            if self.result:
                break
            keys = self.at_work()
            if not keys:
                self.result = self.verdict()
                break
            self.end(min(keys, key=self.rank))
        return self

    def at_work(self) -> list[str]:
        plain = [one for one, status in self.status.items() if status == "running" and one not in self.fans]
        fans = [(fan, states) for fan, states in self.fans.items() if self.status[fan] == "running"]
        return plain + [f"{fan}[{n}]" for fan, states in fans for n in states if states[n] == "running"]

    def look(self) -> bool:
        """Begin or skip one step that can be; false when there is none."""
        for step in self.definition.steps:
            before = self.sources(step)
            if self.status[step.id] != "pending" or any(self.status[one] not in OVER for one in before):
                continue
            taken = [self.is_taken(source, kind) for source, kind in before.items()]
            if (taken and not (any(taken) if step.join == "any" else all(taken))) or step.when in NEVER:
                self.status[step.id] = "skipped"
            else:
                self.begin(step)
            return True
        return False

    def is_taken(self, source: str, kind: str) -> bool:
        if kind == "error":
            return self.status[source] == "failed" and source not in self.debt
        return self.status[source] == "completed" or source in self.debt

    def begin(self, step: Step) -> None:
        self.status[step.id] = "running"
        if step.for_each is None:
            self.attempts[step.id] = 1
            self.tries[step.id] = 1
            return
        count = len(step.for_each.items)
        self.fans[step.id] = {str(n): "pending" for n in range(count)}
        self.fill(step)
        self.close_fan(step)

    def fill(self, step: Step) -> None:
        assert step.for_each is not None
        states = self.fans[step.id]
        for n in states:
            running = sum(status == "running" for status in states.values())
            if states[n] == "pending" and running < step.for_each.parallel:
                states[n] = "running"
                self.attempts[f"{step.id}[{n}]"] = self.tries[f"{step.id}[{n}]"] = 1

    def end(self, key: str) -> None:
        step = self.steps[key.partition("[")[0]]
        ok, what = self.script(key, self.attempts[key])
        if not ok and self.tries[key] <= step.retry.max:
            self.attempts[key] += 1
            self.tries[key] += 1
            return
        if "[" in key:
            states = self.fans[step.id]
            states[key.partition("[")[2][:-1]] = "completed" if ok else "failed"
            if ok:
                self.output[key] = what
            self.fill(step)
            self.close_fan(step)
        elif ok:
            self.complete(step.id, what)
        else:
            self.fail(step)

    def close_fan(self, step: Step) -> None:
        assert step.for_each is not None
        states, join = self.fans[step.id], step.for_each.join
        decided = (join == "any" and "completed" in states.values()) or (join == "all" and "failed" in states.values())
        if not decided and any(status not in OVER for status in states.values()):
            return
        for n in states:
            if states[n] not in OVER:
                states[n] = "cancelled"
        done = [n for n in states if states[n] == "completed"]
        bad = (join == "all" and "failed" in states.values()) or (join == "any" and not done and states)
        if bad:
            self.fail(step)
            return
        outputs = [self.output.get(f"{step.id}[{n}]") for n in (done if join == "any" else states)]
        self.complete(step.id, outputs)

    def complete(self, step_id: str, output: Any) -> None:
        self.status[step_id] = "completed"
        self.output[step_id] = output
        if self.definition.policy == "first_success" and self.is_last(step_id):
            self.stop("completed")

    def is_last(self, step_id: str) -> bool:
        routes = {step.route for step in self.definition.steps}
        after = {one.id for one in self.definition.steps if step_id in self.sources(one)}
        return not after - routes

    def fail(self, step: Step) -> None:
        self.status[step.id] = "failed"
        if step.route is not None:
            return
        if step.on_error == "skip":
            self.status[step.id] = "skipped"
        elif step.on_error == "ignore" or self.definition.policy == "allow_debt":
            self.debt.add(step.id)
        elif self.definition.policy != "first_success":
            self.stop("failed")

    def stop(self, result: str) -> None:
        self.result = result
        for step_id, status in self.status.items():
            if status == "running":
                self.status[step_id] = "cancelled"

    def verdict(self) -> str:
        last = [self.status[step_id] for step_id in self.steps if self.is_last(step_id)]
        return "failed" if self.definition.policy == "first_success" and "completed" not in last else "completed"
