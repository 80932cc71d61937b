"""Connections to registered MCP servers."""

import asyncio
from pathlib import Path

import pytest

from greenroom.app import open_hub
from greenroom.rules.servers.model import McpServer, ServerDefinition
from greenroom.services.tool_servers import LOGS, ToolServers
from greenroom.settings import Settings
from greenroom.testing.timeouts import WAIT_S

pytestmark = pytest.mark.anyio


CHATTER = """echo up >&2
while :; do echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'; done &
cat > /dev/null; kill $!"""


@pytest.mark.parametrize("before", ["", "read -r greeting\n"], ids=["starting", "talking"])
async def test_a_connection_ends_also_when_it_fails_while_it_is_cancelled(tmp_path: Path, before: str) -> None:
    definition = ServerDefinition(command=("sh", "-c", before + CHATTER))
    server = McpServer(name="chatter", definition=definition, source="api", changed_at=0)
    said = tmp_path / LOGS / "chatter.log"
    async with open_hub(tmp_path, Settings(local_node=False)) as hub:
        for _ in range(10):
            said.unlink(missing_ok=True)
            task = asyncio.create_task(ToolServers(hub)._hold(server))
            async with asyncio.timeout(WAIT_S):
                while not said.is_file() or not said.read_text():  # noqa: ASYNC110 a file has no event
                    await asyncio.sleep(0.01)
            task.cancel()  # in the middle of what the server says
            async with asyncio.timeout(WAIT_S):
                await asyncio.wait([task])
            assert task.cancelled()
