"""An id is typed as far as it is unique: by its beginning, by its end, or as a list shows it."""

from pathlib import Path

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.cli.person import shown
from tests.cli.shell import done, greenroom
from tests.stage import Stage

pytestmark = pytest.mark.one_stage


def test_a_run_is_meant_by_any_part_of_its_id_that_is_unique(stage: Stage) -> None:
    data, run_id = stage.hub.data, stage.done("SAY hello")["id"]
    for part in (run_id, run_id[:22], run_id[4:22], run_id[-6:], f"run_{run_id[-6:]}", run_id[-8:].upper()):
        assert done(data, "runs", "show", part, "--json").json["id"] == run_id, part


def test_a_part_that_may_mean_several_is_refused_with_the_candidates(stage: Stage) -> None:
    runs = [stage.done(f"SAY number {n}")["id"] for n in range(2)]
    ran = greenroom(stage.hub.data, "runs", "cancel", runs[0][:8])
    assert (ran.code, ran.out) == (1, "")
    assert "may mean more than one run" in ran.err
    assert all(run_id in ran.err for run_id in runs)
    assert "SAY number 0" in ran.err


def test_too_few_letters_mean_nothing(stage: Stage) -> None:
    run_id = stage.done("SAY hello")["id"]
    ran = greenroom(stage.hub.data, "runs", "show", run_id[-3:])
    assert (ran.code, f"There is no run '{run_id[-3:]}'" in ran.err) == (1, True)


def test_what_a_list_shows_on_a_terminal_can_be_pasted_back(stage: Stage) -> None:
    data = stage.hub.data
    done(data, "thread", "post", "Paste me", "hello", "--new")
    run_id = stage.start("ASK which port?")
    ask_id = stage.asked()["id"]
    stage.decide(ask_id, "answer", text="8080")
    stage.end(run_id)
    for listing, show, whole in (
        (("runs", "list"), ("runs", "show"), run_id),
        (("ask", "list", "--status", "all"), ("ask", "show"), ask_id),
        (("agent", "list", "--all"), ("agent", "logs"), None),
        (("thread", "list"), ("thread", "show"), None),
        (("token", "list"), ("audit", "list", "--by"), None),
    ):
        screen = shown(data, *listing).screen
        short = screen.splitlines()[1].split()[0]
        kind, _, letters = short.partition("_")
        assert (len(letters), whole is None or whole.endswith(letters)) == (6, True), screen
        assert done(data, *show, short), short
        assert len(done(data, *listing).out.splitlines()[1].split()[0]) == len(f"{kind}_") + 26, "a pipe gets whole ids"


def test_kinds_of_ids_are_not_mixed_up(stage: Stage) -> None:
    run = stage.done("SAY hello")
    ran = greenroom(stage.hub.data, "runs", "show", f"agt_{run['agent_id'][-6:]}")
    assert (ran.code, "There is no run" in ran.err) == (1, True)
    assert done(stage.hub.data, "agent", "logs", f"agt_{run['agent_id'][-6:]}").out == "hello\n"
    assert done(stage.hub.data, "agent", "logs", run["id"][-8:]).out == "hello\n"


def test_what_is_not_yours_is_not_found_by_a_part_of_its_id(stage: Stage) -> None:
    run_id = stage.done("SAY hello")["id"]
    token = done(stage.hub.data, "token", "create", "--name", "stranger").out.strip()
    ran = greenroom(stage.hub.data, "runs", "show", run_id[-8:], "--token", token)
    assert (ran.code, f"There is no run '{run_id[-8:]}'" in ran.err) == (1, True)
    asked = stage.api.get(
        "/api/ids", params={"kinds": "cred", "text": "cred_0000"}, headers={"Authorization": f"Bearer {token}"}
    )
    assert asked.json() == {"ids": [], "has_more": False, "by_name": False, "near": []}


def test_a_topic_that_is_misspelt_gets_a_suggestion(stage: Stage) -> None:
    done(stage.hub.data, "thread", "post", "Release plan", "hello", "--new")
    ran = greenroom(stage.hub.data, "thread", "show", "relaese plan")
    assert (ran.code, "did you mean 'Release plan'?" in ran.err) == (1, True), ran
    assert done(stage.hub.data, "thread", "show", "Release plan").out


def test_a_name_goes_before_the_end_of_an_id(stage: Stage) -> None:
    first = stage.done("SAY one")
    kept = stage.done("SAY two", keep_as=first["agent_id"][-5:])
    assert done(stage.hub.data, "agent", "stop", first["agent_id"][-5:], "--json").json["agent_id"] == kept["agent_id"]


def test_a_driver_that_is_misspelt_gets_a_suggestion(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('driver = "rehersal"\n')
    done(stage.hub.data, "profile", "put", "mine", str(tmp_path / "mine.toml"))
    ran = greenroom(stage.hub.data, "run", "mine", "SAY hi")
    assert (ran.code, ran.err) == (1, "greenroom: No node has the driver 'rehersal': did you mean 'rehearsal'?\n")


def test_a_misspelt_driver_is_refused_before_any_node_has_connected(hub: HubProcess, tmp_path: Path) -> None:
    done(hub.data, "node", "add", "later")
    (tmp_path / "mine.toml").write_text('driver = "rehersal"\n')
    done(hub.data, "profile", "put", "mine", str(tmp_path / "mine.toml"))
    ran = greenroom(hub.data, "run", "mine", "SAY hi")
    assert (ran.code, ran.err) == (1, "greenroom: No node has the driver 'rehersal': did you mean 'rehearsal'?\n")


def test_an_agent_is_meant_by_the_name_that_the_list_shows(stage: Stage) -> None:
    data = stage.hub.data
    agents = [stage.done(f"SAY {n}", keep_as=f"kept-{n}")["agent_id"] for n in range(2)]
    listed = {one["id"]: one["display_name"] for one in done(data, "agent", "list", "--json").json if one.get("id")}
    ran = done(data, "agent", "stop", listed[agents[1]].upper(), "--json")
    assert ran.json["agent_id"] == agents[1]


def test_a_rule_is_about_the_thread_that_is_named(stage: Stage) -> None:
    data = stage.hub.data
    thread_id = done(data, "thread", "post", "Ruled", "hello", "--new", "--json").json["thread_id"]
    for number, named in enumerate((thread_id[-6:], f"thr_{thread_id[-6:]}", "Ruled")):
        add = ("policy", "add", f"r{number}", "--decision", "ask", "--thread", named, "--json")
        assert done(data, *add).json["rule"]["threads"] == [thread_id]
