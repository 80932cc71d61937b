"""Threads and templates over MCP, as the bus's clients know them."""

import asyncio

import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.journeys.mcp_clients import NEW, OLD, Stage, fresh

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("version", [OLD, NEW])


@both_eras
async def test_a_thread_is_created_once_and_its_creator_is_its_admin(shared_hub: HubProcess, version: str) -> None:
    async with Stage(shared_hub, version) as stage:
        ann = await stage.agent()
        topic = fresh("created")
        made = await ann.call("thread_create", topic=topic, system_prompt="be kind", metadata={"k": 1})
        assert {k: made[k] for k in ("topic", "status", "system_prompt", "template_id", "current_seq")} == {
            "topic": topic,
            "status": "discuss",
            "system_prompt": "be kind",
            "template_id": None,
            "current_seq": 0,
        }
        again = await ann.call("thread_create", topic=topic, system_prompt="be rude")
        assert (again["thread_id"], again["system_prompt"]) == (made["thread_id"], "be kind")
        assert again["reply_token"] != made["reply_token"]
        settings = await ann.call("thread_settings_get", thread_id=made["thread_id"])
        assert settings["admin_id"] == ann.id


async def test_a_thread_may_start_from_a_template(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann = await stage.agent()
        listed = await ann.call("template_list")
        assert [t["id"] for t in listed if t["is_builtin"]] == [
            "code-review",
            "security-audit",
            "architecture",
            "brainstorm",
        ]
        made = await ann.call("thread_create", topic=fresh("review"), template="code-review")
        template = await ann.call("template_get", template_id="code-review")
        assert (made["template_id"], made["system_prompt"]) == ("code-review", template["system_prompt"])
        unknown = await ann.call("thread_create", topic=fresh("x"), template="nope")
        assert unknown["error"] == "Template not found"


async def test_a_template_is_kept_once(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann = await stage.agent()
        mine = {"id": "mine", "name": "Mine", "system_prompt": "in verse", "default_metadata": {"a": 1}}
        kept = await ann.call("template_create", **mine)
        assert (kept["id"], kept["name"], kept["is_builtin"]) == ("mine", "Mine", False)
        assert (await ann.call("template_create", **mine))["code"] == "template_exists"
        assert (await ann.call("template_create", **{**mine, "id": "code-review"}))["code"] == "template_exists"
        shown = await ann.call("template_get", template_id="mine")
        assert (shown["system_prompt"], shown["default_metadata"]) == ("in verse", {"a": 1})
        assert (await ann.call("template_get", template_id="none"))["error"] == "Template not found"


async def test_threads_are_listed_newest_first_in_pages(hub: HubProcess) -> None:
    async with Stage(hub) as stage:
        ann = await stage.agent()
        made = await asyncio.gather(*(ann.call("thread_create", topic=f"t{n}") for n in range(7)))
        ids = {thread["thread_id"] for thread in made}
        everything = await ann.call("thread_list")
        assert {t["thread_id"] for t in everything["threads"]} == ids
        assert (everything["total"], everything["has_more"], everything["next_cursor"]) == (7, False, None)
        assert set(everything["threads"][0]) == {"thread_id", "topic", "status", "created_at"}
        times = [t["created_at"] for t in everything["threads"]]
        assert times == sorted(times, reverse=True)
        seen: list[str] = []
        before = None
        while True:
            page = await ann.call("thread_list", limit=2, before=before)
            assert page["total"] == 7
            seen += [t["thread_id"] for t in page["threads"]]
            before = page["next_cursor"]
            if not page["has_more"]:
                break
        assert seen == [t["thread_id"] for t in everything["threads"]]
        assert (await ann.call("thread_list", before="yesterday"))["error"] == "bad_cursor"
        assert (await ann.misfit("thread_list", status="bogus"))["path"] == "$.status"
        assert (await ann.misfit("thread_list", limit=-1))["path"] == "$.limit"


async def test_a_thread_goes_through_its_states(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("states"))
        place = {"thread_id": ann.thread_id}
        assert (await bob.call("thread_set_state", **place, state="review"))["ok"] is True
        assert (await ann.call("thread_get", **place))["status"] == "review"
        assert (await ann.misfit("thread_set_state", **place, state="closed"))["path"] == "$.state"
        assert (await bob.call("thread_close", **place))["code"] == "not_admin"
        assert (await ann.call("thread_close", **place, summary="all agreed"))["ok"] is True
        shown = await bob.call("thread_get", **place)
        assert (shown["status"], shown["summary"]) == ("closed", "all agreed")
        assert shown["closed_at"] is not None
        assert (await bob.call("thread_set_state", **place, state="discuss"))["code"] == "not_admin"
        assert (await ann.call("thread_set_state", **place, state="discuss"))["ok"] is True
        assert (await ann.call("thread_archive", **place))["status"] == "archived"
        listed = {t["thread_id"] for t in (await ann.call("thread_list"))["threads"]}
        assert ann.thread_id not in listed
        archived = {t["thread_id"] for t in (await ann.call("thread_list", include_archived=True))["threads"]}
        assert ann.thread_id in archived


async def test_a_deleted_thread_is_gone_after_a_confirmation(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("gone"))
        posted = await ann.post("x")
        place = {"thread_id": ann.thread_id}
        assert "error" in await ann.call("thread_delete", **place, confirm=False)
        assert (await bob.call("thread_delete", **place, confirm=True))["code"] == "not_admin"
        deleted = (await ann.call("thread_delete", **place, confirm=True))["deleted"]
        assert (deleted["thread_id"], deleted["message_count"]) == (ann.thread_id, 1)
        assert (await ann.call("thread_delete", **place, confirm=True))["error"] == "Thread not found"
        for tool in ("thread_get", "thread_settings_get", "thread_wait_state_get", "msg_list"):
            assert (await ann.call(tool, **place))["error"] == "Thread not found"
        assert (await ann.wait(timeout_ms=0))["error"] == "Thread not found"
        assert (await ann.post("late"))["error"] == "Thread not found"
        assert (await ann.call("msg_get", message_id=posted["msg_id"]))["found"] is False


async def test_settings_are_read_and_changed_one_by_one(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("settings"))
        place = {"thread_id": ann.thread_id}
        assert await bob.call("thread_settings_get", **place) == {
            "thread_id": ann.thread_id,
            "auto_administrator_enabled": True,
            "timeout_seconds": 60,
            "switch_timeout_seconds": 60,
            "admin_id": ann.id,
            "admin_name": ann.name,
            "auto_assigned_admin_id": None,
            "auto_assigned_admin_name": None,
        }
        assert await ann.call("thread_settings_update", **place, timeout_seconds=90) == {
            "ok": True,
            "auto_administrator_enabled": True,
            "timeout_seconds": 90,
            "switch_timeout_seconds": 60,
        }
        off = await ann.call("thread_settings_update", **place, auto_administrator_enabled=False)
        assert (off["auto_administrator_enabled"], off["timeout_seconds"]) == (False, 90)
        assert (await ann.misfit("thread_settings_update", **place, timeout_seconds=5))["path"] == "$.timeout_seconds"
        assert (await bob.call("thread_settings_update", **place, timeout_seconds=90))["code"] == "not_admin"


async def test_who_waits_is_shown_and_the_admin_may_end_the_meeting(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("meeting"))
        place = {"thread_id": ann.thread_id}
        assert await ann.call("thread_wait_state_get", **place) == {**place, "agents_waiting": [], "count": 0}
        waiting = asyncio.create_task(bob.wait(timeout_ms=50_000))
        async with asyncio.timeout(WAIT_S):
            while not (state := await ann.call("thread_wait_state_get", **place))["count"]:
                pass
        (waiter,) = state["agents_waiting"]
        assert set(waiter) == {"agent_id", "entered_at", "timeout_ms", "wait_call_id"}
        assert (waiter["agent_id"], waiter["timeout_ms"]) == (bob.id, 50_000)
        assert (await bob.call("close_meeting", **place, summary="mine"))["code"] == "not_admin"
        closed = await ann.call("close_meeting", **place, agent_id=ann.id, token=ann.token, summary="done")
        assert (closed["ok"], closed["waits_ended"]) == (True, 1)
        assert (await waiting)["thread_status"] == "closed"
        assert (await bob.call("thread_get", **place))["summary"] == "done"
