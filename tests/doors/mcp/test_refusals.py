"""Refusals of the MCP tools, by their codes."""

import asyncio
from typing import Any

import httpx
import pytest

from greenroom.testing.hub_process import HubProcess, wait_until
from tests.journeys.mcp_clients import Stage

CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("confirm_missing", "thread_delete", {"thread_id": "thr_none", "confirm": False}),
    ("step_missing", "workflow_control", {"run_id": "wfr_none", "action": "amend"}),
    ("bad_tool", "permission_request", {"tool_name": " ", "input": {}}),
    ("empty_query", "msg_search", {"query": " "}),
    ("bad_profile", "profile_put", {"name": "x", "definition": {"driver": 3}}),
]


@pytest.mark.parametrize(("code", "tool", "arguments"), CASES)
def test_a_wrong_call_is_refused_by_its_code(
    shared_hub: HubProcess, code: str, tool: str, arguments: dict[str, Any]
) -> None:
    async def call() -> Any:
        async with Stage(shared_hub) as stage:
            return await (await stage.operator()).call(tool, **arguments)

    assert asyncio.run(call())["code"] == code


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("ask_question", {"question": " ", "project_directory": "/"}),
        ("work_report", {"summary": " ", "project_directory": "/"}),
    ],
)
def test_an_ask_without_words_is_refused(shared_hub: HubProcess, tool: str, arguments: dict[str, Any]) -> None:
    async def call() -> Any:
        async with Stage(shared_hub) as stage:
            return await (await stage.agent()).call(tool, **arguments)

    assert asyncio.run(call())["error"] == "bad_ask"


def test_a_call_of_a_tool_that_is_not_there_is_in_the_audit(shared_hub: HubProcess) -> None:
    async def call() -> None:
        async with Stage(shared_hub) as stage:
            agent = await stage.agent()
            with pytest.raises(Exception, match="none"):
                await agent.client.call_tool("none", {})

    asyncio.run(call())
    headers = {"Authorization": f"Bearer {shared_hub.token}"}
    wait_until(lambda: "unknown_tool" in httpx.get(f"{shared_hub.url}/api/audit", headers=headers).text)
