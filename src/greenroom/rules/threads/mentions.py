"""Finds whom a message mentions: agents by id, name, display name or profile, and people. Members come first."""

import difflib
import itertools
import re
from collections.abc import Iterable
from typing import NamedTuple

from greenroom.log.model import Rows
from greenroom.rules.access.model import CREDENTIALS
from greenroom.rules.agents.model import AGENTS, Agent
from greenroom.rules.agents.names import compute_skeleton
from greenroom.rules.agents.profiles import PROFILES, Profile, find_profiles
from greenroom.rules.threads.events import MessagePosted
from greenroom.rules.threads.model import Message, Thread
from greenroom.rules.threads.queries import find_members, find_messages

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
"""Code is quoted: `@property` is no mention."""
_SIGN = re.compile(r"(?<![A-Za-z0-9_@./])@(?=\w)")
_WORDS = re.compile(r"[\w.-]{1,200}(?:[ ][\w.()-]{1,200}){0,3}")
_SEPARATOR = re.compile(r"[\s_-]")
_PEOPLE = ("operator", "viewer", "room")
_RECENT = 100
_MOST_NAMED = 100
"""Names that are looked up for one message: each takes a look at everybody who could be meant."""
_MOST_SUGGESTED = 20
_MOST_COMPARED = 500
_LONGEST_NAME = 200
"""How many unknown names are compared with how many known ones, and how much of each."""
_FAR = 2**53
_WIDE = 0x2E80
"""From here on, scripts are written without spaces between words."""


class Mention(NamedTuple):
    """One name in a message, and whom it means: nobody, if both `agent` and `profile` are None and it is no person."""

    name: str
    agent: Agent | None = None
    profile: Profile | None = None
    is_member: bool = False
    is_person: bool = False


class Labels:
    """Names by which somebody can be meant. Of two that read the same the first counts."""

    def __init__(self, labels: Iterable[tuple[str, Mention]]) -> None:
        self._meant: dict[tuple[int, str], Mention] = {}
        for label, mention in labels:
            self._meant.setdefault((len(label), _normalize_name(label)), mention)
        self._lengths = sorted({length for length, _ in self._meant}, reverse=True)

    def find_longest(self, text: str, start: int, *, whole: bool) -> Mention | None:
        """The longest name at a place in a text, or that is the whole of it, and who has it."""
        for length in self._lengths:
            end = start + length
            if end > len(text) or (whole and length != len(text)) or _goes_on(text, end):
                continue
            found = self._meant.get((length, _normalize_name(text[start:end])))
            if found is not None:
                return found._replace(name=text[start:end])
        return None


def may_name_somebody(message: Message | MessagePosted) -> bool:
    """Whether it is worth looking for names in a message: most have none."""
    named = message.mentions or message.handoff_target is not None or message.reply_to is not None
    return bool(named) or "@" in message.content


