"""Which agents a message wakes, and which mentioned ones it does not reach."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import msgspec

from greenroom.link.profile_definition import ProfileDefinition
from greenroom.log.log import Log
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import AGENTS, Agent
from greenroom.rules.agents.profiles import PROFILES, Profile
from greenroom.rules.runs.model import LIVE, RUNS
from greenroom.rules.runs.queries import is_invitable
from greenroom.rules.threads.events import MessagePosted
from greenroom.rules.threads.mentions import Mention, Roster, may_name_somebody
from greenroom.rules.threads.model import MESSAGES, OPEN_STATES, THREADS, Message, Thread
from greenroom.rules.threads.queries import find_members, get_member, is_for_people, is_mailbox_id
from greenroom.rules.threads.visible_agents import may_see_agent
from greenroom.sentences import Sentence, Words, build_sentence
from greenroom.services.presence import Presence

Why = Literal["mention", "reply", "handoff", "mail"]
_ASLEEP_TOLD = 3
_CROWD = 100
"""In a thread with more members the hub does not list which of them sleep."""
_LISTED = 200


class WakeTarget(NamedTuple):
    """Whom a message is for: a profile, and the agent of it that is to wake, or None for a new one."""

    why: Why
    profile: Profile
    agent: Agent | None


class UnreachedRecipient(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody whom a message names, or should have named, and whom it does not reach."""

    name: str
    """As it was written."""
    why: Words
    sentences: dict[str, Sentence] = {}
    agent_id: str | None = None
    profile: str | None = None
    remedy: Literal["", "wake", "invite"] = ""
    """What an operator can do about it, with POST /api/threads/{thread_id}/invite: wake the agent, or invite a new one
    from the profile."""


def find_targets(rows: Rows, message: Message, roster: Roster | None = None) -> Iterator[WakeTarget]:
    """Whom a message wakes: as their profiles say, and nobody by a word of its own."""
    thread = rows.get(THREADS, message.thread_id)
    if thread is None or thread.status not in OPEN_STATES or is_for_people(message):
        return
    author = rows.get(AGENTS, message.author_id)
    told: set[str] = set()
    for why, named in _find_called(rows, message, thread, roster or Roster(rows, thread)):
        profile, agent = named.profile, named.agent
        if profile is None or (agent is not None and agent.state != "registered"):
            continue
        if not _wakes(profile.definition, why, is_member=named.is_member, is_person=is_from_person(message)):
            continue
        own = author is not None and (agent.id == author.id if agent else profile.name == author.profile)
        place = agent.id if agent else profile.name
        if not own and place not in told:
            told.add(place)
            yield WakeTarget(why, profile, agent)


def is_from_person(message: Message) -> bool:
    """Whether a person has written a message."""
    return not message.agent and message.author_id != "system"


def _find_called(rows: Rows, message: Message, thread: Thread, roster: Roster) -> Iterator[tuple[Why, Mention]]:
    if thread.mailbox_of is not None:
        yield "mail", roster.resolve(thread.mailbox_of)
        return
    for named in roster.find_mentions(message):
        yield "mention", named
    if message.handoff_target is not None:
        yield "handoff", roster.resolve(message.handoff_target)
    answered = rows.get(MESSAGES, message.reply_to) if message.reply_to else None
    if answered is not None and answered.agent:
        yield "reply", roster.resolve(answered.author_id)


def _wakes(definition: ProfileDefinition, why: Why, *, is_member: bool, is_person: bool) -> bool:
    if not definition.enabled:
        return False
    return why in definition.wake_on or (is_person and is_member and definition.wake_for_people and why != "mail")


def find_unreached(
    rows: Rows, presence: Presence, by: Principal, message: Message, roster: Roster | None = None
) -> list[UnreachedRecipient]:
    """Everybody whom a message names and does not reach, with the reason and the remedy."""
    thread = rows.get(THREADS, message.thread_id)
    if thread is None or thread.status not in OPEN_STATES or message.author_id == "system":
        return []
    if not may_name_somebody(message) and thread.mailbox_of is None:
        return _find_asleep(rows, presence, message, thread)
    roster = roster or Roster(rows, thread)
    woken = {target.agent.id if target.agent else target.profile.name for target in find_targets(rows, message, roster)}
    out: dict[str, UnreachedRecipient] = {}
    for _, named in _find_called(rows, message, thread, roster):
        is_own = named.agent is not None and named.agent.id == message.author_id
        place = named.agent.id if named.agent else named.profile.name if named.profile else named.name
        if named.is_person or is_own or place in woken or place in out:
            continue
        if named.agent is not None and not (named.is_member or may_see_agent(rows, by, named.agent)):
            named = Mention(named.name)
        found = _get_unreached(rows, presence, message, thread, named, roster)
        if found is not None:
            out[place] = found
    return list(out.values())


async def look_for_unreached(
    log: Log, presence: Presence, by: Principal, event: MessagePosted
) -> list[UnreachedRecipient]:
    """Everybody whom a new message names and does not reach. Names are looked up in a thread: there may be many."""
    names_somebody = may_name_somebody(event)
    if event.agent and not names_somebody and not is_mailbox_id(event.thread_id):
        return []  # most messages are such: nothing is read for them
    message = log.rows.get(MESSAGES, event.message_id)
    if message is None:
        return []
    if not names_somebody:
        return find_unreached(log.rows, presence, by, message)
    return await log.store.read(lambda rows: find_unreached(rows, presence, by, message))


