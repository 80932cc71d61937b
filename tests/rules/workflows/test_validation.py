"""Validation names the file, the line, the step and the remedy."""

import pytest

from greenroom.errors import Refused
from greenroom.rules.asks.schema_check import TooManySteps, find_error
from greenroom.rules.workflows.checks.definition_check import KnownNames
from greenroom.rules.workflows.checks.problems import BadWorkflow, Problem
from greenroom.rules.workflows.inputs import parse_input, resolve_inputs
from greenroom.rules.workflows.output_schema import find_output_schema_error
from greenroom.rules.workflows.parser.loader import load_text

KNOWN = KnownNames(
    profiles=frozenset(("coder", "reviewer")),
    runtimes=frozenset(("claude", "opencode")),
    workflows=frozenset(("nightly",)),
)
HEAD = "name: n\ninputs: {count: integer}\nvariables: {tone: calm}\nsteps:\n  - {id: a, profile: coder, prompt: x}\n"


def problems(text: str) -> list[Problem]:
    with pytest.raises(BadWorkflow) as refused:
        load_text(text, "f.yaml", known=KNOWN)
    return refused.value.problems


@pytest.mark.parametrize(
    ("step", "code", "words"),
    [
        ("id: b, profile: coderr, prompt: x", "unknown_profile", "did you mean 'coder'?"),
        ("id: b, agent_runtime: clod, prompt: x", "unknown_runtime", "did you mean 'claude'?"),
        ("id: b, prompt: x", "no_agent", "profile: NAME"),
        ("id: b, profile: coder, agent_runtime: claude, prompt: x", "wrong_kind", "keep the profile"),
        ("id: b, profile: coder, prompt: x, dependencies: [aa]", "missing_step", "did you mean 'a'?"),
        ("id: b, profile: coder, prompt: x, dependencies: [b]", "cycle", "b → b"),
        ("id: b, profile: coder, prompt: x, on_error: 'route:z'", "missing_step", "there is a, b"),
        ("id: b, profile: coder, prompt: x, on_error: stop", "wrong_value", "route:STEP"),
        ("id: b, profile: coder, prompt: x, when: '1 > 2'", "unreachable", "remove the condition"),
        ("id: b, profile: coder, prompt: x, when: inputs.count >", "bad_expression", "when:"),
        ("id: b, profile: coder, prompt: x, when: inputs.count + 1", "bad_expression", "compare it"),
        ("id: b, profile: coder, prompt: x, when: inputs.cuont > 1", "unknown_name", "did you mean 'count'?"),
        ("id: b, profile: coder, prompt: x, when: inputs.count", "wrong_type", "count has the type integer"),
        ("id: b, profile: coder, prompt: x, when: inputs.count == 'x'", "wrong_type", "a whole number and a text"),
        ("id: b, profile: coder, prompt: x, for_each: inputs.count", "wrong_type", "must be a list"),
        ("id: b, profile: coder, prompt: '{{ vars.tune }}'", "unknown_name", "did you mean 'tone'?"),
        ("id: b, profile: coder, prompt: '{{ steps.a.output }}'", "unknown_name", "add 'a' to the dependencies"),
        ("id: b, dependencies: a, profile: coder, prompt: '{{ steps.a.outptu }}'", "unknown_name", "'output'"),
        ("id: b, profile: coder, prompt: '{{ item }}'", "bad_expression", "'item' is not known"),
        ("id: b, profile: coder, prompt: '{{ run.nime }}'", "unknown_name", "run.nime"),
        ("id: b, profile: coder, prompt: '{{ input.q }}'", "unknown_name", "the step's inputs"),
        ("id: b, profile: coder, prompt: x, reuse_agent: q", "agent_not_kept", "keep_agent: true"),
        ("id: b, profile: coder, prompt: x, output_schema: {type: objekt}", "bad_schema", "objekt"),
        ("id: b, profile: coder, prompt: x, output_schema: {$ref: 'http://a/b'}", "bad_schema", "another document"),
        ("id: b, profile: coder, prompt: x, output_schema: {pattern: '(a)\\1'}", "bad_schema", "linear time"),
        ("id: b, profile: coder, prompt: x, output_schema: {patternProperties: {}}", "bad_schema", "not supported"),
        ("id: b, profile: coder, prompt: x, level: arbitrated", "wrong_value", "stakeholders"),
        ("id: b, profile: coder, prompt: x, retry: {max: 1000}", "wrong_value", "from 0 to 100"),
        ("id: b, profile: coder, prompt: x, wait: 3", "wrong_kind", "two steps"),
        ("id: b, wait: {}", "wrong_kind", "exactly one"),
        ("id: b, profile: coder", "nothing_to_do", "prompt"),
        ("id: b", "nothing_to_do", "prompt"),
        ("id: b, profile: coder, skill: ../../etc", "bad_id", "its folder"),
        ("id: b b, profile: coder, prompt: x", "bad_id", "letters"),
        ("id: a, profile: coder, prompt: x", "duplicate_step", "another id"),
        ("id: b, profile: coder, prompt: x, loop: {max: 3}", "wrong_kind", "while: or until:"),
        ("id: b, set: {}, for_each: [1], loop: {until: 'true'}", "wrong_kind", "nested workflow"),
        ("id: b, set: {}, for_each: {items: [1], as: steps}", "bad_id", "as: item"),
        ("id: b, workflow: nihgtly", "unknown_workflow", "did you mean 'nightly'?"),
        ("id: b, profil: coder, prompt: x", "unknown_key", "did you mean 'profile'?"),
        ("id: b, profile: coder, prompt: x, retry: {maxx: 1}", "unknown_key", "did you mean 'max'?"),
        ("id: b, profile: coder, prompt: x, timeout_s: soon", "wrong_type", "a whole number"),
        ("id: b, profile: coder, prompt: x, on_crash: rerum", "wrong_value", "did you mean 'rerun'?"),
        ("id: b, profile: coder, prompt: x, join: some", "wrong_value", "all"),
        ("profile: coder, prompt: x", "missing_key", "id: ..."),
    ],
)
def test_a_wrong_step_is_named_with_its_line_and_what_to_write(step: str, code: str, words: str) -> None:
    found = problems(f"{HEAD}  - {{{step}}}\n")
    problem = next(one for one in found if one.code == code)
    assert (problem.file, problem.line) == ("f.yaml", 6), problem
    assert problem.step
    assert words in problem.text


