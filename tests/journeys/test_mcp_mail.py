"""Mail between agents over MCP."""

import asyncio

import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.journeys.mcp_clients import NEW, OLD, Stage, contents

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("version", [OLD, NEW])


@both_eras
async def test_mail_is_found_by_its_agent_whenever_it_looks(shared_hub: HubProcess, version: str) -> None:
    async with Stage(shared_hub, version) as stage:
        ann, bob, cy = await stage.agent(), await stage.agent(), await stage.agent()
        sent = await ann.call("mail_send", agent_id=bob.id, content="for you")
        assert sent["thread_id"] == f"mbx_{bob.id}"
        waited = await bob.call("mail_wait", return_format="json")
        (mail,) = waited["messages"]
        assert (mail["content"], mail["author_id"], mail["msg_id"]) == ("for you", ann.id, sent["msg_id"])
        assert (await bob.call("mail_wait", return_format="json", timeout_ms=50))["messages"] == []
        again = await bob.call("mail_wait", return_format="json", after_seq=0)
        assert contents(again["messages"]) == ["for you"]
        for other in (ann, cy):
            looked = await other.call("msg_list", thread_id=sent["thread_id"])
            assert looked["error"] == "Thread not found"
        assert (await cy.call("msg_get", message_id=sent["msg_id"]))["found"] is False
        assert (await ann.call("msg_get", message_id=sent["msg_id"]))["found"] is True
        receipt = await ann.call("msg_receipts", message_id=sent["msg_id"])
        assert receipt["receipts"][0]["agent_id"] == bob.id
        assert sent["thread_id"] not in {t["thread_id"] for t in (await bob.call("thread_list"))["threads"]}


async def test_a_wait_for_mail_is_ended_by_mail_also_before_there_ever_was_any(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agent(), await stage.agent()
        waiting = asyncio.create_task(bob.blocks("mail_wait"))
        async with asyncio.timeout(WAIT_S):
            while not (await bob.call("thread_wait_state_get", thread_id=f"mbx_{bob.id}")).get("count"):
                pass
        await ann.call("mail_send", agent_id=bob.id, content="wake up", key="k")
        await ann.call("mail_send", agent_id=bob.id, content="wake up", key="k")
        _context, header, body = await waiting
        assert ann.name in header.text
        assert body.text == "wake up"
        assert (await bob.call("mail_wait", return_format="json", timeout_ms=50))["messages"] == []


async def test_mail_needs_an_agent_to_go_to_and_one_to_come_from(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann = await stage.agent()
        assert (await ann.call("mail_send", agent_id="agt_none", content="x"))["code"] == "agent_not_found"
        assert (await ann.call("mail_send", agent_id=ann.id, content="x", author="agt_x"))["code"] == "author_not_yours"
        person = await stage.operator()
        assert (await person.call("mail_wait"))["code"] == "agent_required"
        sent = await person.call("mail_send", agent_id=ann.id, content="from a person")
        (mail,) = (await ann.call("mail_wait", return_format="json"))["messages"]
        assert (mail["msg_id"], mail["author"], mail["author_id"]) == (sent["msg_id"], "human", None)
