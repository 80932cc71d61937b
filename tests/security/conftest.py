"""A hub in which everybody is at home who may try something: one principal of each kind, and things of theirs."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from greenroom.app import open_hub
from greenroom.ids import new_id, new_secret
from greenroom.link.tokens import new_token
from greenroom.rules.access.model import HUB, CreateCredential, Principal, RevokeCredential
from greenroom.rules.access.queries import get_principal
from greenroom.rules.agents.model import RegisterAgent
from greenroom.rules.threads.commands import CreateThread
from greenroom.rules.threads.model import MESSAGES
from greenroom.services.hub import Hub
from greenroom.settings import Settings
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import checked


@dataclass
class House:
    """The hub, the tokens of principals by name, the ids of agents by name, and threads by name."""

    hub: HubProcess
    tokens: dict[str, str] = field(default_factory=dict)
    agents: dict[str, str] = field(default_factory=dict)
    threads: dict[str, str] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)

    def client(self, who: str | None, **headers: str) -> httpx.Client:
        """An HTTP client of somebody, or of nobody."""
        proof = {} if who is None else {"Authorization": f"Bearer {self.tokens[who]}"}
        return httpx.Client(base_url=self.hub.url, headers={**proof, **headers}, timeout=WAIT_S)

    def call(self, who: str | None, method: str, path: str, **request: Any) -> httpx.Response:
        """One call of somebody."""
        with self.client(who) as client:
            return client.request(method, path, **request)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One house for a module; tests in it leave the furniture where it is."""
    house = House(HubProcess(tmp_path_factory.mktemp("house") / "data"))
    asyncio.run(_furnish(house))
    for _ in checked(house.hub):
        house.tokens["operator"] = house.hub.token
        yield house


async def _furnish(house: House) -> None:
    async with open_hub(house.hub.data, Settings(posts_per_minute=0, local_node=False)) as hub:
        for kind in ("viewer", "node", "webhook"):
            house.tokens[kind] = await give(hub, kind)
        house.tokens["enroller"] = await give(hub, "agent", rights=["read", "all", "chat", "register"])
        house.tokens["revoked"] = await give(hub, "operator")
        revoked = find_principal(hub, house.tokens["revoked"]).credential or ""
        await hub.log.do(RevokeCredential(by=HUB, credential_id=revoked))
        house.tokens["expired"] = await give(hub, "operator", expires_at=int(time.time() * 1000) + 200)
        for name in ("open", "closed_room"):
            house.threads[name] = new_id("thr")
            command = CreateThread(by=HUB, thread_id=house.threads[name], topic=name, nonce=new_secret(12))
            await hub.log.do(command)
            posted = await hub.bus.post(HUB, house.threads[name], None, f"said in {name}", strict=False)
            house.messages[name] = posted.event.message_id
        for name in ("ada", "bob"):
            await enrol(hub, house, name, HUB)
        confined = await give(hub, "agent", rights=["read", "chat", "all", "register"], threads=[house.threads["open"]])
        await enrol(hub, house, "confined", find_principal(hub, confined))
        ada = house.agents["ada"]
        await hub.bus.post_mail(HUB, ada, "for ada only")
        house.threads["mailbox"] = f"mbx_{ada}"
        house.messages["mailbox"] = hub.bus.rows.find(MESSAGES, {"thread_id": f"mbx_{ada}"})[0].id


async def give(hub: Hub, kind: str, **fields: Any) -> str:
    """A new credential's token."""
    token = new_token(kind)
    command = CreateCredential(
        by=HUB, credential_id=token.credential_id, kind=kind, name=kind, digest=token.digest, **fields
    )
    await hub.log.do(command)
    return token.text


async def enrol(hub: Hub, house: House, name: str, by: Principal) -> None:
    token = new_token("agent")
    house.agents[name], house.tokens[name] = new_id("agt"), token.text
    command = RegisterAgent(
        by=by,
        agent_id=house.agents[name],
        credential_id=token.credential_id,
        digest=token.digest,
        ide=name,
        model="test",
    )
    await hub.log.do(command)


def find_principal(hub: Hub, token: str) -> Principal:
    found = get_principal(hub.rows, token, hub.log.clock.now())
    assert found is not None
    return found


@pytest.fixture
def own_data(tmp_path: Path) -> Path:
    """A data directory that nobody has used yet."""
    return tmp_path / "data"
