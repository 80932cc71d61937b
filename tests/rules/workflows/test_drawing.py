"""Pictures of workflows: text that its readers take, and an SVG in which nothing overlaps."""

import itertools
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from greenroom.rules.workflows.definition import Edge, Step, WaitConfig, WorkflowDefinition
from greenroom.rules.workflows.diagram import FORMATS, to_dot, to_mermaid, to_svg
from greenroom.rules.workflows.diagram.layout import BOX_HEIGHT, BOX_WIDTH, lay_out
from greenroom.rules.workflows.graph import Graph

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

HOSTILE = '</text><script>alert("x")</script> "]; end\n--> | `'


def parsed(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(picture)  # noqa: S314 it is our own


def workflow(*steps: Step, edges: list[Edge] | None = None) -> WorkflowDefinition:
    return WorkflowDefinition(name="n", steps=list(steps), edges=edges or [])


def test_all_pictures_show_every_step_and_arrow() -> None:
    definition = workflow(
        Step(id="a", name="First", profile="p", prompt="x", on_error="route:c"),
        Step(id="b", wait=WaitConfig(seconds=3), dependencies=["a"]),
        Step(id="c", set={}),
        edges=[Edge(source="b", target="c", when="inputs.x > 1")],
    )
    assert '"First<br/>p"' in to_mermaid(definition)
    assert "wait 3 s" in to_mermaid(definition)
    assert '"b" -> "c" [style=dashed label="inputs.x > 1"]' in to_dot(definition)
    root = parsed(to_svg(definition))
    assert len(root.findall(".//{*}g")) == 3
    assert len(root.findall(".//{*}path[@marker-end]")) == 3


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_names_cannot_break_out_of_a_picture(form: str) -> None:
    definition = workflow(Step(id="a", name=HOSTILE, profile=HOSTILE, prompt="x", description=HOSTILE))
    picture = FORMATS[form](definition)
    assert "<script>" not in picture or form == "dot"
    if form == "svg":
        assert not parsed(picture).findall(".//{*}script")
    if form == "dot":
        assert picture.count("\n") == 4
    if form == "mermaid":
        assert picture.count("\n") == 2


def test_a_status_is_told_by_a_shape_as_well_as_by_colour() -> None:
    definition = workflow(*(Step(id=one, set={}) for one in "abc"))
    picture = to_svg(definition, {"a": "completed", "b": "failed", "c": "unheard of"})
    marks = [path.get("d") for path in parsed(picture).findall(".//{*}path[@class='mark']")]
    assert len(set(marks)) == 2
    assert "✓" in to_mermaid(definition, {"a": "completed"})


@PATIENT
@given(st.data())
def test_boxes_never_overlap_and_arrows_go_down(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 25))
    steps = []
    for number in range(count):
        before = data.draw(st.lists(st.integers(0, max(0, number - 1)), max_size=3, unique=True)) if number else []
        steps.append(Step(id=f"s{number}", set={}, dependencies=[f"s{one}" for one in before]))
    graph = Graph(workflow(*steps))
    layout = lay_out(graph.build_layers(), [(edge.source, edge.target) for edge in graph.edges])
    places = list(layout.places.values())
    for at, (x, y) in enumerate(places):
        assert BOX_WIDTH / 2 <= x <= layout.width - BOX_WIDTH / 2
        assert BOX_HEIGHT / 2 <= y <= layout.height - BOX_HEIGHT / 2
        assert all(abs(x - other) >= BOX_WIDTH or abs(y - below) >= BOX_HEIGHT for other, below in places[at + 1 :])
    for points in layout.arrows:
        assert all(lower[1] > upper[1] for upper, lower in itertools.pairwise(points))


def test_a_thousand_steps_are_drawn() -> None:
    fan = [Step(id=f"s{number}", set={}, dependencies=["a"]) for number in range(1000)]
    definition = workflow(Step(id="a", set={}), *fan, Step(id="z", set={}, dependencies=[step.id for step in fan]))
    assert to_svg(definition).count("<g ") == 1002
