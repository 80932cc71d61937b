"""Expressions: what is found when they are compiled, what they answer, and what hostile ones cannot do."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from greenroom.expressions import BadExpression, ExpressionFailed, compile_expression, compile_template
from greenroom.expressions.expression import Expression

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

NAMES = {"inputs": {"count", "repo", "items"}, "vars": None, "steps": {"review", "generate-code"}}
VALUES: dict[str, Any] = {
    "inputs": {"count": 3, "repo": "room", "items": ["a", "b"]},
    "vars": {"limit": 2.5},
    "steps": {"review": {"output": {"score": 8, "note": None}}, "generate-code": {"output": "fn"}},
}
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("steps.review.output.score >= 7 && inputs.count == 3", True),
        ('steps["generate-code"].output + "!"', "fn!"),
        ("has(steps.review.output.missing)", False),
        ("steps.review.output.note == null", True),
        ("inputs.items.map(i, i + inputs.repo)", ["aroom", "broom"]),
        ('{"a": [1, 2.5, null]}', {"a": [1, 2.5, None]}),
        ('timestamp("2026-01-02T03:04:05Z")', "2026-01-02T03:04:05Z"),
        ('duration("90s")', 90.0),
        ('"a b".split(" ").join("-")', "a-b"),
        ("double(inputs.count) > vars.limit", True),
    ],
)
def test_answers_are_plain_json(text: str, answer: Any) -> None:
    assert compile_expression(text, NAMES).evaluate(VALUES) == answer


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("inputz.count", "did you mean 'inputs'"),
        ("inputs.cont > 1", "did you mean 'inputs.count'"),
        ("steps.nobody.output", "'steps.nobody' is not known"),
        ("steps.generate-code.output", 'steps["generate-code"]'),
        ("inputs.count and true", "write && instead of 'and'"),
        ("not inputs.count", "write ! instead of 'not'"),
        ("", "empty"),
        ("(", "ends too early"),
        ('"%d".format([1])', "not offered"),
        ("__import__('os')", "no function"),
        ("'a' + 1", "no matching overload"),
        ("1" + " + 1" * 700, "the limit is 2000"),
        ("[" * 60 + "]" * 60, "nested too deep"),
    ],
)
def test_what_cannot_be_right_is_found_when_it_is_compiled(text: str, words: str) -> None:
    with pytest.raises(BadExpression) as refused:
        compile_expression(text, NAMES)
    assert words in refused.value.message


def test_a_number_is_no_condition() -> None:
    with pytest.raises(BadExpression):
        compile_expression("inputs.count + 1", NAMES, condition=True)
    with pytest.raises(ExpressionFailed):
        compile_expression("inputs.count", NAMES, condition=True).holds(VALUES)


@pytest.mark.parametrize(
    "text",
    [
        "steps.review.output.missing == 1",
        "!steps.review.output.missing",
        "inputs.count + vars.limit > 1.0",
        "inputs.count / 0 == 1",
        "inputs.items[7] == 'a'",
        "inputs.repo.matches('[')",
        "1.0 / 0.0",
        "{1: 2}",
        "type(1)",
    ],
)
def test_a_failure_is_never_an_answer(text: str) -> None:
    with pytest.raises(ExpressionFailed):
        compile_expression(text, NAMES).evaluate(VALUES)


@pytest.mark.parametrize("text", ["steps.review.output.score > 2", "steps.review.output.score"])
@pytest.mark.parametrize(
    ("output", "kind"), [("good", "a text"), ([1], "a list"), (None, "null"), (True, "true or false")]
)
def test_a_field_of_what_has_none_is_told_by_its_name_and_kind(text: str, output: Any, kind: str) -> None:
    with pytest.raises(ExpressionFailed) as failed:
        compile_expression(text, NAMES).evaluate({"steps": {"review": {"output": output}}})
    assert failed.value.message == f"{text}: steps.review.output is {kind}, and has no 'score'"


def test_only_what_is_named_is_looked_at() -> None:
    class Untouchable(dict[str, Any]):
        def __iter__(self) -> Any:
            raise AssertionError("looked at")

        values = items = keys = __iter__

    expression = compile_expression("steps.review.output.score > 1", NAMES)
    assert expression.paths == {("steps", "review", "output", "score")}
    assert expression.names == {"steps"}
    values = {"steps": {"review": VALUES["steps"]["review"], "other": Untouchable()}, "inputs": Untouchable()}
    assert expression.evaluate(values) is True


def test_names_of_a_comprehension_are_its_own() -> None:
    assert compile_expression("inputs.items.all(vars, vars != inputs.repo)", NAMES).names == {"inputs"}


@pytest.mark.parametrize(
    "text",
    [
        '["aaaa"]' + ".map(a,a+a+a+a+a+a+a+a)" * 10,
        '"x"' + '.replace("x","xxxxxxxxxx")' * 20,
        "inputs.items.map(a, vars.big)",
        "inputs.items.map(a, inputs.items.map(b, inputs.items.map(c, a + b + c)))",
        "inputs.items.all(a, inputs.items.all(b, inputs.items.all(c, true)))",
        "inputs.items.map(a, a)",
    ],
)
def test_a_short_text_cannot_take_the_memory_or_the_time(text: str) -> None:
    values = {"inputs": {"items": ["x" * 10] * 5000}, "vars": {"big": "y" * 1_000_000}}
    with pytest.raises(ExpressionFailed):
        compile_expression(text, NAMES).evaluate(values)


def test_values_that_are_too_large_or_too_deep_are_refused() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    for value in (deep, ["x" * 100_000] * 200):
        with pytest.raises(ExpressionFailed):
            compile_expression("vars.it == 1", NAMES).evaluate({"vars": {"it": value}})


@PATIENT
@given(st.text(max_size=60))
def test_no_text_does_more_than_be_refused_or_answer(text: str) -> None:
    try:
        expression = compile_expression(text, NAMES)
    except BadExpression as bad:
        assert bad.message
        return
    try:
        expression.evaluate(VALUES)
    except ExpressionFailed as failed:
        assert failed.message


@PATIENT
@given(json_values)
def test_json_goes_through_unchanged(value: Any) -> None:
    assert compile_expression("vars.it", NAMES).evaluate({"vars": {"it": value}}) == value
    if "\\u0000" not in json.dumps(value):
        assert compile_expression("[vars.it]", NAMES).evaluate({"vars": {"it": value}}) == [value]


def test_a_text_that_the_engine_would_cut_short_is_refused() -> None:
    with pytest.raises(ExpressionFailed):
        compile_expression("vars.it == 'rm'", NAMES).evaluate({"vars": {"it": "rm\0 -rf"}})


@PATIENT
@given(st.text())
def test_a_value_in_a_template_is_never_read_as_a_template(text: str) -> None:
    hostile = "{{ inputs.repo }}" + text
    template = compile_template("<{{ vars.it }}>", NAMES)
    assert template.render({"vars": {"it": hostile}}) == f"<{hostile}>"


def test_a_template_takes_texts_as_they_are_and_the_rest_as_json() -> None:
    text = 'Do {{ inputs.repo }}: {{ steps.review.output }}{{ steps.review.output.note }} {{ "{{" }} {{ {"a": "}}"} }}'
    template = compile_template(text, NAMES)
    assert template.render(VALUES) == 'Do room: {"score": 8, "note": null} {{ {"a": "}}"}'
    assert template.names == {"inputs", "steps"}


@pytest.mark.parametrize("text", ["{{ inputs.repo", "{{ }}", "{{ inputs.nothing }}", "{{ 'a }}"])
def test_a_template_that_cannot_be_right_is_refused(text: str) -> None:
    with pytest.raises(BadExpression):
        compile_template(text, NAMES)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("inputs.a +", "it ends too early; write the missing part at its end"),
        ("(inputs.a", "it ends too early; write ) at its end"),
        ("inputs.a = 1", "= means nothing here; write == to compare"),
        ("inputs.a == “x”", "these quotes are not valid here; put texts into ' or \""),
        ("'abc", "a text has no closing quote; close it with the same quote"),
        ("${inputs.a}", "$ means nothing here; write the name alone, such as inputs.count"),
        ("inputs.a; 1", "the sign ';' means nothing here; remove it, or put the text into quotes"),
        ("inputs.a contains 'x'", "'contains' is a method: a.contains(b); write it like this"),
        ("if inputs.a", "CEL has no 'if'; write a choice as condition ? one : other"),
        ("inputs.a 1", "'1' is not expected here; remove it, or connect it with the rest, for example with && or +"),
        ("len(inputs.a)", "there is no function 'len'; there is bool, double, duration"),
        ("size(1, 2)", "'size' does not take these values; give it one"),
        ("has(inputs)", "has() checks whether a field exists; write has(inputs.name)"),
    ],
)
def test_what_cannot_be_read_is_told_with_what_to_write_instead(text: str, told: str) -> None:
    with pytest.raises(BadExpression) as bad:
        compile_expression(text, ("inputs", "steps"))
    assert bad.value.message.startswith(told)


ANSWERS = ("approve", "deny", None, True, 1)
GATES: dict[str, tuple[bool | str, ...]] = {
    'v == "approve"': (True, False, False, False, False),
    'v != "deny"': (True, False, "fails", "fails", "fails"),
    '!(v == "deny")': (True, False, "fails", "fails", "fails"),
    '"deny" != v': (True, False, "fails", "fails", "fails"),
    '!(v in ["deny"])': (True, False, "fails", "fails", "fails"),
    'v != null && v != "deny"': (True, False, False, "fails", "fails"),
    'v == null || v != "deny"': (True, False, True, "fails", "fails"),
    '!(v != null && v == "deny")': (True, False, True, "fails", "fails"),
    "v != null": (True, True, False, True, True),
    "v": ("fails", "fails", "fails", True, "fails"),
    "!v": ("fails", "fails", "fails", False, "fails"),
    "v != 2": ("fails", "fails", "fails", "fails", True),
}
"""What each condition makes of each answer."""


@pytest.mark.parametrize("text", GATES)
def test_no_gate_opens_on_an_answer_of_another_kind(text: str) -> None:
    gate = compile_expression(text, {"v": None}, condition=True)
    assert tuple(_holds(gate, value) for value in ANSWERS) == GATES[text]


def _holds(gate: Expression, value: object) -> bool | str:
    try:
        return gate.holds({"v": value})
    except ExpressionFailed:
        return "fails"
