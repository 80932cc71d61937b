"""A hub that holds much of everything: thousands of agents and threads, long messages, many rules, long workflows."""

import asyncio
import json
from collections.abc import Awaitable, Iterable
from typing import Any

from greenroom.app import open_hub
from greenroom.ids import new_id, new_secret
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.rules.access.model import HUB, RIGHTS, Principal
from greenroom.rules.agents.profiles import PutProfile
from greenroom.rules.policy.commands import PutRule
from greenroom.rules.policy.model import Rule
from greenroom.rules.threads.commands import CreateThread, IssueToken
from greenroom.services.hub import Hub
from greenroom.settings import Settings
from tests.security.conftest import House, enrol, find_principal, give

AGENTS, MEMBERS, THREADS, PROFILES, RULES = 3000, 1000, 4000, 500, 500
LONG, LONG_MESSAGES, SHORT_MESSAGES = "some words of a long text, " * 1200, 600, 3000
_AT_ONCE = 256


async def gather_crowd(house: House) -> None:
    """Furnish a house for a crowd; its hub is started afterwards."""
    async with open_hub(house.hub.data, Settings(posts_per_minute=0, local_node=False)) as hub:
        house.tokens["enroller"] = await give(hub, "agent", rights=["read", "chat", "register"])
        enroller = find_principal(hub, house.tokens["enroller"])
        names = [f"agent {number}" for number in range(AGENTS)]
        await do_all(enrol(hub, house, name, enroller) for name in names)
        member = find_principal(hub, house.tokens[names[0]])
        for topic in ("crowd", "long", "short", "doomed"):
            house.threads[topic] = await open_thread(hub, HUB, topic)
        await do_all(open_thread(hub, member, f"thread {number}") for number in range(THREADS))
        await do_all(join(hub, house, name) for name in names[:MEMBERS])
        await do_all(hub.log.do(profile(number)) for number in range(PROFILES))
        await do_all(hub.log.do(rule(number)) for number in range(RULES))
        for topic in ("long", "doomed"):
            await do_all(post(hub, house, topic, f"{number} {LONG}") for number in range(LONG_MESSAGES))
        await do_all(post(hub, house, "short", f"short message {number}") for number in range(SHORT_MESSAGES))
        house.tokens["viewer"] = await give(hub, "viewer")
        house.tokens["guest"] = await give(hub, "viewer", threads=[house.threads["crowd"], house.threads["short"]])


async def do_all(works: Iterable[Awaitable[Any]]) -> None:
    several = list(works)
    for start in range(0, len(several), _AT_ONCE):
        await asyncio.gather(*several[start : start + _AT_ONCE])


async def open_thread(hub: Hub, by: Principal, topic: str) -> str:
    thread_id = new_id("thr")
    await hub.log.do(CreateThread(by=by, thread_id=thread_id, topic=topic, nonce=new_secret(12)))
    return thread_id


def join(hub: Hub, house: House, name: str) -> Awaitable[Any]:
    agent = house.agents[name]
    itself = Principal(id=agent, kind="agent", name=agent, rights=RIGHTS["agent"], agent_id=agent)
    thread = house.threads["crowd"]
    return hub.log.do(IssueToken(by=itself, thread_id=thread, member_id=agent, nonce=new_secret(12)))


def post(hub: Hub, house: House, topic: str, content: str) -> Awaitable[Any]:
    return hub.bus.post(HUB, house.threads[topic], None, content, strict=False)


def profile(number: int) -> PutProfile:
    definition = ProfileDefinition(
        driver="command", command=["true"], display_name=f"Profile {number}", description="x" * 200
    )
    return PutProfile(by=HUB, name=f"profile{number}", definition=definition)


_ABOUT: tuple[dict[str, Any], ...] = (
    {"commands": ["program{} --option{} **"]},
    {"paths": ["/srv/{}/**", "*.x{}"]},
    {"hosts": ["host{}.example"]},
    {"when": "size(commands) > {} + 3000 && arguments.x == '1'"},
    {"arguments": {"command": "*a*b*c*{}"}},
)


def rule(number: int) -> PutRule:
    """A rule that is about no call of the tests, and has to be compared with all of them."""
    about = json.loads(json.dumps(_ABOUT[number % len(_ABOUT)]).replace("{}", str(number)))
    return PutRule(by=HUB, name=f"rule{number}", rule=Rule(decision="deny", **about))


def workflow_of(steps: int, needs: int, kind: str = "set: {a: 1}") -> str:
    """Steps that each depend on some that stand far above them."""
    lines = ["name: wide", "steps:"]
    for number in range(steps):
        before = sorted({f"s{(number * 31 + n * 97) % number}" for n in range(needs)} if number else ())
        lines.append(f"  - {{id: s{number}, {kind}, dependencies: {json.dumps(before)}}}")
    return "\n".join(lines)
