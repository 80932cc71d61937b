"""Who an agent is over MCP: registering, the two ways of identity, and being there."""

import asyncio
import json
from typing import Any

import httpx2
import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import LONG_MS, WAIT_S
from tests.conftest import checked
from tests.journeys.mcp_clients import NEW, OLD, Stage, Talker, contents, fresh

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("version", [OLD, NEW])


async def credential(hub: HubProcess, **fields: Any) -> dict[str, Any]:
    """A credential that the operator gives."""
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {hub.token}"}) as http:
        answer = await http.post(f"{hub.url}/api/credentials", json={"name": fresh("cred"), **fields})
    assert answer.status_code == 201, answer.text
    given: dict[str, Any] = answer.json()
    return given


async def enroller(stage: Stage) -> Talker:
    """A client whose one token may register several agents."""
    rights = ["read", "all", "chat", "register"]
    return await stage.talker((await credential(stage.hub, kind="agent", rights=rights))["token"])


@both_eras
async def test_an_agent_registers_and_gets_a_name_and_a_token(shared_hub: HubProcess, version: str) -> None:
    async with Stage(shared_hub, version) as stage:
        operator = await stage.operator()
        ide = fresh("Cursor")
        skills = [{"id": "s1", "name": "S"}]
        first = await operator.call(
            "agent_register",
            ide=ide,
            model="GPT-4",
            description="d",
            capabilities=["code"],
            skills=skills,
            display_name=f"{ide} Al",
            emoji="🐘",
        )
        assert (first["name"], first["display_name"], first["alias_source"]) == (f"{ide} (GPT-4)", f"{ide} Al", "user")
        assert (first["capabilities"], first["skills"][0]["id"], first["emoji"]) == (["code"], "s1", "🐘")
        assert first["last_activity"] == "registered"
        assert first["token"].startswith("gr_agent_")
        second = await operator.call("agent_register", ide=ide, model="GPT-4")
        assert (second["name"], second["display_name"], second["alias_source"]) == (
            f"{ide} (GPT-4) 2",
            f"{ide} (GPT-4) 2",
            "auto",
        )
        assert second["agent_id"] != first["agent_id"]
        assert (await operator.misfit("agent_register", ide="x"))["error"].startswith("Input validation error")
        assert (await operator.misfit("agent_register", ide="x", model="y", nick="z"))["path"] == "$"
        wrong_skill = [{"id": "a", "name": "b", "level": 9}]
        assert (await operator.misfit("agent_register", ide="x", model="y", skills=wrong_skill))["path"].startswith(
            "$.skills"
        )


