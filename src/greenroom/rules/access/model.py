"""Principals and the credentials that prove them."""

from typing import ClassVar, Literal, get_args

import msgspec

from greenroom.link.tokens import CredentialKind
from greenroom.log.model import Command, CommandActor, Event, Row, Table
from greenroom.sentences import Words
from greenroom.validation import Sent

CREDENTIAL_KINDS: tuple[CredentialKind, ...] = get_args(CredentialKind)
PrincipalKind = CredentialKind | Literal["anonymous", "hub"]

Right = Literal["read", "all", "chat", "register", "operate", "node", "trigger", "ask", "answer", "enter"]

RIGHTS: dict[str, frozenset[str]] = {
    "operator": frozenset({"read", "all", "chat", "register", "operate"}),
    "viewer": frozenset({"read", "all"}),
    "room": frozenset({"ask", "answer"}),
    "agent": frozenset({"read", "all", "chat"}),
    "node": frozenset({"node"}),
    "webhook": frozenset({"trigger"}),
    "anonymous": frozenset({"read", "chat", "register"}),
    "hub": frozenset({"read", "all", "chat", "register", "operate"}),
}
"""What each kind of principal may do by default.

read: look at what it may see · all: see every thread but mailboxes, not only those of its own making ·
chat: post and react · register: enrol agents · operate: everything else · node, trigger: their own doors ·
ask, answer: ask the people of a room, and be one of them.
"""

GRANTABLE: dict[str, frozenset[str]] = {**RIGHTS, "agent": RIGHTS["agent"] | {"register"}}
"""The widest rights that a credential of each kind may be given."""


OWNER_ID = "owner"
"""The person whose hub it is. The token in the data directory is theirs, and so is every login by one of its codes."""
OWNER_HANDLE = "human"
"""The id of the owner in threads. Clients of AgentChatBus know it, and it stays when the owner changes their name."""


class Principal(CommandActor, frozen=True, kw_only=True):
    """Somebody whom a credential identifies. `threads` limits what it sees to those threads; None is no limit.

    `room` is the group of people that a room's credential belongs to.
    """

    kind: PrincipalKind
    name: str
    rights: frozenset[str]
    agent_id: str | None = None
    credential: str | None = None
    threads: frozenset[str] | None = None
    room: str | None = None
    expires_at: int | None = None
    person_id: str | None = None
    """Who the person behind an operator's credential is: the same for all their tokens and logins."""
    person: str = ""
    """The name of that person; empty while the owner has given none."""
    handle: str = OWNER_HANDLE
    """The id of that person in threads."""

    @property
    def may_operate(self) -> bool:
        return "operate" in self.rights

    @property
    def is_confined(self) -> bool:
        """Whether it sees certain threads, what belongs to them, and nothing else of the hub."""
        return not self.may_operate and (
            self.threads is not None or (self.kind == "viewer" and "all" not in self.rights)
        )

    @property
    def is_program(self) -> bool:
        """Whether an agent speaks, or a program for the agents that it has enrolled."""
        return self.agent_id is not None or self.kind in ("agent", "anonymous")


HUB = Principal(id="hub", kind="hub", name="hub", rights=RIGHTS["hub"])
"""The hub itself, for what follows from rules and not from a person."""

ANONYMOUS = Principal(
    id="anonymous", kind="anonymous", name="anonymous", rights=RIGHTS["anonymous"], credential="anonymous"
)
"""Local programs without a credential, where the operator has allowed that."""


NOBODY = Principal(id="nobody", kind="anonymous", name="nobody", rights=frozenset())
"""Whoever calls a public endpoint."""


class CredentialFields(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that the event and the row of a credential share."""

    kind: CredentialKind
    name: str
    digest: str
    rights: list[str]
    agent_id: str | None = None
    threads: list[str] | None = None
    room: str | None = None
    expires_at: int | None = None
    browser: bool = False
    """Whether it is a login: good only as a cookie, together with the key that its page holds."""
    key_digest: str = ""
    """Of a login: the digest of that key. A login from before there were keys has none, and is good for nothing."""
    login_of: str | None = None
    """Of a login with a token: that token's credential, for which it acts and with which it ends."""
    person_id: str | None = None
    person: str = ""
    """The name of the person, the same on all their credentials."""
    device: str = ""
    """Of a login: the browser and the system that it runs on."""
    address: str = ""
    """Of a login: where it was last used from."""


class Credential(CredentialFields, Row, frozen=True, kw_only=True):
    """A token or a browser session, kept as the digest of its secret."""

    id: str
    created_at: int
    created_by: str
    revoked_at: int | None = None
    last_used_at: int | None = None


CREDENTIALS = Table(
    "credential",
    Credential,
    ("id",),
    (("kind", "revoked_at"), ("agent_id", "revoked_at"), ("revoked_at",), ("person_id",), ("login_of",), ("_seq",)),
)


class CreateCredential(Command, frozen=True, kw_only=True):
    """Give a principal a new credential, never wider than that of who gives it."""

    credential_id: str
    kind: Sent[CredentialKind]
    name: str
    digest: str
    rights: list[str] | None = None
    agent_id: str | None = None
    threads: list[str] | None = None
    room: str | None = None
    expires_at: int | None = None
    browser: bool = False
    key_digest: str = ""
    login_of: str | None = None
    person_id: str | None = None
    """The person whose further token or login it is; an operator's without one is that of a new person."""
    device: str = ""
    address: str = ""


class RevokeCredential(Command, frozen=True, kw_only=True):
    """End a credential at once, on open connections too."""

    credential_id: str
    reason: str = ""


class CredentialCreated(CredentialFields, Event, frozen=True, kw_only=True):
    """A credential was given."""

    privileged: ClassVar[bool] = True
    credential_id: str


class PersonNamed(Event, frozen=True, kw_only=True):
    """A person has given the name that others see."""

    privileged: ClassVar[bool] = True
    person_id: str
    name: str


class CredentialRevoked(Event, frozen=True, kw_only=True):
    """A credential was ended."""

    privileged: ClassVar[bool] = True
    credential_id: str
    reason: Words = ""