class Roster:
    """Who can be mentioned in one thread: its members, then profiles and agents elsewhere, then people."""

    def __init__(self, rows: Rows, thread: Thread) -> None:
        self._rows = rows
        found = [rows.get(AGENTS, member.member_id) for member in find_members(rows, thread.id)]
        agents = [agent for agent in reversed(found) if agent is not None]
        self.members = [agent for agent in agents if agent.state == "registered"]
        """Newest first."""
        self._left = [agent for agent in agents if agent.state != "registered"]
        newest = find_messages(rows, thread.id, before_seq=_FAR, limit=_RECENT)
        people = _build_people_labels({"human", *(m.author_name for m in newest if not m.agent)})
        self._near = Labels([*self._find_member_labels(), *people])
        profiles = [(label, profile) for profile in find_profiles(rows) for label in _find_profile_names(profile)]
        self._profiles = Labels((label, Mention(label, profile=profile)) for label, profile in profiles)
        shown = [agent.display_name or agent.name for agent in self.members]
        known = itertools.islice((*shown, *(label for label, _ in profiles)), _MOST_COMPARED)
        self._known = {one.casefold(): one for one in known}
        self._suggestions_left = _MOST_SUGGESTED
        held = [one for kind in _PEOPLE for one in rows.find(CREDENTIALS, {"kind": kind, "revoked_at": None})]
        self._people = Labels(_build_people_labels({one.name for one in held}))

    def resolve(self, name: str) -> Mention:
        """Whom a whole name means."""
        wanted = name.removeprefix("@").strip()
        is_name = len(wanted) <= _LONGEST_NAME
        return (self._find_at(wanted, 0, whole=True) if is_name else None) or Mention(wanted)

    def find_mentions(self, message: Message) -> list[Mention]:
        """Everybody that a message names, in its list of mentions and by @ in its text, each once."""
        text = _CODE.sub(" ", message.content)
        named = [self.resolve(name) for name in message.mentions[:_MOST_NAMED]]
        for sign in itertools.islice(_SIGN.finditer(text), _MOST_NAMED):
            found = self._find_at(text, sign.end()) or Mention(_get_unknown_word(text, sign.end()))
            named += [found] if found.name else []
        return list({_get_mention_key(mention): mention for mention in reversed(named)}.values())[::-1]

    def _find_at(self, text: str, start: int, *, whole: bool = False) -> Mention | None:
        """Who is mentioned at a place in a text, or by the whole of it."""
        words = [text] if whole else _find_first_words(text, start)
        return (
            self._near.find_longest(text, start, whole=whole)
            or self._get_kept_elsewhere(words)
            or self._profiles.find_longest(text, start, whole=whole)
            or self._get_elsewhere(words)
            or self._people.find_longest(text, start, whole=whole)
        )

    def _find_member_labels(self) -> list[tuple[str, Mention]]:
        profiles = {agent.id: self._get_profile(agent) for agent in (*self.members, *self._left)}
        labels = [(name, agent) for agent in self.members for name in _find_agent_names(agent)]
        for agent in self.members:
            profile = profiles[agent.id]
            labels += [(name, agent) for name in (_find_profile_names(profile) if profile else ())]
        labels += [(name, agent) for agent in self._left for name in _find_agent_names(agent)]
        return [(label, Mention(label, agent, profiles[agent.id], is_member=True)) for label, agent in labels]

    def _get_profile(self, agent: Agent) -> Profile | None:
        return self._rows.get(PROFILES, agent.profile) if agent.profile else None

    def _get_kept_elsewhere(self, words: list[str]) -> Mention | None:
        """An agent that is in another thread or in none, by its id or the name it is kept as."""
        for name in words:
            found = [self._rows.get(AGENTS, name), *self._rows.find(AGENTS, {"kept_as": name})]
            agent = next((one for one in found if one is not None and one.state == "registered"), None)
            if agent is not None:
                return Mention(name, agent, self._get_profile(agent))
        return None

    def _get_elsewhere(self, words: list[str]) -> Mention | None:
        """An agent that is in another thread or in none, by the name that is shown."""
        for name in words:
            looks = compute_skeleton(name)
            for agent in self._rows.find(AGENTS, {"looks": looks, "state": "registered"}, limit=1) if looks else ():
                return Mention(name, agent, self._get_profile(agent))
        return None

    def suggest(self, name: str) -> str:
        """The name that somebody probably mistyped; empty if none is similar, or too many were compared."""
        self._suggestions_left -= 1
        if self._suggestions_left < 0:
            return ""
        near = difflib.get_close_matches(name.casefold()[:_LONGEST_NAME], self._known, 1)
        return self._known[near[0]] if near else ""


def _build_people_labels(names: set[str]) -> list[tuple[str, Mention]]:
    return [(name, Mention(name, is_person=True)) for name in sorted(names)]


def _find_agent_names(agent: Agent) -> list[str]:
    return [name for name in (agent.id, agent.name, agent.display_name, agent.kept_as) if name]


def _find_profile_names(profile: Profile) -> list[str]:
    return [name for name in (profile.name, profile.definition.display_name) if name]


def _get_mention_key(mention: Mention) -> str:
    """What two mentions of the same have in common."""
    if mention.agent is not None:
        return mention.agent.id
    return f"profile {mention.profile.name}" if mention.profile is not None else _normalize_name(mention.name)


def _normalize_name(text: str) -> str:
    """A name as it is compared: without regard to case, and with one kind of separator."""
    return _SEPARATOR.sub("-", text).casefold()


def _goes_on(text: str, end: int) -> bool:
    """Whether the word that ends here has more letters; in scripts without spaces any letter may begin a new word."""
    last, follows = text[end - 1 : end], text[end : end + 1]
    if follows in ("-", "_", "."):
        last, follows = "a", text[end + 1 : end + 2]
    return last.isalnum() and follows.isalnum() and max(ord(last), ord(follows)) < _WIDE


def _find_first_words(text: str, start: int) -> list[str]:
    """What a name at this place could be: up to four words, then three, two and one."""
    words = _WORDS.match(text, start)
    parts = words[0].split(" ") if words else []
    return [" ".join(parts[:count]).rstrip(".-") for count in range(len(parts), 0, -1)]


def _get_unknown_word(text: str, start: int) -> str:
    """The word of a mention that is nobody's name; empty for what looks like a path or an address."""
    word = next(reversed(_find_first_words(text, start)), "")
    return "" if text[start + len(word) : start + len(word) + 1] in ("/", "@") else word.rstrip("_")
