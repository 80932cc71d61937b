"""The names that an expression of a workflow may use, by its place."""

from typing import Literal

from greenroom.rules.workflows.definition import Step

Place = Literal["when", "inputs", "work", "result"]
EVERYWHERE = frozenset(("inputs", "vars", "steps", "run"))
RUN_FACTS = frozenset(("id", "workflow", "started_at", "by"))
STEP_FACTS = frozenset(("status", "output", "error", "attempts"))
ROUND_FACTS = frozenset(("index", "last"))


def find_names(step: Step, place: Place) -> frozenset[str]:
    """The first names for one place of a step.

    when: conditions and the items of a fan-out · inputs: the step's own inputs · work: its prompt and all that says
    what is to be done · result: what is made of what came out.
    """
    if place == "when":
        return EVERYWHERE
    names = set(EVERYWHERE)
    if step.for_each is not None:
        names |= {step.for_each.name, "index"}
    if step.loop is not None:
        names.add("round")
    if place in ("work", "result"):
        names.add("input")
    if place == "result":
        names.add("output")
    return frozenset(names)