def _get_unreached(
    rows: Rows, presence: Presence, message: Message, thread: Thread, named: Mention, roster: Roster
) -> UnreachedRecipient | None:
    """Why somebody who is mentioned is not reached; None if they are."""
    agent, profile = named.agent, named.profile
    name = (agent.display_name or agent.name) if agent else named.name
    can_invite = profile is not None and is_invitable(rows, profile)

    def unreached(
        why: Sentence, remedy: Literal["", "wake", "invite"] = "invite" if can_invite else ""
    ) -> UnreachedRecipient:
        agent_id = agent.id if agent else None
        return UnreachedRecipient(
            name=named.name, why=why, agent_id=agent_id, profile=profile.name if profile else None, remedy=remedy
        )

    if agent is None and profile is None:
        near = roster.suggest(name)
        if near:
            return unreached(build_sentence("unreached.nobody_near", name=name, near=near))
        return unreached(build_sentence("unreached.nobody", name=name))
    if agent is None or not (named.is_member or thread.mailbox_of):
        if can_invite or profile is None:
            return unreached(build_sentence("unreached.not_member", name=name))
        return unreached(build_sentence("unreached.not_invitable", name=name))
    if agent.state != "registered":
        return unreached(build_sentence("unreached.left", name=name))
    if _has_heard(rows, presence, message, agent):
        return None
    if agent.profile is None:
        return unreached(build_sentence("unreached.away", name=name))
    if profile is None:
        return unreached(build_sentence("unreached.profile_deleted", name=name))
    if not profile.definition.enabled:
        return unreached(build_sentence("unreached.profile_off", name=name))
    if thread.mailbox_of is not None:
        return unreached(build_sentence("unreached.no_mail_wake", name=name), "")
    if is_from_person(message):
        return unreached(build_sentence("unreached.no_people_wake", name=name), "wake")
    return unreached(build_sentence("unreached.no_agents_wake", name=name), "wake")


def _find_asleep(rows: Rows, presence: Presence, message: Message, thread: Thread) -> list[UnreachedRecipient]:
    """Who sleeps, for a person who names nobody where nobody is awake; until somebody says something else."""
    if not is_from_person(message) or message.seq != thread.current_seq:
        return []
    belonging = find_members(rows, thread.id)
    if len(belonging) > _CROWD:
        return []
    members = [rows.get(AGENTS, member.member_id) for member in belonging]
    there = [agent for agent in reversed(members) if agent is not None and agent.state == "registered"]
    if any(_has_heard(rows, presence, message, agent) for agent in there):
        return []
    asleep = [(agent, rows.get(PROFILES, agent.profile)) for agent in there if agent.profile is not None]
    out = []
    for agent, profile in asleep[:_ASLEEP_TOLD]:
        if profile is not None and profile.definition.enabled:
            name = agent.display_name or agent.name
            mentioned = _wakes(profile.definition, "mention", is_member=True, is_person=True)
            why = build_sentence("unreached.mention_wakes" if mentioned else "unreached.asleep", name=name)
            out.append(UnreachedRecipient(name=name, why=why, agent_id=agent.id, profile=profile.name, remedy="wake"))
    return out


def _has_heard(rows: Rows, presence: Presence, message: Message, agent: Agent) -> bool:
    """Whether an agent has read a message, is working and can read it, or has started since."""
    member = get_member(rows, message.thread_id, agent.id)
    listens = presence.is_waiting(agent.id) if agent.profile else presence.is_online(agent.id)
    if listens or is_up(rows, agent) or (member and member.delivered >= message.seq):
        return True
    newest = rows.find(RUNS, {"agent_id": agent.id}, order="created_at", desc=True, limit=1)
    return bool(newest) and newest[0].seq > message.seq


def is_up(rows: Rows, agent: Agent) -> bool:
    """Whether an agent is at a run, or about to be: then it reads by itself, or is woken again at the run's end."""
    return any(rows.count(RUNS, {"agent_id": agent.id, "status": status}) for status in LIVE)


def find_wakeable(rows: Rows, by: Principal) -> list[Agent]:
    """Sleeping agents of a thread that is open, which a person who writes there can wake. The newest only."""
    where = {"state": "registered", "process": "asleep", "kept_as": None}
    asleep = rows.find(AGENTS, where, after=("thread_id", ""), order="_seq", desc=True, limit=_LISTED)
    return [agent for agent in asleep if may_see_agent(rows, by, agent) and _is_wakeable(rows, agent)]


def _is_wakeable(rows: Rows, agent: Agent) -> bool:
    thread = rows.get(THREADS, agent.thread_id or "")
    profile = rows.get(PROFILES, agent.profile or "")
    is_member = thread is not None and get_member(rows, thread.id, agent.id) is not None
    return bool(is_member and thread and thread.status in OPEN_STATES and profile and profile.definition.enabled)
