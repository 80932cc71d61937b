"""The published schema takes what the loader takes, and refuses what it can of what the loader refuses."""

import json
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from greenroom.rules.workflows import definition as d
from greenroom.rules.workflows.checks.definition_check import KnownNames, check_definition
from greenroom.rules.workflows.checks.problems import BadWorkflow
from greenroom.rules.workflows.parser.loader import parse_text, read_plain
from greenroom.rules.workflows.parser.marked_values import read_marked, unmark
from greenroom.rules.workflows.schema import build_schema, read_key_descriptions
from greenroom.testing.hub_process import HubProcess
from tests import ROOT

FILES = [
    *sorted((ROOT / "examples" / "workflows").glob("*.yaml")),
    *sorted((Path(__file__).parent / "forms").iterdir()),
]
CHECKER = jsonschema.Draft202012Validator(build_schema())


def written(text: str) -> Any:
    return unmark(read_marked(text), {})


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_schema_takes_every_example_and_form(file: Path) -> None:
    found = [f"{error.json_path}: {error.message}" for error in CHECKER.iter_errors(written(file.read_text()))]
    assert not found
    parse_text(file.read_text())


STEP = "name: n\nsteps:\n  - {id: a, profile: p, prompt: x, %s}\n"


@pytest.mark.parametrize(
    "text",
    [
        "steps: [{id: a, set: {}}]",
        "name: n",
        "name: n\nstepz: []\nsteps: []",
        "name: 3\nsteps: []",
        STEP % "profil: q",
        STEP % "timeout_s: soon",
        STEP % "retry: often",
        STEP % "retry: {maxx: 1}",
        STEP % "on_crash: rerum",
        STEP % "join: some",
        STEP % "level: asked",
        STEP % "dependencies: 3",
        STEP % "for_each: {parallel: 3}",
        STEP % "context: [everything]",
        "name: n\nsteps: [{profile: p, prompt: x}]",
        "name: n\nsteps: [{id: a, set: {}}]\nedges: [{from: a}]",
        "name: n\nsteps: [{id: a, set: {}}]\npolicy: some_success",
        "name: n\nsteps: [{id: a, set: {}}]\ntriggers: [{crom: '* * * * *'}]",
        "name: n\ninputs: {x: numbr}\nsteps: [{id: a, set: {}}]",
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(text: str) -> None:
    with pytest.raises(BadWorkflow):
        parse_text(text)
    assert not CHECKER.is_valid(written(text))


def test_the_schema_is_published_and_served(shared_hub: HubProcess) -> None:
    published = json.loads((ROOT / "docs" / "users" / "workflow.schema.json").read_text())
    assert published == build_schema(), "run .venv/bin/python docs/write_reference.py"
    answer = httpx.get(f"{shared_hub.url}/schemas/workflow.json")
    assert (answer.status_code, answer.json()) == (200, published)


def test_every_key_that_needs_words_has_them_in_the_schema() -> None:
    assert read_key_descriptions()["Step"]["on_error"]
    step = build_schema()["$defs"]["Step"]["properties"]
    assert step["on_error"]["description"] == read_key_descriptions()["Step"]["on_error"]


names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
levels = st.builds(
    d.Level,
    kind=st.sampled_from(["mechanical", "recommended", "confirmed", "arbitrated"]),
    question=st.text(max_size=20),
    default=st.sampled_from(["run", "skip", "abort"]),
    stakeholders=st.lists(names, max_size=3),
)
retries = st.builds(
    d.RetryPolicy, max=st.integers(0, 9), backoff_s=st.floats(0, 100), on=st.just(["failed", "timeout"])
)
steps = st.builds(
    d.Step,
    id=names,
    name=st.text(max_size=12),
    profile=st.none() | names,
    prompt=st.none() | st.text(max_size=30),
    dependencies=st.lists(names, max_size=3),
    inputs=st.dictionaries(names, plain, max_size=2),
    output=st.none() | st.text(max_size=10) | st.dictionaries(names, plain, max_size=2),
    retry=retries,
    level=levels,
    for_each=st.none() | st.builds(d.ForEach, items=st.text(max_size=8) | st.lists(plain, max_size=2), name=names),
    loop=st.none() | st.builds(d.LoopConfig, while_=st.none() | st.text(max_size=8), max=st.integers(1, 9)),
    wait=st.none() | st.builds(d.WaitConfig, seconds=st.none() | st.floats(0, 9) | st.text(max_size=4)),
    set=st.none() | st.dictionaries(names, plain, max_size=2),
    keep_agent=st.booleans(),
    keep_as=st.none() | names,
)
definitions = st.builds(
    d.WorkflowDefinition,
    name=st.text(min_size=1, max_size=20),
    inputs=st.dictionaries(names, st.builds(d.Input, default=plain, required=st.just(False)), max_size=2),
    variables=st.dictionaries(names, plain, max_size=2),
    steps=st.lists(steps, max_size=4),
    edges=st.lists(st.builds(d.Edge, source=names, target=names, when=st.none() | st.text(max_size=9)), max_size=3),
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(definitions)
def test_any_definition_comes_back_the_same_from_json_and_from_the_loader(definition: d.WorkflowDefinition) -> None:
    data = msgspec.json.encode(definition)
    assert msgspec.json.decode(data, type=d.WorkflowDefinition) == definition
    assert CHECKER.is_valid(json.loads(data))
    assert read_plain(json.loads(data)) == definition


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(definitions)
def test_any_definition_can_be_checked(definition: d.WorkflowDefinition) -> None:
    for problem in check_definition(definition, KnownNames(profiles=frozenset(("p",)), workflows=frozenset())):
        assert problem.message
        assert problem.remedy