async def test_no_agent_bears_a_name_that_could_be_taken_for_somebody_elses(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        operator = await stage.operator()
        for name in ("operator", "System", " hub ", "Оperator", "ad\u200bmin", ""):
            for field in ("ide", "model", "display_name"):
                me = {"ide": "x", "model": "y", field: name}
                if field != "display_name" or name:
                    said = await operator.call("agent_register", **me)
                    assert said["code"] in ("bad_name", "reserved_name"), me


async def test_registering_again_with_ones_own_token_is_the_same_agent(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann = await stage.agent()
        again = await ann.call("agent_register", ide="Other", model="M", description="anew")
        assert (again["agent_id"], again["token"]) == (ann.id, ann.token)
        shown = next(a for a in await ann.call("agent_list") if a["agent_id"] == ann.id)
        assert (shown["ide"], shown["description"]) == ("Other", "anew")
        topic = fresh("again")
        await ann.call("bus_connect", thread_name=topic, ide="Other", model="M")
        joined = await ann.call("bus_connect", thread_name=topic, emoji="🦉")
        assert joined["agent"]["agent_id"] == ann.id
        shown = next(a for a in await ann.call("agent_list") if a["agent_id"] == ann.id)
        assert (shown["ide"], shown["description"], shown["emoji"]) == ("Other", "anew", "🦉"), "what was said stays"


async def test_a_credential_made_for_an_agent_becomes_it_at_its_first_connect(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        given = await credential(shared_hub, kind="agent")
        client = await stage.talker(given["token"])
        early = await client.call("msg_wait", thread_id="x")
        assert early["code"] in ("agent_not_found", "thread_not_found")
        said = await client.call("bus_connect", thread_name=fresh("first"), ide=fresh("New"), model="M")
        assert (said["agent"]["agent_id"], said["agent"]["token"]) == (given["agent_id"], given["token"])
        again = await client.call("bus_connect", thread_name=fresh("second"))
        assert again["agent"]["agent_id"] == given["agent_id"]
        assert again["agent"]["name"] == said["agent"]["name"]


async def test_who_says_nothing_of_itself_is_shown_under_the_name_of_its_token(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        name = fresh("claude")
        client = await stage.talker((await credential(shared_hub, kind="agent", name=name))["token"])
        said = await client.call("bus_connect", thread_name=fresh("hello"))
        listed = await client.call("agent_list")
        assert [a["display_name"] for a in listed if a["agent_id"] == said["agent"]["agent_id"]] == [name]
        nameless = await stage.talker((await credential(shared_hub, kind="agent", name="hub"))["token"])
        assert "Unknown IDE" in (await nameless.call("bus_connect", thread_name=fresh("hello")))["agent"]["name"]


async def test_an_agent_is_listed_with_all_that_it_says_and_whether_it_is_there(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann = await stage.agent()
        changed = await ann.call("agent_update", description="new", capabilities=["x"], display_name="Annie")
        assert (changed["ok"], changed["description"], changed["display_name"]) == (True, "new", "Annie")
        assert changed["last_activity"] == "update"
        shown = next(a for a in await ann.call("agent_list") if a["agent_id"] == ann.id)
        assert set(shown) >= {
            "agent_id",
            "name",
            "ide",
            "model",
            "display_name",
            "alias_source",
            "description",
            "is_online",
            "capabilities",
            "skills",
            "last_heartbeat",
            "last_activity",
            "last_activity_time",
        }
        assert (shown["is_online"], shown["capabilities"], shown["last_activity"]) == (True, ["x"], "agent_list")


async def test_a_silent_agent_is_offline_and_a_waiting_one_is_not(tmp_path: Any) -> None:
    for hub in checked(HubProcess(tmp_path / "data", env={"GREENROOM_ONLINE_S": "1"})):
        async with Stage(hub) as stage:
            ann, bob = await stage.agents("presence")
            operator = await stage.operator()
            waiting = asyncio.create_task(bob.wait())
            async with asyncio.timeout(WAIT_S):
                while True:
                    online = {a["agent_id"]: a["is_online"] for a in await operator.call("agent_list")}
                    if not online[ann.id]:
                        break
            assert online[bob.id] is True, "who waits is there, however long"
            await ann.call("agent_heartbeat")
            online = {a["agent_id"]: a["is_online"] for a in await operator.call("agent_list")}
            assert online[ann.id] is True
            await ann.say("bye")
            await waiting


async def test_an_agent_leaves_and_comes_back(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann = await stage.agent()
        me = {"agent_id": ann.id, "token": ann.token}
        assert await ann.call("agent_heartbeat", **me) == {"ok": True}
        assert await ann.call("agent_unregister", **me) == {"ok": True}
        assert ann.id not in {a["agent_id"] for a in await ann.call("agent_list")}
        assert await ann.call("agent_heartbeat", **me) == {"ok": False}
        resumed = await ann.call("agent_resume", **me)
        assert (resumed["ok"], resumed["agent_id"], resumed["name"]) == (True, ann.id, ann.name)
        assert (resumed["is_online"], resumed["last_activity"]) == (True, "resume")
        assert ann.id in {a["agent_id"] for a in await ann.call("agent_list")}


async def test_asking_about_oneself_with_a_wrong_token_is_answered_by_ok_false(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agent(), await stage.agent()
        operator = await stage.operator()
        for tool in ("agent_heartbeat", "agent_resume", "agent_update", "agent_unregister"):
            for caller in (ann, operator):
                for me in (
                    {"agent_id": ann.id, "token": "bad"},
                    {"agent_id": ann.id, "token": bob.token},
                    {"agent_id": "nope", "token": ann.token},
                    {"agent_id": "nope", "token": "bad"},
                ):
                    said = await caller.call(tool, **me)
                    assert (said["ok"], said["error"]) == (False, "Invalid agent_id/token"), (tool, me)
        assert ann.id in {a["agent_id"] for a in await ann.call("agent_list")}


@both_eras
async def test_one_token_may_enrol_several_agents_and_speak_for_each(shared_hub: HubProcess, version: str) -> None:
    async with Stage(shared_hub, version) as stage:
        client = await enroller(stage)
        topic = fresh("several")
        one = await client.call("bus_connect", thread_name=topic, ide=fresh("One"), model="M")
        thread_id = one["thread"]["thread_id"]
        alone = await client.call("msg_wait", thread_id=thread_id, after_seq=0, timeout_ms=0, return_format="json")
        assert alone["reply_token"] == one["reply_token"], "one agent is meant without being named"
        said = await client.call(
            "msg_post",
            thread_id=thread_id,
            content="as the only one",
            expected_last_seq=0,
            reply_token=one["reply_token"],
        )
        assert (await client.call("msg_react", message_id=said["msg_id"], reaction="ok"))["agent_id"] == (
            one["agent"]["agent_id"]
        )
        one |= {"current_seq": said["current_seq"], "reply_token": said["reply_token"]}
        two = await client.call("bus_connect", thread_name=topic, ide=fresh("Two"), model="M")
        assert (one["agent"]["is_administrator"], two["agent"]["is_administrator"]) == (True, False)
        ids = [said["agent"]["agent_id"] for said in (one, two)]
        unnamed = await client.call("msg_wait", thread_id=thread_id, after_seq=0, timeout_ms=0)
        assert unnamed["code"] == "agent_required"
        assert (await client.call("msg_post", thread_id=thread_id, content="who?"))["code"] == "agent_required"
        posted = await client.call(
            "msg_post",
            thread_id=thread_id,
            author=ids[0],
            content="from one",
            expected_last_seq=one["current_seq"],
            reply_token=one["reply_token"],
        )
        assert posted["seq"]
        waited = await client.call("msg_wait", thread_id=thread_id, after_seq=0, agent_id=ids[1], return_format="json")
        assert contents(waited["messages"]) == ["as the only one", "from one"]
        by_token = await client.call(
            "msg_wait",
            thread_id=thread_id,
            after_seq=0,
            agent_id=ids[1],
            token=two["agent"]["token"],
            return_format="json",
        )
        assert by_token["reply_token"] == waited["reply_token"]
        edited = await client.call("msg_edit", message_id=posted["msg_id"], new_content="from one, edited")
        assert edited["edited_by"] == ids[0]
        resumed = await client.call("bus_connect", thread_id=thread_id, agent_id=ids[0], token=one["agent"]["token"])
        assert (resumed["agent"]["agent_id"], resumed["agent"]["token"]) == (ids[0], one["agent"]["token"])
        assert resumed["thread"]["created"] is False


async def test_nobody_speaks_for_an_agent_that_is_not_theirs(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann, bob = await stage.agents(fresh("theirs"))
        stranger = await enroller(stage)
        here = {"thread_id": ann.thread_id}
        for caller in (bob, stranger):
            posted = await caller.call(
                "msg_post", **here, author=ann.id, content="as ann", expected_last_seq=0, reply_token="x"
            )
            assert posted["code"] == "author_not_yours"
            waited = await caller.call("msg_wait", **here, agent_id=ann.id, timeout_ms=0)
            missing = await caller.call("msg_wait", **here, agent_id="agt_none", timeout_ms=0)
            assert waited["code"] == missing["code"] == "agent_not_found"
            assert waited["message"].replace(ann.id, "ID") == missing["message"].replace("agt_none", "ID")
            typing = await caller.call("agent_set_typing", **here, agent_id=ann.id, is_typing=True)
            assert typing["code"] == "agent_not_found"
            made = await caller.call("thread_create", topic=fresh("x"), agent_id=ann.id)
            assert made["code"] == "agent_not_found"
            joined = await caller.call("bus_connect", **here, agent_id=ann.id)
            assert joined["code"] == "agent_not_found"
        forged = await bob.call("msg_wait", **here, agent_id=ann.id, token=ann.token, timeout_ms=0)
        assert forged["error"] == "InvalidCredentials", "a token of another agent does not turn bob into ann"
        for wrong in ({"agent_id": ann.id, "token": "bad"}, {"token": "bad"}, {"token": shared_hub.token}):
            said = await stranger.call("msg_wait", **here, **wrong, timeout_ms=0)
            assert (said["error"], said["detail"]) == ("InvalidCredentials", "Invalid agent_id/token")
        assert contents(await ann.call("msg_list", **here, return_format="json"))[1:] == []


async def test_a_token_among_the_arguments_makes_the_call_its_agents_own(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        ann = await stage.agent()
        stranger = await enroller(stage)
        made = await stranger.call("thread_create", topic=fresh("by token"), agent_id=ann.id, token=ann.token)
        settings = await ann.call("thread_settings_get", thread_id=made["thread_id"])
        assert settings["admin_id"] == ann.id


@pytest.mark.parametrize("how", ["kick", "revoke"])
async def test_a_wait_by_a_token_that_ends_is_ended_with_it(shared_hub: HubProcess, how: str) -> None:
    async with Stage(shared_hub) as stage:
        ann = await stage.agent()
        await ann.join(fresh("ending"))
        operator = await stage.operator()
        waiting = asyncio.create_task(
            operator.call(
                "msg_wait", thread_id=ann.thread_id, after_seq=0, agent_id=ann.id, token=ann.token, timeout_ms=LONG_MS
            )
        )
        async with asyncio.timeout(WAIT_S):
            while not (await ann.call("thread_wait_state_get", thread_id=ann.thread_id))["count"]:
                pass
        headers = {"authorization": f"Bearer {shared_hub.token}"}
        async with httpx2.AsyncClient(base_url=shared_hub.url, headers=headers) as http:
            if how == "kick":
                assert (await http.post(f"/api/agents/{ann.id}/kick")).status_code == 200
            else:
                listed = (await http.get("/api/credentials")).json()
                (mine,) = [c["id"] for c in listed if c["agent_id"] == ann.id]
                assert (await http.delete(f"/api/credentials/{mine}")).status_code == 200
        said = await asyncio.wait_for(waiting, WAIT_S)
        assert said["error"] in ("InvalidCredentials", "agent_not_found")


async def test_connecting_registers_joins_and_brings_the_latest_messages(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        operator = await stage.operator()
        topic = fresh("connect")
        first = await operator.call(
            "bus_connect", thread_name=topic, ide=fresh("VS"), model="M", system_prompt="sp", display_name="Vi"
        )
        assert first["agent"]["registered"] is True
        assert first["agent"]["is_administrator"] is True
        assert first["thread"]["created"] is True
        assert first["thread"]["system_prompt"] == "sp"
        assert first["thread"]["administrator"] == {"agent_id": first["agent"]["agent_id"], "name": "Vi"}
        (prompt,) = first["messages"]
        assert set(prompt) == {"seq", "author", "role", "content", "created_at"}
        assert (prompt["seq"], prompt["role"]) == (0, "system")
        ann = await stage.agent()
        joined = await ann.join(topic)
        assert (joined["thread"]["created"], joined["agent"]["is_administrator"]) == (False, False)
        for number in range(130):
            await ann.post(str(number))
        bob = await stage.agent()
        latest = await bob.join(topic)
        assert contents(latest["messages"][1:]) == [str(n) for n in range(30, 130)]
        assert latest["has_more"] is True
        assert (await bob.post("having joined"))["seq"], "the context of a newcomer is the present one"
        cy = await stage.agent()
        middle = ann.context["current_seq"] - 110
        resumed = await cy.call("bus_connect", thread_id=bob.thread_id, after_seq=middle)
        assert len(resumed["messages"]) == 101
        assert resumed["has_more"] is True
        assert resumed["current_seq"] == resumed["messages"][-1]["seq"]
        assert (await cy.call("bus_connect", thread_id="thr_none"))["error"] == "Thread not found"
        assert (await cy.call("bus_connect"))["code"] == "thread_required"


async def test_typing_is_shown_to_whoever_follows_the_events(shared_hub: HubProcess) -> None:
    async with Stage(shared_hub) as stage:
        (ann,) = await stage.agents(fresh("typing"), 1)
        headers = {"authorization": f"Bearer {shared_hub.token}"}
        async with (
            httpx2.AsyncClient(base_url=shared_hub.url, headers=headers, timeout=WAIT_S) as http,
            http.stream("GET", "/events") as events,
        ):
            assert events.status_code == 200
            shown = asyncio.create_task(_first(events, "agent.typing"))
            async with asyncio.timeout(WAIT_S):
                while not shown.done():
                    mark = {"thread_id": ann.thread_id, "agent_id": ann.id, "is_typing": True}
                    assert await ann.call("agent_set_typing", **mark) == {"ok": True}
            assert (await shown).items() >= mark.items()


async def _first(events: Any, kind: str) -> Any:
    async for line in events.aiter_lines():
        if line.startswith("data:"):
            event = json.loads(line[5:])
            if event["type"] == kind:
                return event["payload"]
    raise AssertionError(f"no {kind}")


@both_eras
@pytest.mark.parametrize(
    ("path", "language", "source"), [("/mcp", "English", "default"), ("/mcp?lang=zh", "zh", "url")]
)
async def test_the_configuration_names_the_bus_and_the_language_that_was_asked_for(
    shared_hub: HubProcess, version: str, path: str, language: str, source: str
) -> None:
    async with Stage(shared_hub, version) as stage:
        client = await stage.talker(path=path)
        config = await client.call("bus_get_config")
        assert (config["preferred_language"], config["language_source"]) == (language, source)
        assert (config["bus_name"], config["endpoint"]) == ("Greenroom", shared_hub.url)
        assert config["version"]
