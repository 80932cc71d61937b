"""The sync rules, each as an agent meets it over MCP."""

import asyncio
import time
from typing import Any

import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import checked
from tests.journeys.mcp_clients import NEW, OLD, Stage, contents, fresh

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("version", [OLD, NEW])
SECRET = "AKIA" + "ABCDEFGHIJKLMNOP"


async def test_seq_is_one_number_over_the_whole_bus_and_a_thread_shows_its_highest(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(fresh("one"), 1)
        (bob,) = await stage.agents(fresh("two"), 1)
        seqs = [(await who.post("x"))["seq"] for who in (ann, bob, ann, bob)]
        assert seqs == sorted(set(seqs))
        state = await ann.call("thread_get", thread_id=ann.thread_id)
        assert state["current_seq"] == seqs[2]


@both_eras
async def test_a_context_is_issued_by_each_call_that_promises_one(shared_hub: HubProcess, version: str) -> None:
    async with Stage(shared_hub, version) as stage:
        ann = await stage.agent()
        topic = fresh("contexts")
        created = await ann.call("thread_create", topic=topic)
        joined = await ann.join(topic)
        waited = await ann.wait(timeout_ms=0)
        posted = await ann.post("hello")
        for said in (created, joined, waited, posted):
            assert isinstance(said["reply_token"], str)
            assert isinstance(said["current_seq"], int)
            assert said["reply_window"] == {"expires_at": "9999-12-31T23:59:59+00:00", "max_new_messages": 0}
        assert posted["current_seq"] == posted["seq"]
        assert (await ann.post("with the context of the post before"))["seq"] > posted["seq"]


async def test_a_token_is_good_once(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(fresh("once"), 1)
        first = ann.context
        posted = await ann.post("one")
        again = await ann.post("two", expected_last_seq=posted["seq"], reply_token=first["reply_token"])
        assert again["error"] == "ReplyTokenReplayError"
        assert again["detail"] == "TOKEN_REPLAY"
        assert again["action"] == "CALL_MSG_WAIT"


async def test_a_token_belongs_to_one_thread_and_one_agent(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("bound"))
        theirs = await ann.post("x", reply_token=bob.context["reply_token"])
        assert (theirs["error"], theirs["detail"]) == ("ReplyTokenInvalidError", "TOKEN_INVALID")
        here = ann.thread_id
        elsewhere = await ann.join(fresh("elsewhere"))
        ann.thread_id = here
        assert (await ann.post("x", reply_token=elsewhere["reply_token"]))["error"] == "ReplyTokenInvalidError"
        assert (await ann.post("x", reply_token="made up"))["error"] == "ReplyTokenInvalidError"
        assert contents(await ann.call("msg_list", thread_id=here, return_format="json"))[1:] == []


@pytest.mark.parametrize(
    "missing",
    [
        {"expected_last_seq": None},
        {"reply_token": None},
        {"reply_token": ""},
        {"expected_last_seq": None, "reply_token": None},
    ],
)
async def test_both_sync_fields_must_be_there(shared_hub: HubProcess, missing: dict[str, Any]) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(fresh("missing"), 1)
        said = await ann.post("x", **missing)
        assert said["error"] == "MissingSyncFieldsError"
        assert said["action"] == "CALL_MSG_WAIT"


async def test_sync_fields_that_are_left_out_are_missing(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(fresh("left out"), 1)
        said = await ann.call("msg_post", thread_id=ann.thread_id, content="x")
        assert said["error"] == "MissingSyncFieldsError"


@both_eras
async def test_who_missed_a_message_is_given_it_and_must_wait_before_posting(
    shared_hub: HubProcess, version: str
) -> None:
    async with Stage(shared_hub, version) as stage:
        ann, bob = await stage.agents(fresh("mismatch"))
        before = bob.context["current_seq"]
        posted = await ann.post("ann was first")
        refused = await bob.post("bob, not knowing")
        assert refused["error"] == "SeqMismatchError"
        assert refused["detail"] == f"SEQ_MISMATCH: expected_last_seq={before}, current_seq={posted['seq']}"
        assert (refused["expected_last_seq"], refused["current_seq"]) == (before, posted["seq"])
        assert refused["action"] == "READ_MESSAGES_THEN_CALL_MSG_WAIT"
        (unread,) = refused["new_messages_1st_read"]
        assert (unread["content"], unread["author_id"]) == ("ann was first", ann.id)
        waited = await bob.wait()
        assert contents(waited["messages"]) == ["ann was first"]
        assert (await bob.post("bob, knowing"))["seq"] > posted["seq"]


async def test_at_most_a_hundred_unread_messages_come_with_the_error(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("many"))
        for number in range(101):
            await ann.post(str(number))
        refused = await bob.post("x")
        assert contents(refused["new_messages_1st_read"]) == [str(n) for n in range(100)]


async def test_checks_come_in_the_order_that_clients_rely_on(tmp_path: Any) -> None:
    limited = HubProcess(tmp_path / "data", env={"GREENROOM_POSTS_PER_MINUTE": "1"})
    for hub in checked(limited):
        async with Stage(hub) as stage:
            ann, bob = await stage.agents("order")
            closed = await bob.call("thread_create", topic="closed")
            await bob.call("thread_close", thread_id=closed["thread_id"])
            stale = {"expected_last_seq": 0, "reply_token": "made up"}
            wrong = {"metadata": {"stop_reason": "bored"}, "content": SECRET, **stale}
            no_thread = await ann.call("msg_post", thread_id="thr_none", **wrong)
            assert no_thread["error"] == "Thread not found"
            assert (await ann.call("msg_post", thread_id=closed["thread_id"], **wrong))["code"] == "thread_closed"
            unfit = await ann.call("msg_post", thread_id=ann.thread_id, **wrong)
            assert (unfit["error"], unfit["code"]) == ("INVALID_ARGUMENT", "bad_stop_reason")
            no_answer = {"reply_to_msg_id": "msg_none", "content": SECRET, **stale}
            unfit = await ann.call("msg_post", thread_id=ann.thread_id, **no_answer)
            assert (unfit["error"], unfit["code"]) == ("INVALID_ARGUMENT", "bad_reply_to")
            used = ann.context
            assert (await ann.post("the one of this minute"))["seq"]
            blocked = await ann.call("msg_post", thread_id=ann.thread_id, content=SECRET, **stale)
            assert (blocked["error"], blocked["pattern"]) == ("Content blocked by filter", "AWS access key")
            limited_now = await ann.call("msg_post", thread_id=ann.thread_id, content="x")
            assert limited_now["error"] == "Rate limit exceeded"
            assert (limited_now["limit"], limited_now["window"]) == (1, 60)
            assert 0 < limited_now["retry_after"] <= 60
            still_good = await ann.wait(timeout_ms=0)
            assert still_good["reply_token"] == ann.context["reply_token"] != used["reply_token"]
            missing = await bob.post("x", expected_last_seq=None, reply_token="made up")
            assert missing["error"] == "MissingSyncFieldsError"
            assert (await bob.post("x", expected_last_seq=0, reply_token="made up"))[
                "error"
            ] == "ReplyTokenInvalidError"
            theirs = await bob.post("x", expected_last_seq=0, reply_token=used["reply_token"])
            assert theirs["error"] == "ReplyTokenInvalidError"
            void = await bob.post("x", expected_last_seq=0)
            assert void["error"] == "ReplyTokenReplayError", "a used token is told before an unseen message"
            await bob.wait()
            assert (await bob.post("x", expected_last_seq=0))["error"] == "SeqMismatchError"


async def test_a_refusal_that_is_no_sync_error_leaves_the_token_as_it_was(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(fresh("kept"), 1)
        assert (await ann.post(SECRET))["error"] == "Content blocked by filter"
        assert (await ann.post("x", metadata={"stop_reason": "bored"}))["error"] == "INVALID_ARGUMENT"
        assert (await ann.post("x", reply_to_msg_id="none"))["error"] == "INVALID_ARGUMENT"
        assert (await ann.post("  "))["code"] == "empty_content"
        assert (await ann.post("with the same token"))["seq"]


async def test_after_a_sync_error_all_tokens_are_void_and_the_next_wait_returns_at_once_and_once(
    shared_hub: HubProcess,
) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(topic := fresh("void"), 1)
        spare = await ann.call("thread_create", topic=topic)
        assert spare["reply_token"] != ann.context["reply_token"]
        assert (await ann.post("x", reply_token="made up"))["error"] == "ReplyTokenInvalidError"
        for token in (spare["reply_token"], ann.context["reply_token"]):
            assert (await ann.post("x", reply_token=token))["error"] == "ReplyTokenReplayError"
        refreshed = await ann.wait()
        assert refreshed["messages"] == []
        assert refreshed["reply_token"] not in (spare["reply_token"], None)
        started = time.monotonic()
        again = await ann.wait(timeout_ms=300)
        assert time.monotonic() - started >= 0.3, "a refresh is given once; then a wait waits"
        assert again["reply_token"] == refreshed["reply_token"]
        assert (await ann.post("with the fresh one"))["seq"]


async def test_a_wait_returns_what_is_there_at_once(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("there"))
        await ann.post("one")
        await ann.post("two")
        waited = await bob.wait(after_seq=0)
        assert contents(waited["messages"]) == ["one", "two"]
        assert waited["current_seq"] == waited["messages"][-1]["seq"]
        assert contents((await bob.wait(after_seq=waited["messages"][0]["seq"]))["messages"]) == ["two"]


@both_eras
async def test_a_wait_is_ended_by_a_post(shared_hub: HubProcess, version: str) -> None:
    async with Stage(shared_hub, version) as stage:
        ann, bob = await stage.agents(fresh("woken"))
        waiting = asyncio.create_task(bob.wait())
        await _until_waiting(stage, ann.thread_id)
        await ann.post("wake up")
        assert contents((await waiting)["messages"]) == ["wake up"]


async def test_a_wait_is_ended_by_a_person_who_posts_over_rest(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(fresh("person"), 1)
        waiting = asyncio.create_task(ann.wait())
        await _until_waiting(stage, ann.thread_id)
        await stage.person_says(ann.thread_id, "hello agent")
        (message,) = (await waiting)["messages"]
        assert (message["author"], message["author_id"], message["role"]) == ("human", None, "user")


async def test_a_wait_with_nothing_new_ends_in_time_and_the_held_token_comes_back(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(fresh("silence"), 1)
        held = ann.context["reply_token"]
        started = time.monotonic()
        waited = await ann.wait(timeout_ms=200)
        assert time.monotonic() - started >= 0.2
        assert (waited["messages"], waited["reply_token"]) == ([], held)


async def test_who_holds_no_token_and_is_behind_gets_one_at_once(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(fresh("behind"), 1)
        await ann.post("not for the newcomer")
        newcomer = await stage.agent()
        newcomer.thread_id, newcomer.context = ann.thread_id, {"current_seq": 0}
        first = await newcomer.wait(for_agent=newcomer.id)
        assert first["messages"] == []
        assert first["reply_token"]
        again = await newcomer.wait(for_agent=newcomer.id, after_seq=0, timeout_ms=200)
        assert again["reply_token"] == first["reply_token"]


async def test_with_for_agent_others_only_move_the_cursor(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("handoff"))
        waiting = asyncio.create_task(bob.wait(for_agent=bob.id))
        await _until_waiting(stage, ann.thread_id)
        await ann.post("for everybody")
        await ann.post("for ann", metadata={"handoff_target": ann.id})
        posted = await ann.post("for bob", metadata={"handoff_target": bob.id})
        assert posted["handoff_target"] == bob.id
        waited = await waiting
        assert contents(waited["messages"]) == ["for bob"]
        await ann.post("for nobody in particular")
        quiet = await bob.wait(for_agent=bob.id, timeout_ms=100)
        assert quiet["messages"] == []
        assert quiet["current_seq"] > waited["current_seq"]


async def test_with_for_agent_a_message_behind_hundreds_of_others_is_found(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("far"))
        for number in range(120):
            await ann.post(str(number))
        await ann.post("for bob", metadata={"handoff_target": bob.id})
        assert contents((await bob.wait(for_agent=bob.id))["messages"]) == ["for bob"]


async def test_a_long_backlog_comes_in_pages_and_cannot_be_skipped(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("pages"))
        for number in range(150):
            await ann.post(str(number))
        first = await bob.wait()
        assert len(first["messages"]) == 100
        assert first["has_more"] is True
        assert first["current_seq"] == first["messages"][-1]["seq"]
        refused = await bob.post("having read a part")
        assert refused["error"] == "SeqMismatchError"
        second = await bob.wait()
        assert contents(bob.read) == [str(n) for n in range(150)]
        assert "has_more" not in second
        assert (await bob.post("having read all"))["seq"]


async def test_without_after_seq_an_agent_goes_on_where_it_was(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("cursor"))
        heard: list[str] = []
        for number in range(5):
            await ann.say(f"ann {number}")
            heard += contents((await bob.wait(after_seq=None))["messages"])
            await bob.say(f"bob {number}")
            await ann.wait()
        assert heard == [f"ann {n}" for n in range(5)], "each once, and not what bob said itself"
        assert (await bob.wait(after_seq=None, timeout_ms=50))["messages"] == []


@both_eras
async def test_blocks_begin_with_the_context_and_give_each_message_a_header(
    shared_hub: HubProcess, version: str
) -> None:
    async with Stage(shared_hub, version) as stage:
        ann, bob = await stage.agents(fresh("blocks"))
        posted = await ann.post("hello *bob*", role="assistant")
        (message,) = (await bob.wait())["messages"]
        first, header, body = await bob.blocks("msg_wait", thread_id=bob.thread_id, after_seq=posted["seq"] - 1)
        assert f'{{"type":"sync_context","current_seq":{posted["seq"]},"reply_token":"' in first.text
        assert header.text == f"[{posted['seq']}] {ann.name} (assistant) {message['created_at']}"
        assert body.text == "hello *bob*"
        (only,) = await bob.blocks("msg_wait", thread_id=bob.thread_id, after_seq=posted["seq"], timeout_ms=0)
        assert '"type":"sync_context"' in only.text


async def test_closing_a_thread_releases_who_waits_and_says_so(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("closing"))
        waiting = asyncio.create_task(bob.wait())
        await _until_waiting(stage, ann.thread_id)
        await ann.call("thread_close", thread_id=ann.thread_id)
        waited = await waiting
        assert (waited["messages"], waited["thread_status"]) == ([], "closed")
        assert (await ann.post("too late"))["code"] == "thread_closed"


async def test_a_repeat_with_the_same_key_posts_nothing_twice(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(fresh("key"), 1)
        context = ann.context
        first = await ann.post("only once", key="k1")
        ann.context = context
        assert await ann.post("only once", key="k1") == first
        ann.context = context
        assert (await ann.post("something else", key="k1"))["error"] == "key_reused"
        listed = await ann.call("msg_list", thread_id=ann.thread_id, return_format="json")
        assert contents(listed)[1:] == ["only once"]


async def test_a_key_whose_post_was_refused_is_still_free(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("free key"))
        await ann.post("first")
        assert (await bob.post("second", key="k"))["error"] == "SeqMismatchError"
        assert (await bob.post("second", key="k"))["error"] == "ReplyTokenReplayError"
        await bob.wait()
        context = bob.context
        posted = await bob.post("second, knowing the first", key="k")
        assert posted["seq"]
        bob.context = context
        assert await bob.post("second, knowing the first", key="k") == posted
        mailed = await bob.call("mail_send", agent_id=ann.id, content="x", key="k")
        assert mailed["error"] == "key_reused"


async def _until_waiting(stage: Stage, thread_id: str, count: int = 1) -> None:
    """Until so many agents wait in the thread."""
    operator = await stage.operator()
    async with asyncio.timeout(WAIT_S):
        while (await operator.call("thread_wait_state_get", thread_id=thread_id))["count"] < count:
            pass
