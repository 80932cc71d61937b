"""What clients of both eras see of tools, resources and prompts."""

import asyncio
from typing import Any

import msgspec
import pytest
from mcp.shared.exceptions import MCPError

from greenroom.doors.mcp.tool import NoArgs, Resource, ResourceTemplate, Tool, build_schema
from greenroom.testing.timeouts import WAIT_S
from tests.doors.mcp.mcp_rig import NEW, OLD, serving, soon, text_of

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("version", [OLD, NEW])


@both_eras
async def test_a_principal_is_shown_the_tools_that_it_has_the_right_to_in_a_stable_order(version: str) -> None:
    async with serving() as rig:
        shown: dict[str, list[str]] = {}
        for who in ("ann", "vera", "opal"):
            async with rig.client(version, who) as client:
                assert client.protocol_version == version
                shown[who] = [tool.name for tool in (await client.list_tools()).tools]
        assert shown == {
            "ann": ["say", "wait", "fail", "show"],
            "vera": ["fail", "show"],
            "opal": ["say", "wait", "fail", "show", "close"],
        }


@both_eras
async def test_the_schema_names_every_field_and_forbids_others(version: str) -> None:
    async with serving() as rig, rig.client(version) as client:
        say = (await client.list_tools()).tools[0]
    assert say.input_schema == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "what to say", "maxLength": 100},
            "times": {"type": "integer", "minimum": 1, "default": 1},
            "tone": {"type": "string", "enum": ["calm", "loud"], "default": "calm"},
        },
        "required": ["text"],
        "additionalProperties": False,
    }


@both_eras
async def test_a_call_returns_its_value_as_one_block_of_json(version: str) -> None:
    async with serving() as rig, rig.client(version) as client:
        result = await client.call_tool("say", {"text": "你好", "times": 2})
    assert text_of(result) == {"by": "ann", "said": "你好你好", "language": None}
    assert result.is_error is False


@both_eras
@pytest.mark.parametrize("path", ["/mcp?lang=de", "/mcp/sse?lang=de"])
async def test_the_language_comes_from_the_address(version: str, path: str) -> None:
    async with serving() as rig, rig.client(version, path=path) as client:
        assert text_of(await client.call_tool("say", {"text": "hallo"}))["language"] == "de"
        config = await client.read_resource("chat://bus/config")
        assert msgspec.json.decode(config.contents[0].text) == {"preferred_language": "de"}  # type: ignore[union-attr]


@both_eras
async def test_a_result_may_hold_several_blocks_and_images(version: str) -> None:
    async with serving() as rig, rig.client(version) as client:
        result = await client.call_tool("show", {})
    assert [block.model_dump(by_alias=True, exclude_none=True) for block in result.content] == [
        {"type": "text", "text": "[1] ann (user)"},
        {"type": "text", "text": "hello"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
    ]


@both_eras
async def test_a_refusal_is_a_result_that_names_its_code_and_details(version: str) -> None:
    async with serving() as rig, rig.client(version) as client:
        refused = await client.call_tool("fail", {"how": "refused"})
        unavailable = await client.call_tool("fail", {"how": "unavailable"})
    assert text_of(refused) == {
        "error": "ReplyTokenInvalidError",
        "message": "Call msg_wait first.",
        "detail": "TOKEN_INVALID",
    }
    assert text_of(unavailable) == {
        "error": "busy",
        "code": "busy",
        "message": "Too many requests that take long are waiting: try again in a moment.",
        "key": "busy.requests",
        "params": {},
        "retry_after": 2.5,
    }
    assert refused.is_error is unavailable.is_error is False


@both_eras
async def test_a_failure_of_the_hub_is_told_without_its_inside(version: str, caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as rig, rig.client(version) as client:
        result = await client.call_tool("fail", {"how": "badly"})
        assert text_of(await client.call_tool("say", {"text": "still here"}))["said"] == "still here"
    assert result.is_error is True
    assert text_of(result)["error"] == "InternalError"
    assert "secret" not in text_of(result)["message"]
    assert "the secret of the hub" in caplog.text


@both_eras
@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({}, "$"),
        ({"text": 5}, "$.text"),
        ({"text": None}, "$.text"),
        ({"text": "x" * 101}, "$.text"),
        ({"text": "x", "times": 0}, "$.times"),
        ({"text": "x", "times": "2"}, "$.times"),
        ({"text": "x", "times": True}, "$.times"),
        ({"text": "x", "tone": "shrill"}, "$.tone"),
        ({"text": "x", "agent_id": "bob"}, "$"),
    ],
)
async def test_arguments_that_do_not_fit_are_refused_by_path_and_have_no_effect(
    version: str, arguments: dict[str, Any], path: str
) -> None:
    async with serving() as rig, rig.client(version) as client:
        result = await client.call_tool("say", arguments)
        assert rig.stage.said == []
    assert result.is_error is True
    answer = text_of(result)
    assert answer["path"] == path
    assert answer["error"].startswith("Input validation error: ")


