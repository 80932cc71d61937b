"""Values that are put into a command: always one argument, never a shell's, never an option."""

import pytest

from greenroom.node.launch_env import fill_argument, fill_command

HOSTILE = [
    *(
        "; touch CANARY",
        "$(touch CANARY)",
        "`touch CANARY`",
        "| sh",
        "&& sh",
        "a\nb",
        "\"'",
        "%COMSPEC%",
        "%0a",
        " --x",
    ),
    *("{agent.__class__.__init__.__globals__}", "{0}", "{}", "%(x)s", "${HOME}", "{{7*7}}", "{", "}", "{prompt}"),
    *("{token_file}", "x" * 200_000),
]


@pytest.mark.parametrize("value", HOSTILE)
def test_what_is_put_in_is_one_argument_and_stays_as_it_is(value: str) -> None:
    values = {"{prompt}": value, "{thread_topic}": "t", "{token_file}": "/secret"}
    command = fill_command(["run", "--say", "{prompt}", "a{thread_topic}b", "{unknown}"], values)
    assert command == ["run", "--say", value, "atb", "{unknown}"]


@pytest.mark.parametrize("value", ["--dangerously-skip-permissions", "-c", "--config=/tmp/x", "@file", "-"])
def test_a_value_that_looks_like_an_option_is_refused(value: str) -> None:
    values = {"{prompt}": value, "{thread_topic}": ""}
    for argument in ("{prompt}", "{thread_topic}{prompt}", "{prompt} and more"):
        with pytest.raises(ValueError, match="option"):
            fill_argument(argument, values)
    assert fill_argument("--say={prompt}", values) == f"--say={value}"
    assert fill_command(["run", "--", "{prompt}"], values) == ["run", "--", value]
