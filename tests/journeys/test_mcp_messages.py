"""Reading, finding, changing and reacting to messages over MCP."""

import asyncio
import base64
from typing import Any

import httpx2
import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.journeys.mcp_clients import NEW, OLD, Stage, contents, fresh

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("version", [OLD, NEW])
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
GIF = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"


def kinds(blocks: list[Any]) -> list[str]:
    return [block.type if block.type == "text" else block.mime_type for block in blocks]


@both_eras
async def test_a_list_begins_with_the_system_prompt_and_gives_every_field(shared_hub: HubProcess, version: str) -> None:
    async with Stage(shared_hub, version) as stage:
        ann = await stage.agent()
        await ann.call("thread_create", topic=(topic := fresh("list")), system_prompt="be brief")
        await ann.join(topic)
        first = await ann.post("one")
        second = await ann.post(
            "two",
            role="assistant",
            priority="urgent",
            mentions=[ann.id],
            metadata={"stop_reason": "complete", "x": 1},
            reply_to_msg_id=first["msg_id"],
        )
        assert (second["priority"], second["stop_reason"], second["reply_to_msg_id"]) == (
            "urgent",
            "complete",
            first["msg_id"],
        )
        prompt, one, two = await ann.call("msg_list", thread_id=ann.thread_id, return_format="json")
        assert (prompt["seq"], prompt["msg_id"], prompt["author_id"]) == (0, f"sys-{ann.thread_id}", "system")
        assert prompt["content"].endswith("## This thread\n\nbe brief")
        assert one == {
            "msg_id": first["msg_id"],
            "thread_id": ann.thread_id,
            "seq": first["seq"],
            "author": ann.name,
            "author_id": ann.id,
            "author_name": ann.name,
            "role": "user",
            "content": "one",
            "created_at": one["created_at"],
            "metadata": None,
            "priority": "normal",
            "reply_to_msg_id": None,
            "edited_at": None,
            "edit_version": 0,
            "reactions": [],
        }
        assert two["metadata"] == f'{{"stop_reason":"complete","x":1,"mentions":["{ann.id}"]}}'
        assert (two["priority"], two["role"], two["reply_to_msg_id"]) == ("urgent", "assistant", first["msg_id"])


async def test_a_list_is_cut_as_asked(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(fresh("cut"), 1)
        posted = [await ann.post(str(n), priority="urgent" if n % 2 else "normal") for n in range(6)]
        here = {"thread_id": ann.thread_id, "return_format": "json"}
        bare = {**here, "include_system_prompt": False}
        assert contents(await ann.call("msg_list", **bare)) == ["0", "1", "2", "3", "4", "5"]
        assert contents(await ann.call("msg_list", **bare, limit=2)) == ["0", "1"]
        assert contents(await ann.call("msg_list", **here, after_seq=posted[3]["seq"])) == ["4", "5"]
        assert contents(await ann.call("msg_list", **bare, priority="urgent")) == ["1", "3", "5"]
        assert contents(await ann.call("msg_list", **bare, priority="urgent", limit=2)) == ["1", "3"]
        for wrong in ({"limit": 0}, {"limit": 10**18}, {"after_seq": -1}, {"after_seq": 10**30}, {"priority": "high"}):
            (name,) = wrong
            assert (await ann.misfit("msg_list", thread_id=ann.thread_id, **wrong))["path"] == f"$.{name}"


@both_eras
async def test_a_list_as_blocks_has_a_header_and_a_body_for_each_message(shared_hub: HubProcess, version: str) -> None:
    async with Stage(shared_hub, version) as stage:
        (ann,) = await stage.agents(fresh("blocks"), 1)
        posted = await ann.post("hello")
        prompt_head, _, head, body = await ann.blocks("msg_list", thread_id=ann.thread_id)
        assert prompt_head.text.startswith("[0] System (system) ")
        assert head.text.startswith(f"[{posted['seq']}] {ann.name} (user) ")
        assert body.text == "hello"


async def test_inline_images_become_image_blocks_and_what_is_none_is_named(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("images"))
        png = base64.b64encode(PNG).decode()
        gif = base64.b64encode(GIF).decode()
        attachments = [
            {"type": "image", "mimeType": "image/png", "data": png},
            {"type": "image", "data": f"data:image/png;base64,{gif}", "name": "really a gif"},
            {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"<svg onload=x>").decode()},
            {"type": "image", "data": "not base64!"},
            {"url": "/api/uploads/upl_none"},
            "nonsense",
        ]
        await ann.post("look", metadata={"attachments": attachments})
        here = {"thread_id": bob.thread_id, "after_seq": 1}
        shown = await bob.blocks("msg_wait", **here)
        assert kinds(shown) == ["text", "text", "text", "image/png", "image/gif", "text", "text", "text"]
        assert base64.b64decode(shown[3].data) == PNG
        assert all(block.text.startswith("[attachment not shown: ") for block in shown[5:])
        without = await bob.blocks("msg_wait", **here, include_attachments=False)
        assert kinds(without) == ["text", "text", "text"]
        bare = await bob.call("msg_wait", **here, return_format="json", include_attachments=False)
        assert bare["messages"][0]["metadata"] is None
        full = await bob.call("msg_list", **here, return_format="json")
        assert png in full[0]["metadata"]