@both_eras
async def test_a_forbidden_tool_looks_like_one_that_does_not_exist(version: str) -> None:
    async with serving() as rig, rig.client(version) as client:
        answers = []
        for name in ("close", "clos", "CLOSE", "greenroom.close"):
            with pytest.raises(MCPError) as refused:
                await client.call_tool(name, {})
            answers.append((refused.value.code, refused.value.message.replace(name, "NAME")))
    assert answers == [(-32602, "Unknown tool: NAME")] * 4


@both_eras
async def test_a_waiting_call_sends_progress_until_its_answer(version: str) -> None:
    heard: list[float] = []

    async with serving() as rig, rig.client(version) as client:

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            heard.append(progress)
            if len(heard) == 3:
                rig.stage.curtain.set()

        result = await asyncio.wait_for(client.call_tool("wait", {}, progress_callback=hear), WAIT_S)
    assert text_of(result) == {"has_progress": True}
    assert heard == sorted(set(heard))


@both_eras
async def test_a_client_that_cancels_ends_its_wait_in_the_hub(version: str) -> None:
    async with serving() as rig, rig.client(version) as client:
        call = asyncio.create_task(client.call_tool("wait", {}))
        await soon(rig.stage.started)
        call.cancel()
        await soon(rig.stage.ended)
        assert not rig.stage.curtain.is_set()
        assert text_of(await client.call_tool("say", {"text": "next"}))["said"] == "next"


@both_eras
async def test_resources_and_prompts_are_listed_and_read(version: str) -> None:
    async with serving() as rig, rig.client(version) as client:
        assert [r.uri for r in (await client.list_resources()).resources] == ["chat://bus/config"]
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "chat://threads/{thread_id}/state"
        (content,) = (await client.read_resource("chat://threads/thr%201/state")).contents
        assert (content.mime_type, content.text) == ("text/plain", "state of thr 1")  # type: ignore[union-attr]
        (prompt,) = (await client.list_prompts()).prompts
        assert prompt.arguments is not None
        assert [(a.name, a.required) for a in prompt.arguments] == [("thread_id", True)]
        got = await client.get_prompt("summarize_thread", {"thread_id": "t1"})
        assert got.messages[0].content.text == "Summarize t1."  # type: ignore[union-attr]


@both_eras
async def test_a_resource_or_prompt_that_is_not_there_is_an_error_of_the_protocol(version: str) -> None:
    async with serving() as rig, rig.client(version) as client:
        with pytest.raises(MCPError) as unknown:
            await client.read_resource("chat://nothing")
        assert unknown.value.code == (-32002 if version == OLD else -32602)
        with pytest.raises(MCPError, match="There is no such thread"):
            await client.read_resource("chat://threads/none/state")
        with pytest.raises(MCPError, match="Unknown prompt"):
            await client.get_prompt("nothing", {})
        with pytest.raises(MCPError, match="thread_id"):
            await client.get_prompt("summarize_thread", {})


async def nothing(_call: Any) -> Any:
    return None


class Skill(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str


class Nested(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    skills: list[Skill] | None = None


class Open(msgspec.Struct, frozen=True):
    text: str


def test_a_schema_holds_no_references() -> None:
    assert "$ref" not in str(build_schema(Nested))
    assert build_schema(Nested)["properties"]["skills"]["items"]["required"] == ["id"]


def test_a_field_that_may_be_left_out_is_shown_without_null() -> None:
    assert build_schema(Nested)["properties"]["skills"]["type"] == "array"
    assert build_schema(Nested)["required"] == []


def test_arguments_that_would_swallow_unknown_fields_are_not_taken() -> None:
    with pytest.raises(TypeError, match="forbid_unknown_fields"):
        Tool("x", "x", Open, "read", nothing)


def test_a_template_and_its_arguments_must_agree() -> None:
    with pytest.raises(ValueError, match="placeholders"):
        ResourceTemplate("chat://{other}", "x", "x", Skill, "read", nothing)
    assert Resource("chat://x", "x", "x", "read", nothing).mime_type == "application/json"
    assert build_schema(NoArgs)["properties"] == {}
