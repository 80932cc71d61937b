"""A hub inside the test, and something that happens in it."""

from pathlib import Path

from greenroom.app import NOUNS, open_hub
from greenroom.ids import new_id, new_secret
from greenroom.log.check_sqlite import check_sqlite
from greenroom.rules.access.model import HUB
from greenroom.rules.threads.commands import CreateThread
from greenroom.services.bus import PostResult
from greenroom.services.hub import Hub
from greenroom.settings import Settings

QUIET = Settings(posts_per_minute=0, local_node=False)


async def open_thread(hub: Hub, topic: str = "talk") -> str:
    """A thread to post in."""
    thread_id = new_id("thr")
    await hub.log.do(CreateThread(by=HUB, thread_id=thread_id, topic=topic, nonce=new_secret(12)))
    return thread_id


async def post(hub: Hub, thread_id: str, content: str, key: str | None = None) -> PostResult:
    """A message of the hub itself."""
    return await hub.bus.post(HUB, thread_id, None, content, strict=False, key=key)


async def talk(data: Path, messages: int) -> str:
    """Leave a data directory behind in which so many messages were posted; returns the thread."""
    async with open_hub(data, QUIET) as hub:
        thread_id = await open_thread(hub)
        for number in range(messages):
            await post(hub, thread_id, f"message {number}")
    return thread_id


def assert_in_order(data: Path) -> None:
    """Nothing is wrong with the data."""
    found = check_sqlite(data, NOUNS).findings
    assert not found, found