@pytest.mark.parametrize(
    ("text", "code", "line", "words"),
    [
        ("name: n\nsteps: []\n", "no_steps", 2, "at least one"),
        ("steps:\n  - {id: a, set: {}}\n", "missing_key", 1, "name: ..."),
        ("name: n\nstepz:\n  - {id: a, set: {}}\nsteps: []\n", "unknown_key", 2, "did you mean 'steps'?"),
        ("name: n\ninputs:\n  n: {type: integer, default: x}\nsteps: [{id: a, set: {}}]\n", "wrong_type", 3, "integer"),
        ("name: n\ninputs:\n  n: {type: numbr}\nsteps: [{id: a, set: {}}]\n", "wrong_value", 3, "'number'"),
        ("name: n\nsteps: [{id: a, set: {}}]\nedges:\n  - {from: a, to: q}\n", "missing_step", 4, "'q'"),
        ("name: n\nsteps: [{id: a, set: {}}]\noutput: steps.q.output\n", "unknown_name", 3, "steps.q"),
        (
            "name: n\nsteps: [{id: a, set: {}}, {id: b, set: {}}]\nedges:\n- {from: a, to: b}\n- {from: b, to: a}\n",
            "cycle",
            4,
            "from 'a' to 'b'",
        ),
        (
            "name: n\ninputs: {q: list}\nsteps: [{id: a, set: {}}]\ntriggers: {webhook: true, inputs: {q: 3}}\n",
            "wrong_type",
            4,
            "the type list",
        ),
        ("name: n\nsteps: [{id: a, set: {x: 1}}]\noutput: steps.a.output.y\n", "unknown_name", 3, "there is x"),
        ("name: n\nsteps: [{id: a, set: {}}]\ntriggers:\n  - {cron: 61 * * * *}\n", "bad_cron", 4, "bad minute"),
        ("name: n\nsteps: [{id: a, set: {}}]\ntriggers:\n  - {cron: 0 0 30 2 *}\n", "bad_cron", 4, "day-of-month"),
        ("name: n\nsteps: [{id: a, set: {}}]\ntriggers:\n  - {cron: '@daily', tz: Mars}\n", "bad_timezone", 4, "Mars"),
        ("name: n\nsteps: [{id: a, set: {}}]\ntriggers:\n  - {id: t}\n", "wrong_kind", 4, "one of cron"),
        (
            "name: n\ninputs: {q: string}\nsteps: [{id: a, set: {}}]\ntriggers: {webhook: true}\n",
            "missing_input",
            4,
            "q",
        ),
    ],
)
def test_a_wrong_workflow_is_named_with_its_line_and_what_to_write(text: str, code: str, line: int, words: str) -> None:
    problem = next(one for one in problems(text) if one.code == code)
    assert problem.line == line
    assert words in problem.text


