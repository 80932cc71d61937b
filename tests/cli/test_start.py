"""The hub is back at once, however much it holds."""

import asyncio
import subprocess
import sys
from pathlib import Path

import psutil

from greenroom.app import open_hub
from greenroom.ids import new_id
from greenroom.rules.access.model import HUB
from greenroom.rules.threads.commands import CreateThread, PostMessage
from greenroom.settings import Settings
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S

_MESSAGES = 10_000
_GROUP = 500
_LONG = ("acp", "connectrpc", "cryptography", "dbos", "httpx2", "jsonschema", "mcp", "psycopg", "pydantic", "pyte")


async def fill(data: Path) -> None:
    async with open_hub(data, Settings(posts_per_minute=0, local_node=False)) as hub:
        thread_id = new_id("thr")
        await hub.log.do(CreateThread(by=HUB, thread_id=thread_id, topic="Long", nonce="n"))
        for _ in range(_MESSAGES // _GROUP):
            await asyncio.gather(*[hub.log.do(_message(thread_id)) for _ in range(_GROUP)])


def _message(thread_id: str) -> PostMessage:
    return PostMessage(
        by=HUB,
        message_id=new_id("msg"),
        thread_id=thread_id,
        author=None,
        content="something that was said a while ago",
        nonce="n",
        strict=False,
    )


def seconds_to_ready(data: Path) -> float:
    """Processor time of a hub until it says that it is ready, so that a busy machine does not count."""
    with HubProcess(data) as hub:
        spent = psutil.Process(hub.pid).cpu_times()
        return float(spent.user + spent.system)


def test_a_hub_with_a_long_history_is_ready_as_soon_as_a_fresh_one(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path / "long"))
    fresh = min(seconds_to_ready(tmp_path / "fresh") for _ in range(3))
    long = min(seconds_to_ready(tmp_path / "long") for _ in range(3))
    assert long < fresh * 2


def test_nothing_that_takes_long_to_load_is_loaded_at_the_start() -> None:
    look = f"import sys, greenroom.app; print([name for name in {_LONG!r} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, timeout=WAIT_S, check=True)
    assert said.stdout.strip() == "[]", "load it where it is first needed, as doors/mcp/lazy_door.py does"
