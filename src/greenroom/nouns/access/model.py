"""Principals and the credentials that prove them."""

from typing import ClassVar, Literal

from greenroom.log.model import Actor, Command, Event, Row, Table

Kind = Literal["operator", "viewer", "room", "agent", "node", "webhook", "anonymous", "hub"]

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


class Principal(Actor, frozen=True, kw_only=True):
    """Somebody proven by a credential. `threads` limits what it sees to those threads; None is no limit.

    `room` is the group of people that a room's credential stands for.
    """

    kind: Kind
    name: str
    rights: frozenset[str]
    agent_id: str | None = None
    credential: str | None = None
    threads: frozenset[str] | None = None
    room: str | None = None
    expires_at: int | None = None

    @property
    def operates(self) -> bool:
        return "operate" in self.rights

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


class Credential(Row, frozen=True, kw_only=True):
    """A token or a browser session, kept as the digest of its secret."""

    id: str
    kind: str
    name: str
    digest: str
    rights: list[str]
    created_at: int
    created_by: str
    agent_id: str | None = None
    threads: list[str] | None = None
    room: str | None = None
    expires_at: int | None = None
    revoked_at: int | None = None
    browser: bool = False


CREDENTIALS = Table(
    "credential", Credential, ("id",), (("kind", "revoked_at"), ("agent_id", "revoked_at"), ("revoked_at",), ("_seq",))
)


class CreateCredential(Command, frozen=True, kw_only=True):
    """Give a principal a new credential, never wider than that of who gives it."""

    credential_id: str
    kind: str
    name: str
    digest: str
    rights: list[str] | None = None
    agent_id: str | None = None
    threads: list[str] | None = None
    room: str | None = None
    expires_at: int | None = None
    browser: bool = False


class RevokeCredential(Command, frozen=True, kw_only=True):
    """End a credential at once, on open connections too."""

    credential_id: str
    reason: str = ""


class CredentialCreated(Event, frozen=True, kw_only=True):
    """A credential was given."""

    privileged: ClassVar[bool] = True
    credential_id: str
    kind: str
    name: str
    digest: str
    rights: list[str]
    agent_id: str | None = None
    threads: list[str] | None = None
    room: str | None = None
    expires_at: int | None = None
    browser: bool = False


class CredentialRevoked(Event, frozen=True, kw_only=True):
    """A credential was ended."""

    privileged: ClassVar[bool] = True
    credential_id: str
    reason: str = ""
