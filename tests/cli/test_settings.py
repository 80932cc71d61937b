"""What is wrong with a setting, a variable, a rule or a profile is named, with what to write and what was meant."""

from pathlib import Path

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.cli.shell import done, greenroom
from tests.cli.test_wrong import refused


def started(data: Path, text: str = "", **env: str) -> str:
    """What a hub says that does not start with these settings."""
    data.mkdir()
    (data / "greenroom.toml").write_text(text)
    return refused(greenroom(data, "serve", **env))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prot = 1", "prot: this key is not known; did you mean 'port'?"),
        ("zzzzzzzz = 1", "zzzzzzzz: this key is not known; the keys are host, port,"),
        ('max_open_asks = "many"', "max_open_asks: write a whole number from 1"),
        ("max_open_asks = -1", "max_open_asks: write a whole number from 1"),
        ("posts_per_minute = -1", "posts_per_minute: write a whole number from 0"),
        ('behind_proxy = "yes"', "behind_proxy: write true or false"),
        ("allowed_hosts = 3", "allowed_hosts: write a list; each item is a text"),
        ("host = 3", "host: write a text"),
        ("port = 70000", "port: write a whole number from 0 to 65535"),
    ],
)
def test_a_wrong_setting_is_named_with_what_to_write(tmp_path: Path, text: str, said: str) -> None:
    heard = started(tmp_path / "data", text)
    assert f"{tmp_path / 'data' / 'greenroom.toml'}: {said}" in heard
    assert "`" not in heard.replace("`greenroom", ""), "no words of a parser"


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("GREENROOM_PROT", "1", "The environment variable GREENROOM_PROT is not known: did you mean GREENROOM_PORT?"),
        ("GREENROOM_QQQQQQQ", "1", "GREENROOM_QQQQQQQ is not known: docs/users/settings.md lists them."),
        ("GREENROOM_MAX_OPEN_ASKS", "-5", "GREENROOM_MAX_OPEN_ASKS is '-5': write a whole number from 1"),
        ("GREENROOM_CONTENT_FILTER", "maybe", "GREENROOM_CONTENT_FILTER is 'maybe': write true or false"),
    ],
)
def test_a_wrong_variable_is_refused_with_what_was_meant(tmp_path: Path, variable: str, value: str, said: str) -> None:
    assert said in started(tmp_path / "data", **{variable: value})


def test_a_mistyped_variable_is_refused_by_every_command(tmp_path: Path) -> None:
    said = refused(greenroom(tmp_path, "thread", "list", GREENROOM_ULR="http://127.0.0.1:9"))
    assert "did you mean GREENROOM_URL?" in said


def test_variables_that_greenroom_sets_itself_are_known(tmp_path: Path) -> None:
    for name in ("TREE", "TOOL", "REHEARSAL_STATE", "BUILTIN_STATE", "EVERY_TEST", "TEST_KILLS"):
        assert greenroom(tmp_path, "thread", "list", **{f"GREENROOM_{name}": "1"}).code == 3, name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'decision = "alow"',
            "rule.decision: 'alow' is not known; write one of 'allow', 'ask', 'deny': did you mean 'allow'?",
        ),
        ('decision = "allow"\ncomands = ["ls"]', "rule.comands: this key is not known; did you mean 'commands'?"),
        ('decision = "allow"\ntools = "x"', "rule.tools: write a list; each item is a text"),
        ('tools = ["x"]', "rule.decision: it is missing; write one of 'allow', 'ask', 'deny'"),
        ('decision = "allow"\nmin_depth = -1', "min_depth: write a number from 0"),
    ],
)
def test_a_wrong_rule_is_explained(shared_hub: HubProcess, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "rule.toml").write_text(text)
    assert said in refused(greenroom(shared_hub.data, "policy", "add", "x", "--file", str(tmp_path / "rule.toml")))


def test_a_wrong_policy_file_is_explained(hub: HubProcess) -> None:
    (hub.data / "policy.toml").write_text(
        '[options]\nloop_window_s = "long"\n[options.budget]\n[[rules]]\nname = "x"\ndecision = "sometimes"\n'
    )
    said = greenroom(hub.data, "policy", "list").err
    assert "options.loop_window_s: write a whole number" in said
    assert "rules[1].decision: 'sometimes' is not known; write one of 'allow', 'ask', 'deny'" in said
    (hub.data / "policy.toml").write_text("[options.budget]\nusd_per_day = -1\ncalls_per_hour = -2\n")
    said = greenroom(hub.data, "policy", "list").err
    assert "options.budget.usd_per_day: write a number from 0" in said
    assert "options.budget.calls_per_hour: write a number from 0" in said


def test_a_misspelt_profile_and_workflow_get_a_suggestion(hub: HubProcess, tmp_path: Path) -> None:
    assert "did you mean 'rehearsal'?" in refused(greenroom(hub.data, "run", "rehersal", "SAY hi"))
    assert "did you mean 'claude'?" in refused(greenroom(hub.data, "profile", "show", "cluade"))
    (tmp_path / "mine.toml").write_text('driver = "rehearsal"\nmax_tokens = -5\n')
    assert "max_tokens: write a number above 0" in refused(
        greenroom(hub.data, "profile", "put", "mine", str(tmp_path / "mine.toml"))
    )
    done(hub.data, "thread", "post", "Plan", "hi", "--new")
    assert "did you mean 'rehearsal'?" in refused(greenroom(hub.data, "invite", "rehearsel", "--thread", "Plan"))


def test_a_misspelt_rule_server_and_template_get_a_suggestion(hub: HubProcess) -> None:
    done(hub.data, "policy", "add", "git-status", "--decision", "allow", "--command", "git status")
    assert "There is no rule 'git-staus': did you mean 'git-status'?" in refused(
        greenroom(hub.data, "policy", "remove", "git-staus")
    )
    assert "see `greenroom policy list`" in refused(greenroom(hub.data, "policy", "remove", "quite-other"))
    done(hub.data, "tools", "add", "tracker", "--command", "false")
    assert "There is no server 'traker': did you mean 'tracker'?" in refused(
        greenroom(hub.data, "tools", "show", "traker")
    )
    assert "There is no template 'read-onyl': did you mean 'read-only'?" in refused(
        greenroom(hub.data, "policy", "templates", "--apply", "read-onyl")
    )
