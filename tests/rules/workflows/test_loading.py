"""Loading workflows: the forms of other programs as they stand, short forms, skills, nested files, hostile text."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from greenroom.rules.workflows.checks.problems import BadWorkflow
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.parser.loader import load_text, parse_text, read_plain
from greenroom.rules.workflows.parser.skills import read_skill

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

FORMS = Path(__file__).parent / "forms"
STEP = "steps:\n  - {id: a, profile: p, prompt: x}\n"


def load(name: str) -> WorkflowDefinition:
    return load_text((FORMS / name).read_text(), name).definition


def test_the_file_of_agent_teams_loads_as_it_stands() -> None:
    definition = load("agent_teams.yaml")
    generate, review, fix = definition.steps
    assert definition.name == "代码生成+审查+修复"
    assert (generate.id, generate.agent_runtime, generate.skill) == ("generate", "claude", "generate-code")
    assert generate.kept_name == "code-generator"
    assert generate.agent_config.system_prompt == "你是专业 Rust 开发者"
    assert (review.agent_config.model, review.dependencies) == ("opencode/glm-4.7-free", ["generate"])
    assert (fix.reuse_agent, fix.kept_name, fix.kind) == ("code-generator", None, "agent")


def test_the_older_keys_of_agent_teams_mean_what_they_meant() -> None:
    definition = load("older_agent_teams.yaml")
    build, test, docs, publish = definition.steps
    assert definition.policy == "allow_debt"
    assert (build.retry.max, build.timeout_s, build.on_crash) == (2, 600, "rerun")
    assert "make all" in (build.prompt or "")
    assert [(step.id, step.prompt, step.agent_runtime) for step in build.rollback] == [
        ("build.rollback.1", "git checkout .", "claude")
    ]
    assert (test.dependencies, test.skill, test.retry.max, test.level.kind) == (["build"], "run-tests", 3, "mechanical")
    assert (docs.join, docs.level.kind, docs.level.timeout_s, docs.level.default) == ("any", "recommended", 60, "skip")
    assert (publish.level.kind, publish.level.stakeholders) == ("arbitrated", ["ann", "bob"])


def test_the_steps_and_edges_of_run_tree_clients_load_as_they_stand() -> None:
    definition = load("run_tree.json")
    research, write, apologise, send = definition.steps
    assert (definition.id, definition.project) == ("wf-research", "p1")
    assert research.profile == "researcher"
    assert research.prompt == "Research the topic\n\n{{ inputs.input }}"
    assert write.inputs == {"notes": "steps.research.output.notes", "tone": "vars.tone", "who": "inputs.reader"}
    assert write.output == {"text": "type(output) == string ? output : output.text"}
    assert write.when == "steps.research.output.score != 0"
    assert (write.retry.max, write.retry.backoff_s) == (2, 0.5)
    assert research.output_schema == {
        "type": "object",
        "properties": {"score": {}, "notes": {}},
        "required": ["score", "notes"],
    }
    assert write.output_schema is None, "nobody looks for more than its text"
    assert apologise.prompt == 'Say {{ "{{" }}sorry}}'
    assert send.join == "any"
    assert definition.edges[1].when == "steps.research.output.score == 0"
    assert not definition.inputs["reader"].required


def test_plain_values_load_like_their_text() -> None:
    text = (FORMS / "run_tree.json").read_text()
    assert read_plain(msgspec.json.decode(text)) == load("run_tree.json")


@pytest.mark.parametrize("name", ["agent_teams.yaml", "older_agent_teams.yaml", "run_tree.json"])
def test_a_definition_goes_through_json_and_through_the_loader_unchanged(name: str) -> None:
    definition = load(name)
    data = msgspec.json.encode(definition)
    assert msgspec.json.decode(data, type=WorkflowDefinition) == definition
    assert load_text(data.decode()).definition == definition


@pytest.mark.parametrize(
    ("written", "path", "value"),
    [
        ("retry: 3", "retry.max", 3),
        ("wait: 5", "wait.seconds", 5),
        ("for_each: inputs.n", "for_each.items", "inputs.n"),
        ("for_each: [1, 2]", "for_each.items", [1, 2]),
        ("level: Confirmed", "level.kind", "confirmed"),
        ("level: {kind: recommended, timeout_s: 5}", "level.timeout_s", 5),
        ("keep_agent: coder", "kept_name", "coder"),
        ("on_error: {route: b}", "route", "b"),
        ("needs: b", "dependencies", ["b"]),
        ("outputSchema: {type: object}", "output_schema", {"type": "object"}),
    ],
)
def test_short_forms_become_the_one_form(written: str, path: str, value: Any) -> None:
    found: Any = parse_text(f"name: n\nsteps:\n  - id: a\n    {written}\n").definition.steps[0]
    for key in path.split("."):
        found = getattr(found, key)
    assert found == value


def test_inputs_have_short_types_and_are_not_required_with_a_default() -> None:
    inputs = parse_text(
        "name: n\ninputs: {a: int, b: {type: array, default: [1]}, c: string}\n" + STEP
    ).definition.inputs
    assert [(one.type, one.required) for one in inputs.values()] == [
        ("integer", True),
        ("list", False),
        ("string", True),
    ]


def test_skills_are_taken_into_the_definition() -> None:
    skill = "---\nname: review\ndescription: Reviews code.\n---\n\nLook at the code.\n"
    text = "name: n\nsteps:\n  - {id: a, profile: p, skill_id: review}\n"
    found = load_text(text, find_skill=lambda step: {"review": skill}[step.skill or ""]).definition.skills["review"]
    assert (found.name, found.description, found.text) == ("review", "Reviews code.", "Look at the code.")
    with pytest.raises(BadWorkflow) as refused:
        load_text(text, "f.yaml", find_skill=lambda _: None)
    problem = refused.value.problems[0]
    assert (problem.line, problem.step) == (3, "a")
    assert "skills/review/SKILL.md" in str(problem.remedy)


@pytest.mark.parametrize("text", ["just words", "---\n: [\n---\nwords", "---\nno end", ""])
def test_a_skill_without_a_good_front_matter_is_all_text(text: str) -> None:
    assert read_skill(text).text == text.strip()


def test_a_nested_workflow_comes_from_its_file() -> None:
    outer = "name: o\nsteps:\n  - {id: a, workflow: ./inner.yaml, inputs: {n: '3'}}\n"
    inner = "name: i\ninputs: {n: int}\nsteps:\n  - {id: b, profile: p, prompt: '{{ inputs.n }}'}\n"
    assert load_text(outer, find_file=lambda _: inner).definition.workflows["./inner.yaml"].name == "i"
    with pytest.raises(BadWorkflow) as refused:
        load_text(outer, "o.yaml", find_file=lambda _: inner.replace("profile", "profil"))
    assert (refused.value.problems[0].file, refused.value.problems[0].line) == ("./inner.yaml", 4)


def test_the_same_part_can_be_used_again_by_an_alias() -> None:
    text = (
        "name: n\nsteps:\n  - &a {id: a, profile: p, prompt: x, retry: &r {max: 2}}\n  - {id: b, set: {}, retry: *r}\n"
    )
    assert [step.retry.max for step in load_text(text).definition.steps] == [2, 2]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("name: n\nname: m\n", 2, "twice"),
        ("name: !!python/object:os.system x\n", 1, "tag"),
        ("name: n\n<<: {a: 1}\n", 2, "merge"),
        ("name: n\n---\nname: m\n", 2, "second document"),
        ("1: 2\n", 1, "not text"),
        ("name: *nobody\n", 1, "is not defined"),
        ("a: &a [*a]\n", 1, "is not defined"),
        ("[" * 10_000, 1, "deep"),
        ("- " * 10_000, 1, "deep"),
        ("x: " + "y" * 300_000, 1, "larger"),
        ("name: \0\n", 1, "not YAML"),
        ("name: 'n\n", 2, "not YAML"),
        ("a:\n\t- b\n", 2, "not YAML"),
        ("a: 1e999\n", 1, "too large"),
        ('{"a": "\\ud800"}', 1, "half of a character"),
        ("just a text", 1, "not a workflow"),
        ("", 1, "not a workflow"),
        ("- a\n- b\n", 1, "not a workflow"),
    ],
)
def test_hostile_text_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(BadWorkflow) as refused:
        load_text(text, "f.yaml")
    problem = refused.value.problems[0]
    assert (problem.file, problem.line) == ("f.yaml", line)
    assert words in str(problem.message)
    assert problem.remedy


def test_a_wrong_text_is_told_with_its_column_too() -> None:
    with pytest.raises(BadWorkflow) as refused:
        load_text("name: n\nsteps: [a, b: c: d]\n", "f.yaml")
    assert refused.value.problems[0].text.startswith("f.yaml:2:")
    assert refused.value.problems[0].column > 1


def test_aliases_cannot_multiply() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    for number in range(9):
        bomb += f"a{number + 1}: &a{number + 1} [{', '.join([f'*a{number}'] * 9)}]\n"
    with pytest.raises(BadWorkflow) as refused:
        load_text(bomb)
    assert "aliases" in str(refused.value.problems[0].message)


def test_a_byte_order_mark_and_the_words_of_older_yaml_do_no_harm() -> None:
    text = "\ufeffname: n\nvariables: {on: no, time: 12:30, octal: 010}\nsteps: [{id: a, set: {}}]\n"
    assert load_text(text).definition.variables == {"on": "no", "time": "12:30", "octal": 10}


def test_json_may_be_indented_with_tabs_and_hold_any_character() -> None:
    text = '{\n\t"name": "\\ud83d\\ude00",\n\t"steps": [{"id": "a", "profile": "p", "prompt": "x\\/y"}]\n}'
    definition = load_text(text).definition
    assert (definition.name, definition.steps[0].prompt) == ("😀", "x/y")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
WORDS = """
name steps tasks dag edges inputs variables triggers workflows output policy limits id task_id profile agentId prompt
command level retry retryPolicy rollback for_each wait loop set on_error keep_agent dependencies condition inputMapping
outputMapping from to cron message kind default_action max backoffMs idempotent agent_config when save
"""
KEYS = WORDS.split()
shaped = st.recursive(
    json_values | st.sampled_from(["confirmed", "route:a", "a.b", "inputs.x", "1 +"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=25,
)


@PATIENT
@given(st.dictionaries(st.sampled_from(KEYS), shaped, max_size=8))
def test_whatever_the_values_are_they_load_or_are_refused_in_words(plain: dict[str, Any]) -> None:
    try:
        assert isinstance(read_plain(plain), WorkflowDefinition)
    except BadWorkflow as refused:
        assert all(problem.message and problem.remedy for problem in refused.problems)


@PATIENT
@given(st.text(max_size=200))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    try:
        load_text(text)
    except BadWorkflow as refused:
        assert refused.problems[0].line > 0
