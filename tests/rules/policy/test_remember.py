"""Answers that are remembered as rules: how far they reach, over REST and on the command line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.shell import done, greenroom
from tests.conftest import staged
from tests.stage import Stage

Json = dict[str, Any]
_DAY_MS = 86_400_000


@pytest.fixture(scope="module")
def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    yield from staged(tmp_path_factory.mktemp("stage"))


@pytest.fixture
def stage(shared_stage: Stage) -> Iterator[Stage]:
    yield shared_stage
    with Stage(shared_stage.hub) as after:
        after.tidy()
        for rule in after.api.get("/api/policy").json()["rules"]:
            after.api.delete(f"/api/policy/rules/{rule['name']}")


def asking(stage: Stage, prompt: str, **fields: Any) -> Json:
    """The ask of a run that was started with this prompt."""
    run = stage.start(f"{prompt}\nSAY done", **fields)
    found: Json = stage.until(
        lambda: next(iter(stage.api.get("/api/asks", params={"run_id": run}).json()["asks"]), None), "it to ask"
    )
    return found


def offered(stage: Stage, ask: Json, **choice: str) -> Json:
    answer = stage.api.get(f"/api/policy/asked/{ask['id']}", params=choice)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def options(made: Json) -> Json:
    return {axis["name"]: [one["choice"] for one in axis["options"]] for axis in made["axes"]}


def rules(stage: Stage) -> list[Json]:
    return [one["rule"] for one in stage.api.get("/api/policy").json()["rules"]]


def is_free(stage: Stage, prompt: str, **fields: Any) -> bool:
    """Whether a call runs without a person."""
    run = stage.start(f"{prompt}\nSAY done", **fields)

    def settled() -> str | None:
        status = stage.run(run)["status"]
        return status if status in ("waiting", "completed", "failed") else None

    return bool(stage.until(settled, "it to run or to ask") != "waiting")


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json().get("code", "")


def test_the_rule_is_a_sentence_as_narrow_as_the_call_and_can_be_widened(stage: Stage) -> None:
    stage.profile("builder")
    ask = asking(stage, "SHELL make d", profile="builder")
    made = offered(stage, ask)
    assert made["words"] == "Always allow `make d` for builder, in its own folder, for 90 days."
    assert options(made) == {
        "what": ["exact", "program"],
        "who": ["profile", "all"],
        "where": ["folder", "anywhere"],
        "lasts": ["run", "30d", "90d", "always"],
    }
    rule = made["rule"]
    assert (rule["commands"], rule["profiles"], rule["kinds"]) == (["make d"], ["builder"], ["execute"])
    (folder,) = rule["directories"]
    assert folder == ask["subject"]["directory"].replace(ask["agent_id"], "*")
    wide = offered(stage, ask, what="program", who="all", where="anywhere", lasts="always")
    what, rest = "any `make` command without high risk", "in any folder it works in, until you remove it"
    assert wide["words"] == f"Always allow {what} for every agent, {rest}."
    assert wide["rule"] == {
        "decision": "allow",
        "kinds": ["execute"],
        "commands": ["make **"],
        "when": 'risk != "high"',
        "note": "remembered from an answer about shell",
    }
    assert offered(stage, ask, decision="deny")["words"].startswith("Always deny `make d` for builder")


def test_the_answer_names_the_choice_and_the_hub_makes_the_rule(stage: Stage) -> None:
    for name in ("builder", "other"):
        stage.profile(name)
    ask = asking(stage, "SHELL make d", profile="builder")
    answered = stage.decide(ask["id"], "approve", scope="rule", remember={"lasts": "30d"})
    assert answered.status_code == 200, answered.text
    (rule,) = rules(stage)
    assert abs(rule["until"] - (answered.json()["answer"]["at"] + 30 * _DAY_MS)) < 1000
    assert is_free(stage, "SHELL make d", profile="builder")
    assert not is_free(stage, "SHELL make e", profile="builder")
    assert not is_free(stage, "SHELL make d", profile="other")


def test_a_rule_for_the_run_ends_with_it(stage: Stage) -> None:
    run = stage.start("SHELL make d\nSHELL make d\nSAY done")
    ask = stage.asked()
    assert stage.decide(ask["id"], "approve", scope="rule", remember={"lasts": "run"}).status_code == 200
    assert stage.end(run)["status"] == "completed", "the second call was not asked about"
    assert not is_free(stage, "SHELL make d")


def test_a_program_with_other_arguments_still_asks_where_the_risk_is_high(stage: Stage, tmp_path: Path) -> None:
    ask = asking(stage, "SHELL touch one")
    assert stage.decide(ask["id"], "approve", scope="rule", remember={"what": "program"}).status_code == 200
    assert is_free(stage, "SHELL touch two")
    assert not is_free(stage, f"SHELL touch {tmp_path}/far")
    assert not is_free(stage, "SHELL touch .git/hooks/pre-commit")
    for risky in ("python3 a.py", "sh a.sh", "git status x", "find . -name x -newer y", "timeout 5 make"):
        asked = asking(stage, f"SHELL {risky}")
        assert "program" not in options(offered(stage, asked))["what"], risky
        stage.decide(asked["id"], "deny")


def test_what_is_remembered_of_a_line_does_not_hold_for_its_parts_or_elsewhere(stage: Stage, tmp_path: Path) -> None:
    line = "mkdir -p sub && cd sub && touch data"
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    ask = asking(stage, f"SHELL {line}", directory=str(here))
    assert offered(stage, ask)["words"] == f"Always allow `{line}` for rehearsal, in `{here}`, for 90 days."
    assert stage.decide(ask["id"], "approve", scope="rule").status_code == 200
    assert is_free(stage, f"SHELL {line}", directory=str(here))
    assert not is_free(stage, "SHELL touch data", directory=str(here))
    assert not is_free(stage, f"SHELL {line}", directory=str(there))


def test_the_sentence_shows_all_that_the_rule_would_allow(stage: Stage) -> None:
    line = f"make {' '.join(f'part{n}' for n in range(200))} the-very-end"
    ask = asking(stage, f"SHELL {line}")
    assert f"Always allow `{line}` for rehearsal" in offered(stage, ask)["words"]
    done_by_cli = done(stage.hub.data, "ask", "approve", ask["id"], "--for", "rule", "--dry-run")
    assert f"`{line}`" in done_by_cli.err


def test_the_sentence_about_a_file_names_the_whole_path_that_the_rule_holds(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("")
    (tmp_path / "here").symlink_to(tmp_path / "there")
    made = offered(stage, asking(stage, "WRITE here words", directory=str(tmp_path)))
    assert made["rule"]["paths"] == [f"{tmp_path}/here", f"{tmp_path}/there"]
    assert f"writing `{tmp_path}/here, {tmp_path}/there` for rehearsal" in made["words"]


def test_a_rule_that_holds_the_key_of_a_call_says_in_its_note_which_call_that_is(stage: Stage) -> None:
    line = "mkdir -p sub && touch sub/data"
    rule = offered(stage, asking(stage, f"SHELL {line}"))["rule"]
    assert (bool(rule["calls"]), rule["note"]) == (True, f"remembered from an answer about {line}")


def test_high_risk_becomes_a_rule_only_when_the_risk_is_named(stage: Stage, tmp_path: Path) -> None:
    ask = asking(stage, f"SHELL touch {tmp_path}/far")
    made = offered(stage, ask)
    assert (made["risk"], options(made)["what"], options(made)["who"]) == ("high", ["exact"], ["profile"])
    assert options(made)["lasts"] == ["run", "30d", "90d"]
    assert code(stage.decide(ask["id"], "approve", scope="rule")) == (409, "risk_not_named")
    wide = stage.decide(ask["id"], "approve", scope="rule", remember={"risk": "high", "who": "all"})
    assert code(wide) == (400, "bad_choice")
    assert (rules(stage), (tmp_path / "far").exists()) == ([], False)
    named = stage.decide(ask["id"], "approve", scope="rule", remember={"risk": "high"})
    assert named.status_code == 200, named.text
    assert is_free(stage, f"SHELL touch {tmp_path}/far")
    assert not is_free(stage, f"SHELL touch {tmp_path}/farther")


def test_what_it_would_have_answered_is_told(stage: Stage) -> None:
    stage.profile("counter")
    for _ in range(2):
        stage.decide(asking(stage, "SHELL make counted", profile="counter")["id"], "deny")
    ask = asking(stage, "SHELL make counted", profile="counter")
    trial = offered(stage, ask)["trial"]
    fitting = [one for one in trial["lines"] if one["fits"] == "yes" and one["would"] == "allow"]
    assert (len(fitting), trial["against_people"]) == (3, 2)


def test_a_choice_that_is_none_or_has_no_rule_is_refused(stage: Stage) -> None:
    ask = asking(stage, "SHELL make d")
    for wrong in ({"what": "host"}, {"what": "nonsense"}, {"rule": {"decision": "allow"}}):
        refused = stage.decide(ask["id"], "approve", scope="rule", remember=wrong)
        assert refused.status_code == 400, wrong
    assert code(stage.decide(ask["id"], "approve", remember={"lasts": "run"})) == (400, "bad_scope")
    assert code(stage.api.get(f"/api/policy/asked/{ask['id']}", params={"what": "tool"})) == (400, "bad_choice")
    assert rules(stage) == []


def test_only_an_operator_makes_a_rule(stage: Stage) -> None:
    ask = asking(stage, "SHELL make d")
    stage.api.post(f"/api/asks/{ask['id']}/delegate", json={"to": "room:kitchen"})
    body = {"kind": "room", "name": "cook", "room": "kitchen", "rights": ["answer"]}
    token = stage.api.post("/api/credentials", json=body).json()["token"]
    cook = httpx.Client(base_url=stage.hub.url, headers={"Authorization": f"Bearer {token}"})
    path, yes = f"/api/asks/{ask['id']}/answer", {"verdict": "approve", "digest": ask["digest"]}
    with cook:
        assert code(cook.post(path, json={**yes, "scope": "rule"})) == (403, "forbidden")
        assert cook.post(path, json=yes).status_code == 200


def test_the_command_line_says_the_sentence_and_remembers_it(stage: Stage, tmp_path: Path) -> None:
    ask = asking(stage, "SHELL make d")
    shown = done(stage.hub.data, "ask", "approve", ask["id"], "--for", "rule", "--rule", "where=anywhere", "--dry-run")
    assert "Always allow `make d` for rehearsal, in any folder it works in, for 90 days." in shown.err
    assert "It would have allowed" in shown.err
    assert rules(stage) == []
    wrong = greenroom(stage.hub.data, "ask", "approve", ask["id"], "--for", "rule", "--rule", "colour=red")
    assert (wrong.code, "is no choice" in wrong.err) == (1, True)
    stray = greenroom(stage.hub.data, "ask", "approve", ask["id"], "--rule", "lasts=30d")
    assert (stray.code, "--for rule" in stray.err) == (1, True)
    done(stage.hub.data, "ask", "approve", ask["id"], "--for", "rule", "--rule", "where=anywhere")
    assert [rule.get("directories") for rule in rules(stage)] == [None]
    risky = asking(stage, f"SHELL touch {tmp_path}/far")
    refused = greenroom(stage.hub.data, "ask", "approve", risky["id"], "--yes", "--for", "rule")
    assert (refused.code, "add --rule risk=high" in refused.err) == (1, True)
    done(stage.hub.data, "ask", "approve", risky["id"], "--yes", "--for", "rule", "--rule", "risk=high")
    assert len(rules(stage)) == 2
