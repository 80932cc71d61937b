"""Whatever is done to a log in whatever order, its rows are what its events make, and no number is missing."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from greenroom.app import NOUNS, open_hub
from greenroom.errors import Refused
from greenroom.ids import new_id, new_secret
from greenroom.log.check_sqlite import check_sqlite
from greenroom.log.model import Command
from greenroom.rules.access.model import HUB
from greenroom.rules.threads import commands as c
from greenroom.services.hub import Hub
from greenroom.settings import Settings
from tests.log.notebook import NOTEBOOK, OTHER, WRITER, EraseNote, StarNote, TearPage, WriteNote, open_notebook

LIMITS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
ids = st.sampled_from([f"n{n}" for n in range(6)])
pages = st.sampled_from(["a", "b"])
actors = st.sampled_from([WRITER, OTHER])
keys = st.none() | st.sampled_from(["k1", "k2", "k3"])
words = st.text(max_size=40)
notebook_commands: st.SearchStrategy[Command] = st.one_of(
    st.builds(WriteNote, by=actors, key=keys, id=ids, page=pages, text=words),
    st.builds(StarNote, by=actors, key=keys, id=ids),
    st.builds(EraseNote, by=actors, key=keys, id=ids),
    st.builds(TearPage, by=actors, key=keys, name=pages),
)
batches = st.lists(st.lists(notebook_commands, max_size=8), max_size=8)


@LIMITS
@given(batches=batches, restart=st.integers(0, 8))
def test_rows_equal_a_rebuild_after_any_commands_in_any_groups(batches: list[list[Command]], restart: int) -> None:
    async def run(data: Path) -> None:
        answers: dict[tuple[str, str], tuple[object, ...]] = {}
        for part in (batches[:restart], batches[restart:]):
            async with open_notebook(data) as log:
                for batch in part:
                    outcomes = await asyncio.gather(*[log.do(each) for each in batch], return_exceptions=True)
                    for command, outcome in zip(batch, outcomes, strict=True):
                        if isinstance(outcome, BaseException):
                            assert isinstance(outcome, Refused), outcome
                        elif command.key is not None and outcome.records:
                            first = answers.setdefault((command.by.id, command.key), outcome.records)
                            assert first == outcome.records

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))
        checked = check_sqlite(Path(folder), (NOTEBOOK,))
        assert checked.findings == []


threads = st.sampled_from(["t0", "t1", "t2"])
messages = st.sampled_from(["m0", "m1", "m2", "m3"])
text = st.text(min_size=1, max_size=30)
thread_commands: st.SearchStrategy[Command] = st.one_of(
    st.builds(c.CreateThread, by=st.just(HUB), thread_id=threads, topic=threads, nonce=st.just("nonce")),
    st.builds(
        c.PostMessage,
        by=st.just(HUB),
        message_id=messages,
        thread_id=threads,
        author=st.none(),
        content=text,
        nonce=st.just("nonce"),
        strict=st.just(False),
    ),
    st.builds(c.EditMessage, by=st.just(HUB), message_id=messages, content=text),
    st.builds(c.React, by=st.just(HUB), message_id=messages, agent_id=st.none(), reaction=st.just("+1")),
    st.builds(c.Unreact, by=st.just(HUB), message_id=messages, agent_id=st.none(), reaction=st.just("+1")),
    st.builds(c.IssueToken, by=st.just(HUB), thread_id=threads, member_id=st.just("human"), nonce=st.just("nonce")),
    st.builds(c.SetThreadState, by=st.just(HUB), thread_id=threads, state=st.sampled_from(["review", "done"])),
    st.builds(c.CloseThread, by=st.just(HUB), thread_id=threads),
    st.builds(c.ArchiveThread, by=st.just(HUB), thread_id=threads),
    st.builds(c.UnarchiveThread, by=st.just(HUB), thread_id=threads),
    st.builds(c.DeleteThread, by=st.just(HUB), thread_id=threads),
)


@settings(parent=LIMITS, max_examples=25)
@given(commands=st.lists(thread_commands, max_size=40), long=st.booleans())
def test_rows_of_threads_equal_a_rebuild_after_any_commands(commands: list[Command], long: bool) -> None:
    async def run(data: Path) -> None:
        async with open_hub(data, Settings(posts_per_minute=0, inline_content_chars=20)) as hub:
            for command in commands:
                try:
                    await hub.log.do(command)
                except Refused:
                    continue
            if long:
                await _talk_at_length(hub)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))
        assert check_sqlite(Path(folder), NOUNS).findings == []


async def _talk_at_length(hub: Hub) -> None:
    """Messages that are kept as files, in a thread that stays and in one that goes."""
    for topic in ("stays", "goes"):
        thread_id = new_id("thr")
        await hub.log.do(c.CreateThread(by=HUB, thread_id=thread_id, topic=topic, nonce=new_secret(12)))
        for content in ("the same long story in both", f"a long story of the one that {topic}"):
            await hub.bus.post(HUB, thread_id, None, content, strict=False)
    await hub.log.do(c.DeleteThread(by=HUB, thread_id=thread_id))