def test_branches_that_meet_again_need_to_be_told_that_one_is_enough() -> None:
    text = (
        "name: n\nsteps:\n  - {id: a, set: {ok: true}}\n"
        "  - {id: b, set: {}, dependencies: a, when: steps.a.output.ok}\n"
        "  - {id: c, set: {}, dependencies: a, when: '!steps.a.output.ok'}\n"
        "  - {id: d, set: {}, dependencies: [b, c]}\n  - {id: e, set: {}, dependencies: [d]}\n"
    )
    found = problems(text)
    assert [(problem.code, problem.step, problem.line) for problem in found] == [("unreachable", "d", 6)]
    assert "join: any" in str(found[0].remedy)
    load_text(text.replace("id: d", "id: d, join: any"))


def test_a_circle_is_told_whole() -> None:
    text = "name: n\nsteps:\n" + "".join(
        f"  - {{id: {one}, set: {{}}, dependencies: [{other}]}}\n" for one, other in ("ac", "ba", "cb")
    )
    found = problems(text)
    assert [problem.code for problem in found] == ["cycle"]
    assert all(name in str(found[0].message) for name in "abc")


def test_an_agent_can_be_used_again_only_after_the_step_that_keeps_it() -> None:
    text = (
        "name: n\nsteps:\n  - {id: a, profile: coder, prompt: x, keep_agent: true}\n"
        "  - {id: b, reuse_agent: a, prompt: y}\n  - {id: c, reuse_agent: a, prompt: y, dependencies: a}\n"
        "  - {id: d, reuse_agent: 'pool:other', prompt: y}\n"
    )
    found = problems(text)
    assert [(problem.code, problem.step) for problem in found] == [("agent_not_kept", "b")]
    assert "add 'a' to the dependencies" in str(found[0].remedy)


def test_variables_are_seen_only_after_they_were_saved_and_not_saved_by_two_at_once() -> None:
    text = (
        "name: n\nsteps:\n  - {id: a, set: {x: 1}, save: {v: output.x}}\n  - {id: b, set: {x: vars.v}}\n"
        "  - {id: c, set: {x: vars.v}, dependencies: a}\n  - {id: d, set: {x: 2}, save: {v: output.x}}\n"
    )
    found = problems(text)
    assert {(problem.code, problem.step) for problem in found} == {("unknown_name", "b"), ("saved_twice", "d")}


def test_all_keys_of_a_step_that_are_wrong_are_told_at_once() -> None:
    keys = ("profil: coder", "promt: x", "retry: {maxx: 3, max: 2}", "timeout_s: soon", "join: some")
    found = problems(HEAD + "  - id: b\n" + "".join(f"    {key}\n" for key in keys))
    told = sorted((problem.line, problem.code) for problem in found)
    assert told == [(7, "unknown_key"), (8, "unknown_key"), (9, "unknown_key"), (10, "wrong_type"), (11, "wrong_value")]
    assert all(problem.step == "b" and problem.remedy for problem in found)
    assert [one.code for one in problems(HEAD + "  - {id: [b], prompt: 3, dependencies: [3, 4]}\n")][:2] == [
        "wrong_type",
        "wrong_type",
    ]


def test_several_problems_are_told_at_once_in_the_order_of_the_file() -> None:
    found = problems(HEAD + "  - {id: b, profile: q, prompt: '{{ x }}'}\n  - {id: c, prompt: y, dependencies: [z]}\n")
    assert [problem.line for problem in found] == [6, 6, 7, 7]


