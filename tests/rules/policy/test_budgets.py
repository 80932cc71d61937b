"""Budgets of a day and of a tree, used up by agents at work: what runs is asked about, and nothing new begins."""

import datetime
from typing import Any

import pytest

from greenroom.rules.access.model import HUB, RIGHTS, Principal
from greenroom.rules.asks.commands import AnswerAsk
from greenroom.rules.asks.model import ASKS
from greenroom.rules.policy.commands import LoadRules
from greenroom.rules.policy.model import Budget, Options
from greenroom.rules.runs.model import Tree, TreeLimits
from greenroom.rules.runs.pauses import raise_limits
from tests.rules.runs.test_runs_rules import Room
from tests.stage import Stage


def set_budget(stage: Stage, **budget: Any) -> None:
    """As an operator writes it into the file."""
    lines = "\n".join(f"{name} = {value}" for name, value in budget.items())
    file = stage.hub.data / "policy.toml"
    file.write_text(f"[options.budget]\n{lines}\n")
    file.chmod(0o600)
    stage.until(lambda: stage.api.get("/api/policy").json()["options"].get("budget") == budget, "the file to be read")


@pytest.mark.parametrize(
    ("budget", "script", "name"),
    [
        ({"usd_per_day": 1.5}, "USAGE 10 5 1.0", "usd_per_day"),
        ({"tokens_per_day": 1500}, "USAGE 900 100", "tokens_per_day"),
    ],
)
def test_what_a_day_may_use_ends_new_runs_and_the_calls_of_those_at_work_ask(
    stage: Stage, budget: dict[str, Any], script: str, name: str
) -> None:
    if datetime.datetime.now(datetime.UTC).strftime("%H:%M") >= "23:58":
        pytest.skip("the day ends")
    set_budget(stage, **budget)
    at_work = stage.start("SHELL touch first\nSHELL ls\nSAY done", profile="rehearsal")
    asked = stage.asked()
    assert stage.done(f"SAY one\n{script}")["status"] == "completed"
    last = stage.end(stage.start(f"SAY two\n{script}"))
    assert last["status"] in ("completed", "waiting")
    refused = stage.api.post("/api/runs", json={"profile": "rehearsal", "prompt": "SAY three"})
    assert (refused.status_code, refused.json()["code"]) == (429, "budget_spent")
    assert name in refused.json()["detail"]
    stage.decide(asked["id"], "approve")
    beyond = stage.asked()
    assert (beyond["rule"], beyond["run_id"]) == (f"budget.{name}", at_work), "reading would run without this"
    stage.decide(beyond["id"], "approve")
    assert stage.end(at_work)["output"] == "done"


@pytest.mark.parametrize(("verdict", "status"), [("approve", "completed"), ("deny", "cancelled")])
def test_a_run_beyond_its_time_asks_whether_it_may_go_on(stage: Stage, verdict: str, status: str) -> None:
    run_id = stage.start("SLEEP 3\nSLEEP 3", timeout_s=4)
    asked = stage.asked()
    assert (asked["kind"], asked["run_id"], asked["asker"]["key"]) == ("gate", run_id, "limit")
    assert stage.run(run_id)["waiting_for"] == "limit: 4 s of time are used"
    assert stage.decide(asked["id"], verdict).status_code == 200

    def is_over() -> bool:
        """Where the machine is busy, the second line of the script may need more time than it was given once."""
        for ask in stage.api.get("/api/asks", params={"state": "open"}).json()["asks"]:
            stage.decide(ask["id"], verdict)
        return stage.run(run_id)["status"] in ("completed", "cancelled", "failed")

    stage.until(is_over, "the run to be over")
    ended = stage.end(run_id)
    assert ended["status"] == status
    if verdict == "deny":
        assert ended["error"] == "it had reached a limit, and a person ended it"


def test_a_run_at_work_is_paused_when_the_day_is_used_up_and_once_more_on_the_next() -> None:
    room = Room()
    room.do(LoadRules(by=HUB, rules=[], options=Options(budget=Budget(tokens_per_day=100))))
    run = room.start()
    room.hear(run, type="opened", session="s", credential="c")
    assert room.hear(run, type="usage", input_tokens=90, output_tokens=0).status == "running"
    paused = room.hear(run, type="usage", input_tokens=110, output_tokens=0)
    assert str(paused.waiting_for) == "limit: the 100 tokens of this day (UTC) are used"
    (ask,) = room.find(ASKS)
    person = Principal(id="p", kind="operator", name="p", rights=RIGHTS["operator"])
    room.do(AnswerAsk(by=person, ask_id=ask.id, verdict="approve"))
    assert room.hear(run, type="usage", input_tokens=150, output_tokens=0).status == "running"
    room.now += 86_400_000
    assert room.hear(run, type="usage", input_tokens=151, output_tokens=0).status == "running"
    assert room.hear(run, type="usage", input_tokens=260, output_tokens=0).status == "waiting"
    assert room.refusal() == "budget_spent"


def test_a_tree_beyond_its_tokens_may_use_as_many_again_after_a_yes() -> None:
    limits = TreeLimits(max_tokens=1000, max_cost_usd=2.0)
    tree = Tree(root_id="r", limits=limits, tokens=1200, cost_usd=0.5)
    more = raise_limits(tree)
    assert (more.max_tokens, more.max_cost_usd) == (2200, 2.0)
