"""Lists tell how old a thing is and whose, show as many as are wanted, and are coloured on a terminal alone."""

from pathlib import Path

import pytest

from tests.cli.person import shown
from tests.cli.shell import done, greenroom
from tests.stage import Stage

pytestmark = pytest.mark.one_stage


def test_runs_are_listed_with_age_and_agent_and_filtered_by_status(stage: Stage) -> None:
    data = stage.hub.data
    stage.done("SAY fine")
    stage.done("FAIL badly")
    heads, *rows = done(data, "runs", "list").out.splitlines()
    assert heads.split() == ["RUN", "STATUS", "AGE", "PROFILE", "AGENT", "PROMPT"]
    assert "Rehearsal" in rows[0]
    failed = done(data, "runs", "list", "--status", "failed", "--json").json
    assert {run["status"] for run in failed} == {"failed"}
    assert len(done(data, "runs", "list", "--limit", "1", "--json").json) == 1


def test_asks_are_listed_with_age_and_agent_and_at_most_as_many_as_are_wanted(stage: Stage) -> None:
    data = stage.hub.data
    for question in ("one", "two"):
        stage.api.post("/api/asks", json={"title": question}).raise_for_status()
    ran = done(data, "ask", "list", "--limit", "1")
    assert ran.out.splitlines()[0].split() == ["ID", "KIND", "RISK", "AGE", "AGENT", "STATE", "WHAT"]
    assert (len(ran.out.splitlines()), "see more with --limit" in ran.err) == (2, True)
    assert len(done(data, "ask", "list", "--limit", "1", "--json").json) == 1


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        (["policy", "list"], "There are no rules. Agents may read inside the workspace"),
        (["policy", "suggest", "--times", "100"], "No rules to suggest"),
        (["runs", "list", "--status", "interrupted"], "No runs found."),
        (["ask", "list", "--kind", "decision"], "No asks found."),
        (["notify", "list"], "No notification channels found."),
        (["tools", "list"], "No tool servers found."),
    ],
)
def test_a_list_without_anything_in_it_says_so(stage: Stage, verb: list[str], said: str) -> None:
    ran = done(stage.hub.data, *verb)
    assert (ran.out, said in ran.err) == ("", True), ran
    assert isinstance(done(stage.hub.data, *verb, "--json").json, list | dict)


def test_agents_threads_and_workflows_take_status_and_limit(stage: Stage, tmp_path: Path) -> None:
    data = stage.hub.data
    flow = tmp_path / "small.yaml"
    flow.write_text("name: small\nsteps:\n  - {id: one, profile: rehearsal, prompt: SAY hello}\n")
    done(data, "dag", "run", str(flow), "--wait")
    stage.done("SAY hello")
    done(data, "thread", "post", "Talk", "hello", "--new")
    assert {a["process"] for a in done(data, "agent", "list", "--all", "--status", "asleep", "--json").json} == {
        "asleep"
    }
    assert len(done(data, "agent", "list", "--all", "--limit", "1", "--json").json) == 1
    assert "AGE" in done(data, "thread", "list", "--status", "discuss").out.splitlines()[0]
    assert "AGE" in done(data, "dag", "list", "--limit", "3").out.splitlines()[0]


def test_the_id_comes_first_in_the_json_of_a_row(stage: Stage) -> None:
    data = stage.hub.data
    run_id = stage.done("SAY hello")["id"]
    ask_id = stage.api.post("/api/asks", json={"title": "Which?"}).raise_for_status().json()["id"]
    message = done(data, "thread", "post", "Talk about ids", "hello", "--new", "--json").json
    rows = [
        done(data, "runs", "show", run_id, "--json").json,
        done(data, "ask", "show", ask_id, "--json").json,
        done(data, "agent", "list", "--all", "--json").json[0],
        message,
    ]
    assert [next(iter(row)) for row in rows] == ["id"] * len(rows)


@pytest.mark.parametrize(
    "verb", [["runs", "list"], ["ask", "list"], ["agent", "list"], ["dag", "list"], ["agent", "sessions"]]
)
def test_a_limit_below_one_is_refused(stage: Stage, verb: list[str]) -> None:
    for limit in ("0", "-3"):
        ran = greenroom(stage.hub.data, *verb, "--limit", limit)
        assert (ran.code, "write a whole number from 1 on" in ran.err) == (2, True), ran


def test_status_words_have_colours_on_a_terminal_and_nowhere_else(stage: Stage) -> None:
    data = stage.hub.data
    stage.done("SAY fine")
    assert "\x1b[32mcompleted\x1b[0m" in shown(data, "runs", "list").raw
    assert "\x1b" not in shown(data, "runs", "list", NO_COLOR="1").raw
    assert "\x1b" not in done(data, "runs", "list").out


@pytest.mark.parametrize("wide", [120, 80, 50])
def test_no_line_of_a_list_is_wider_than_the_terminal(stage: Stage, wide: int) -> None:
    stage.done("SAY a rather long prompt that goes on and on until it would not fit into any terminal at all")
    for verb in (["runs", "list"], ["agent", "list", "--all"], ["token", "list"], ["profile", "list"]):
        lines = shown(stage.hub.data, *verb, wide=wide).screen.splitlines()
        assert max(map(len, lines)) < wide, lines