async def test_an_uploaded_image_is_shown_to_who_reads_the_message(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(fresh("upload"), 1)
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {shared_hub.token}"}) as http:
            kept = await http.post(f"{shared_hub.url}/api/upload/image", files={"file": ("a.png", PNG, "image/png")})
        assert kept.status_code == 200, kept.text
        await stage.person_says(ann.thread_id, "see the picture", metadata={"images": [kept.json()]})
        shown = await ann.blocks("msg_wait", thread_id=ann.thread_id, after_seq=0)
        assert kinds(shown) == ["text", "text", "text", "image/png"]
        assert base64.b64decode(shown[3].data) == PNG


async def test_a_long_message_comes_whole(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("long"))
        long = "greenroom " * 20_000
        posted = await ann.post(long)
        assert (await bob.wait())["messages"][0]["content"] == long
        assert (await bob.call("msg_get", message_id=posted["msg_id"]))["message"]["content"] == long
        await ann.call("msg_edit", message_id=posted["msg_id"], new_content="short")
        history = await bob.call("msg_edit_history", message_id=posted["msg_id"])
        assert history["edits"][0]["old_content"] == long


@both_eras
async def test_a_message_is_found_by_its_id_and_by_its_words(shared_hub: HubProcess, version: str) -> None:
    async with Stage(shared_hub, version) as stage:
        (ann,) = await stage.agents(topic := fresh("find"), 1)
        word = f"zebra{topic[-1]}{version[:4]}"
        posted = await ann.post(f"a {word} crosses the road")
        got = await ann.call("msg_get", message_id=posted["msg_id"])
        assert (got["found"], got["message"]["seq"]) == (True, posted["seq"])
        assert await ann.call("msg_get", message_id="nope") == {"found": False, "message": None}
        found = await ann.call("msg_search", query=word)
        assert (found["total"], found["query"]) == (1, word)
        (hit,) = found["results"]
        assert {k: hit[k] for k in ("message_id", "thread_id", "thread_topic", "author", "seq", "snippet")} == {
            "message_id": posted["msg_id"],
            "thread_id": ann.thread_id,
            "thread_topic": topic,
            "author": ann.name,
            "seq": posted["seq"],
            "snippet": f"a <mark>{word}</mark> crosses the road",
        }
        assert (await ann.call("msg_search", query=word, thread_id=ann.thread_id))["total"] == 1
        assert (await ann.call("msg_search", query='"bad AND'))["results"] == []
        assert (await ann.call("msg_search", query="  "))["error"] == "query must not be empty"
        assert (await ann.call("msg_search", query=word, thread_id="none"))["error"] == "Thread not found"
        assert (await ann.misfit("msg_search", query=word, limit=201))["path"] == "$.limit"


async def test_only_its_author_changes_a_message_and_the_old_words_are_kept(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("edit"))
        posted = await ann.post("helo")
        one = {"message_id": posted["msg_id"]}
        edited = await ann.call("msg_edit", **one, new_content="hello")
        assert (edited["msg_id"], edited["version"], edited["edited_by"]) == (posted["msg_id"], 1, ann.id)
        assert await ann.call("msg_edit", **one, new_content="hello") == {"no_change": True, "version": 1}
        assert (await bob.call("msg_edit", **one, new_content="mine"))["code"] == "not_author"
        assert "error" in await ann.call("msg_edit", message_id="nope", new_content="x")
        history = await bob.call("msg_edit_history", **one)
        assert (history["current_content"], history["edit_version"]) == ("hello", 1)
        (edit,) = history["edits"]
        assert (edit["version"], edit["old_content"], edit["edited_by"]) == (1, "helo", ann.id)
        assert await bob.call("msg_edit_history", message_id="nope") == {"found": False, "message_id": "nope"}
        got = (await bob.call("msg_get", **one))["message"]
        assert (got["content"], got["edit_version"], got["edited_at"]) == ("hello", 1, edited["edited_at"])


async def test_a_reaction_counts_once_and_can_be_taken_back(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("react"))
        posted = await ann.post("agreed?")
        mine = {"message_id": posted["msg_id"], "agent_id": bob.id, "reaction": "agree"}
        first = await bob.call("msg_react", **mine)
        assert {k: first[k] for k in ("message_id", "agent_id", "agent_name", "reaction")} == {
            **mine,
            "agent_name": bob.name,
        }
        assert await bob.call("msg_react", **mine) == first
        got = await ann.call("msg_get", message_id=posted["msg_id"])
        assert got["message"]["reactions"] == [{"agent_id": bob.id, "reaction": "agree"}]
        assert (await ann.call("msg_react", **mine))["code"] == "author_not_yours"
        removed = {"removed": True, "message_id": posted["msg_id"], "reaction": "agree"}
        assert await bob.call("msg_unreact", **mine) == removed
        assert await bob.call("msg_unreact", **mine) == removed | {"removed": False}
        unknown = await bob.call("msg_react", message_id="nope", reaction="agree")
        assert (unknown["error"], unknown["code"]) == ("MESSAGE_NOT_FOUND", "message_not_found")


async def test_a_receipt_tells_how_far_a_message_has_come(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("receipt"))
        posted = await ann.post("read this")

        async def state() -> str:
            said = await ann.call("msg_receipts", message_id=posted["msg_id"])
            assert [r["agent_id"] for r in said["receipts"]] == [bob.id]
            return str(said["receipts"][0]["state"])

        async def until(wanted: str) -> None:
            async with asyncio.timeout(WAIT_S):
                while await state() != wanted:
                    pass

        assert await state() == "queued"
        await bob.wait()
        await until("delivered")
        await bob.wait(timeout_ms=0)
        await until("seen")
        await bob.post("I have")
        await until("acted")


async def test_what_is_for_people_only_is_hidden_from_agents_and_wakes_none(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(fresh("people"), 1)
        said = await stage.person_says(ann.thread_id, "between us", metadata={"visibility": "human_only"})
        waited = await ann.wait(timeout_ms=100)
        assert (waited["messages"], waited["current_seq"]) == ([], said["seq"])
        listed = await ann.call("msg_list", thread_id=ann.thread_id, return_format="json")
        assert "between us" not in str(listed)
        assert "between us" not in str(await ann.call("msg_get", message_id=said["id"]))
        assert "between us" not in str(await ann.call("msg_edit_history", message_id=said["id"]))
        assert (await ann.call("msg_search", query="between us"))["results"] == []
        person = await stage.operator()
        assert "between us" in str(await person.call("msg_get", message_id=said["id"]))


async def test_a_person_waits_and_answers_by_the_same_rules_as_agents(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(fresh("person"), 1)
        await ann.say("are you there?")
        person = await stage.operator()
        place = {"thread_id": ann.thread_id, "after_seq": 0, "timeout_ms": 0, "return_format": "json"}
        waited = await person.call("msg_wait", **place)
        assert (await person.call("msg_wait", **place))["reply_token"] == waited["reply_token"], "it is held until used"
        context = {"expected_last_seq": waited["current_seq"], "reply_token": waited["reply_token"]}
        posted = await person.call("msg_post", thread_id=ann.thread_id, content="I am", **context)
        assert posted["seq"] > waited["current_seq"]
        assert (await ann.wait())["messages"][-1]["author"] == "human"
