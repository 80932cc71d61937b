"""Whatever happens, and however often it is cut off: a client that applied only changes equals a fresh one."""

import asyncio
import os
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from greenroom.doors.sync import feed
from greenroom.errors import Refused
from greenroom.ids import new_id
from greenroom.rules.access.model import HUB
from greenroom.rules.agents.model import AGENTS, KickAgent, UnregisterAgent, UpdateAgent
from greenroom.rules.threads import commands as c
from greenroom.rules.threads.model import MESSAGES, TEMPLATES, THREADS
from greenroom.rules.threads.queries import build_mailbox_id, may_see_thread
from tests.doors.sync.sync_rig import Rig, SyncClient, serving

SEEDS = int(os.environ.get("SYNC_SEEDS", "4"))
STEPS = 100


class Play:
    """Does one random thing after the other to a hub, and keeps clients that watch it."""

    def __init__(self, rig: Rig, seed: int) -> None:
        self.rig = rig
        self.random = random.Random(seed)
        self.tokens: list[str] = []
        self.own = HUB
        self.clients: list[SyncClient] = []

    async def begin(self) -> None:
        """An operator, a viewer, and an agent that sees nothing but its own, each with a client."""
        enroller = await self.rig.token("agent", rights=["read", "chat", "register"])
        _, narrow = await self.rig.agent(self.rig.principal(enroller))
        self.own = self.rig.principal(narrow)
        self.tokens = [self.rig.operator, await self.rig.token("viewer"), narrow]
        for token in self.tokens:
            client = self.rig.client(token)
            await client.connect()
            await client.subscribe("threads")
            await client.subscribe("agents")
            await client.subscribe("templates")
            self.clients.append(client)
        await self.clients[0].subscribe("credentials")

    def some(self, table: Any) -> str:
        found = self.rig.hub.rows.find(table, order="_key")
        return str(table.key_of(self.random.choice(found))) if found else "none"

    def a_thread(self) -> str:
        return self.some(THREADS)

    async def act(self) -> None:
        """One random thing; a rule may refuse it."""
        do, pick = self.rig.hub.log.do, self.random
        thread, message, agent = self.a_thread(), self.some(MESSAGES), self.some(AGENTS)
        who = pick.choice([HUB, self.own])
        acts = [
            (4, lambda: self.rig.thread(by=who)),
            (20, lambda: self.rig.post(thread, "x" * pick.randrange(1, 400), by=who)),
            (3, lambda: asyncio.gather(*[self.rig.post(thread, f"{n}") for n in range(pick.randrange(2, 30))])),
            (4, lambda: self.rig.hub.bus.edit(HUB, message, new_id("text"))),
            (4, lambda: do(c.React(by=HUB, message_id=message, agent_id=None, reaction=pick.choice("abc")))),
            (2, lambda: do(c.Unreact(by=HUB, message_id=message, agent_id=None, reaction=pick.choice("abc")))),
            (2, lambda: do(c.SetThreadState(by=HUB, thread_id=thread, state=pick.choice(["review", "done"])))),
            (1, lambda: do(c.CloseThread(by=HUB, thread_id=thread, summary="s"))),
            (1, lambda: do(c.ArchiveThread(by=HUB, thread_id=thread))),
            (1, lambda: do(c.UnarchiveThread(by=HUB, thread_id=thread))),
            (2, lambda: do(c.DeleteThread(by=HUB, thread_id=thread))),
            (1, lambda: do(c.UpdateThreadSettings(by=HUB, thread_id=thread, timeout_seconds=pick.randrange(30, 99)))),
            (3, lambda: self.rig.hub.bus.post_mail(HUB, agent, "mail")),
            (1, lambda: self.delete_and_mail_at_once(agent)),
            (2, lambda: self.rig.agent()),
            (2, lambda: do(UpdateAgent(by=HUB, agent_id=agent, description=new_id("text")))),
            (1, lambda: do(UnregisterAgent(by=self.own, agent_id=agent))),
            (1, lambda: agent == self.own.agent_id or do(KickAgent(by=HUB, agent_id=agent))),
            (2, lambda: do(c.CreateTemplate(by=HUB, template_id=new_id("t"), name="n", system_prompt="p"))),
            (1, lambda: do(c.DeleteTemplate(by=HUB, template_id=self.some(TEMPLATES)))),
            (1, lambda: self.rig.token("viewer")),
        ]
        (act,) = pick.choices([act for _, act in acts], [weight for weight, _ in acts])
        with suppress(Refused):
            wished = act()
            if not isinstance(wished, bool):
                await wished

    async def delete_and_mail_at_once(self, agent: str) -> None:
        """A mailbox goes and comes again under the same key, in one commit."""
        delete = self.rig.hub.log.do(c.DeleteThread(by=HUB, thread_id=build_mailbox_id(agent)))
        await asyncio.gather(delete, self.rig.hub.bus.post_mail(HUB, agent, "again"), return_exceptions=True)

    async def disturb(self, client: SyncClient) -> None:
        """A client comes to look at a thread, leaves one, or loses its connection while things go on."""
        what = self.random.choices(["look", "leave", "cut", "nothing"], [3, 1, 3, 8])[0]
        looked_at = [key for view, key in client.held if view == "thread"]
        if what == "look" and ("thread", thread := self.a_thread()) not in client.held:
            await asyncio.gather(client.subscribe("thread", thread), self.rig_posts(thread))
        elif what == "leave" and looked_at:
            await client.unsubscribe("thread", self.random.choice(looked_at))
        elif what == "cut":
            await asyncio.gather(self.act(), self.rig_posts(self.a_thread()), client.drop())
            await self.act()
            await client.connect()

    async def rig_posts(self, thread: str) -> None:
        with suppress(Refused):
            for number in range(3):
                await self.rig.post(thread, f"meanwhile {number}")

    async def check(self) -> None:
        """Every client equals a fresh one of the same credential."""
        for client, token in zip(self.clients, self.tokens, strict=True):
            await client.caught_up()
            async with self.rig.client(token) as fresh:
                for (view, key), held in client.held.items():
                    now = await fresh.subscribe(view, key, limit=1000)
                    assert not now.more
                    assert held.rows == now.rows, (view, key, held.error, now.error)
            for _, ended in client.gone:  # only a mailbox comes back, when there is mail again
                thread = self.rig.hub.rows.get(THREADS, str(ended))
                hidden = thread is None or not may_see_thread(self.rig.hub.rows, self.rig.principal(token), thread)
                assert hidden or str(ended).startswith("mbx_")

    async def go_on(self) -> None:
        for step in range(STEPS):
            await self.act()
            await self.disturb(self.random.choice(self.clients))
            if step % 20 == 19:
                await self.check()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_client_that_applied_only_changes_equals_a_fresh_snapshot(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "FRAME_BYTES", 500)  # so that clients are cut off in the middle of a commit, too

    async def run() -> None:
        async with serving(tmp_path / "data") as rig:
            scene = Play(rig, seed)
            await scene.begin()
            await scene.go_on()
        async with serving(tmp_path / "data", port=rig.port) as again:
            scene.rig = again
            await scene.act()
            for client in scene.clients:
                assert client.closed == 1012
                await client.connect()
            await scene.check()
            await scene.go_on()
            for client in scene.clients:
                await client.drop()

    asyncio.run(run())
