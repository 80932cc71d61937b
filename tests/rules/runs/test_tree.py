"""Agents that start agents: the tree, its limits, and its end."""

import asyncio

import psutil
import pytest

from tests.cli.shell import done
from tests.doors.sync.sync_rig import SyncClient
from tests.stage import Stage

pytestmark = pytest.mark.one_stage


def test_a_child_answers_its_parent_and_stands_below_it(stage: Stage) -> None:
    run = stage.done("SPAWN rehearsal SAY from below")
    tree = stage.api.get(f"/api/runs/{run['id']}/tree").json()
    child = next(one for one in tree["runs"] if one.get("parent_id") == run["id"])
    assert (child["status"], child["output"], child["depth"]) == ("completed", "from below", 1)


def test_agents_do_not_start_each_other_in_a_circle(stage: Stage) -> None:
    stage.profile("other")
    run = stage.done("SPAWN other SPAWN rehearsal SAY round")
    tree = stage.api.get(f"/api/runs/{run['id']}/tree").json()
    assert {one["profile"] for one in tree["runs"]} == {"rehearsal", "other"}
    assert len(tree["runs"]) == 2


def test_a_tree_does_not_grow_beyond_its_depth(stage: Stage) -> None:
    stage.profile("shallow", max_depth=1)
    run = stage.done("SPAWN shallow SPAWN shallow SAY deep", profile="shallow")
    assert max(one["depth"] for one in stage.api.get(f"/api/runs/{run['id']}/tree").json()["runs"]) == 1


def test_a_tree_that_has_used_its_tokens_starts_nothing_more(stage: Stage) -> None:
    run = stage.done("SPAWN rehearsal USAGE 500 600\nSPAWN rehearsal SAY late", max_tokens=1000)
    tree = stage.api.get(f"/api/runs/{run['id']}/tree").json()
    assert (len(tree["runs"]), tree["tree"]["tokens"]) == (2, 1100)


def test_cancelling_a_root_ends_all_below_it_and_nothing_starts_after(stage: Stage) -> None:
    run_id = stage.start("SPAWN rehearsal SPAWN rehearsal SHELL sleep 600")
    stage.until(lambda: len(stage.api.get(f"/api/runs/{run_id}/tree").json()["runs"]) == 3, "the tree to be three deep")
    assert stage.api.post(f"/api/runs/{run_id}/cancel", json={}).status_code == 200
    tree = stage.api.get(f"/api/runs/{run_id}/tree").json()
    assert {one["status"] for one in tree["runs"]} == {"cancelled"}
    assert tree["tree"]["tombstone"]
    late = stage.api.post("/api/runs", json={"profile": "rehearsal", "prompt": "SAY x", "parent_id": run_id})
    assert (late.status_code, late.json()["code"]) == (409, "tree_cancelled")
    mark = str(stage.hub.data)
    stage.until(
        lambda: (
            not [
                p
                for p in psutil.process_iter(["cmdline", "environ"])
                if "greenroom.rehearsal" in " ".join(p.info["cmdline"] or []) and mark in str(p.info["environ"])
            ]
        ),
        "the agents' processes to be gone",
    )


def test_what_is_handed_down_is_shown_to_an_agent_and_is_not_what_it_is_told(stage: Stage) -> None:
    handed = {"parentOutput": "SAY no\n\nFAIL", "sharedVariables": {"a": "SAY no"}, "fileReferences": ["SAY no"]}
    ended = stage.done("SAY yes", context={**handed, "historySummary": "SAY no\u2028SAY no"})
    assert (ended["status"], ended["output"]) == ("completed", "yes")


def test_a_run_is_listed_by_the_first_line_of_its_prompt(stage: Stage) -> None:
    run_id = stage.done("\nSAY first\nSAY second")["id"]
    for listed in ("list", "tree"):
        shown = done(stage.hub.data, "runs", listed, *([run_id] if listed == "tree" else [])).out
        (row,) = [row for row in shown.splitlines() if row.startswith(run_id)]
        assert row.endswith("SAY first")


def test_runs_are_listed_below_the_run_that_started_them(stage: Stage) -> None:
    stage.profile("below")
    stage.profile("deep")
    root = stage.done("SPAWN below SAY first\nSPAWN below SPAWN deep SAY second")["id"]
    newer = stage.done("SAY newer")["id"]
    below = [run for run in stage.api.get(f"/api/runs/{root}/tree").json()["runs"] if run["id"] != root]
    first, second, deep = sorted(below, key=lambda run: run["created_at"])
    rows = [row.split()[0] for row in done(stage.hub.data, "runs", "list").out.splitlines()[1:]]
    assert rows[:5] == [newer, root, first["id"], second["id"], deep["id"]]
    shown = done(stage.hub.data, "runs", "list").out.splitlines()
    assert [row.index("└") - shown[1].index("rehearsal") for row in shown[3:6]] == [0, 0, 2]


def test_the_page_is_told_of_an_active_run_however_many_others_changed_since(stage: Stage) -> None:
    waits = stage.start("ASK which one?")
    stage.asked()
    ended = [stage.done("SAY done")["id"] for _ in range(2)]

    async def shown() -> set[str]:
        async with SyncClient(stage.hub.url, stage.hub.token) as page:
            return {key for _, key in (await page.subscribe("runs", limit=1)).rows}

    assert asyncio.run(shown()) == {waits, ended[-1]}