def test_problems_of_a_nested_workflow_are_told_too() -> None:
    text = (
        "name: n\nsteps:\n  - {id: a, workflow: inner, inputs: {x: '1'}}\n"
        "workflows:\n  inner:\n    name: i\n    inputs: {y: integer}\n"
        "    steps:\n      - {id: b, profile: q, prompt: x}\n"
    )
    assert {problem.code for problem in problems(text)} == {"unknown_input", "missing_input", "unknown_profile"}


def test_what_a_nested_workflow_is_given_is_of_the_type_of_its_input() -> None:
    text = (
        "name: n\nsteps:\n  - {id: a, workflow: inner, inputs: {x: [1]}}\n"
        "workflows: {inner: {name: i, inputs: {x: integer}, steps: [{id: b, set: {y: inputs.x}}]}}\n"
    )
    found = problems(text)
    assert [(problem.code, problem.line, problem.step) for problem in found] == [("wrong_type", 3, "a")]
    load_text(text.replace("[1]", "1"))


@pytest.mark.parametrize(
    "condition",
    [
        "inputs.n > 1.5",
        "inputs.s != null && inputs.maybe == 3",
        "has(inputs.n)",
        "inputs.x == 'a' && inputs.x == 1",
        "inputs.n == steps.a.output.n",
        "inputs.s in inputs.l || inputs.l.exists(one, one == inputs.n)",
        "inputs.o.field == 3",
    ],
)
def test_what_may_go_together_is_not_called_wrong(condition: str) -> None:
    inputs = "{n: integer, s: string, x: any, l: list, o: object, maybe: {type: string, required: false}}"
    steps = "[{id: a, set: {n: '1'}}, {id: b, set: {}, dependencies: [a], when: \"CONDITION\"}]"
    load_text(f"name: n\ninputs: {inputs}\nsteps: {steps}\n".replace("CONDITION", condition))


def test_conditions_over_each_of_a_list_may_both_hold() -> None:
    both = ["inputs.l.exists(one, one > 1)", "inputs.l.exists(one, one <= 1)"]
    steps = f"[{{id: a, set: {{}}, when: '{both[0]}'}}, {{id: b, set: {{}}, dependencies: [a], when: '{both[1]}'}}]"
    load_text(f"name: n\ninputs: {{l: list}}\nsteps: {steps}\n")
    ordered = steps.replace(both[0], "inputs.n > 2").replace(both[1], "inputs.n <= 2")
    assert [one.code for one in problems(f"name: n\ninputs: {{n: integer}}\nsteps: {ordered}\n")] == ["unreachable"]


def test_inputs_are_checked_and_defaults_filled_in() -> None:
    inputs = "{a: integer, b: {default: hi, enum: [hi, ho]}, c: {type: list, default: []}}"
    definition = load_text(f"name: n\ninputs: {inputs}\nsteps: [{{id: s, set: {{}}}}]").definition
    assert resolve_inputs(definition, {"a": 3}) == {"a": 3, "b": "hi", "c": []}
    for wrong in ({}, {"a": "3"}, {"a": True}, {"a": 1, "b": "he"}, {"a": 1, "z": 1}, {"a": None}):
        with pytest.raises(Refused):
            resolve_inputs(definition, wrong)
    assert parse_input(definition, "a", "3") == 3
    assert parse_input(definition, "b", "3") == "3"
    assert parse_input(definition, "c", '["x"]') == ["x"]
    with pytest.raises(Refused):
        parse_input(definition, "a", "three")


def test_no_answer_makes_its_check_take_for_ever() -> None:
    schema = {"type": "object", "properties": {"word": {"type": "string", "pattern": "^(a+)+$"}}}
    assert not find_output_schema_error(schema)
    assert find_error(schema, {"word": "aaa"}) is None
    assert find_error(schema, {"word": "a" * 100_000 + "!"}) is not None
    with pytest.raises(TooManySteps):
        find_error({"items": {"anyOf": [*[{"type": "string"}] * 100, {"type": "integer"}]}}, [1] * 10_000)
    with pytest.raises(TooManySteps):
        find_error({"uniqueItems": True}, [{"a": number} for number in range(2000)])
