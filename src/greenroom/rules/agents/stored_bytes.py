"""Counts the bytes that agents, rooms and nodes have stored in the hub, and enforces their limits.

Counted are the events that a principal's commands bring, and the payload files that come with them. What a run says
comes from its node: it counts for the node at once, and for the agent when the run is over.
"""

from zlib import crc32

import msgspec

from greenroom.errors import Refused
from greenroom.log.model import Command, Context, Recorded, Row, Rows, Table, Tx
from greenroom.rules.access.model import ANONYMOUS, CREDENTIALS, HUB, Principal, PrincipalKind
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.nodes.model import NODES
from greenroom.settings import Settings

_LEVEL = 1 << 26
_SMALL = 2048
_SAMPLE = 16
_LISTED = 1000
_RETRY_S = 3600
_AGENTS = ("agent", "room", "anonymous")


class StoredBytes(Row, frozen=True, kw_only=True):
    """What one principal has stored in all."""

    id: str
    bytes: int = 0
    level: int = 0
    """The same in steps of 64 MiB, by which the largest are found: an index on each byte would cost more."""
    payer: str = ""
    """Whose total its bytes count for, if it is another's."""


STORED_BYTES = Table("stored_bytes", StoredBytes, ("id",), (("level",),))


def get_stored_bytes(rows: Rows, holder: str) -> int:
    """What somebody has stored in total, without an agent's run that is not over."""
    return _find_account(rows, holder).bytes


def add_stored_bytes(tx: Tx, holder: str, count: int) -> None:
    account = _find_account(tx, holder)
    if account.id != holder and tx.get(STORED_BYTES, holder) is None:
        tx.put(STORED_BYTES, StoredBytes(id=holder, payer=account.id))
    total = account.bytes + count
    tx.put(STORED_BYTES, StoredBytes(id=account.id, bytes=total, level=total // _LEVEL))


def _find_account(rows: Rows, holder: str) -> StoredBytes:
    """Where the bytes of somebody are counted. Every command asks for it, so that the payer is looked up once."""
    own = rows.get(STORED_BYTES, holder)
    payer = own.payer if own is not None else _find_payer(rows, holder)
    if own is not None and not payer:
        return own
    return rows.get(STORED_BYTES, payer or holder) or StoredBytes(id=payer or holder)


def count_event(tx: Tx, record: Recorded) -> None:
    """Count an event for the author of its command. Small events are sampled, and each sample counts for many.

    A row for each small event would cost a twentieth of a post. Nobody chooses the sample: it depends on the moment of
    the commit.
    """
    if record.by == HUB.id:
        return
    size = record.size + record.event.count_file_bytes()
    if size < _SMALL:
        if crc32(b"%d %d" % (record.seq, record.at)) % _SAMPLE:
            return
        size *= _SAMPLE
    add_stored_bytes(tx, record.by, size)


def need_quota(rows: Rows, command: Command, context: Context) -> None:
    """Refuse every command of an agent, a room or a node that has stored all that it may."""
    by = command.by
    if not isinstance(by, Principal) or not (limit := get_limit(by.kind, context.settings)):
        return
    stored = _find_account(rows, by.id).bytes
    if stored < limit:
        return
    if by.kind == "node":  # the reason of a connection's end, which is short
        raise Refused("quota_reached.node", "limited", details={"retry_after": _RETRY_S}, stored=stored, limit=limit)
    raise Refused("quota_reached.agent", "limited", details={"retry_after": _RETRY_S}, stored=stored, limit=limit)


def get_limit(kind: PrincipalKind, settings: Settings) -> int:
    """How many bytes a principal of this kind may store in all; 0 is no limit."""
    if kind == "node":
        return settings.max_node_bytes
    return settings.max_agent_bytes if kind in _AGENTS else 0


class NearLimit(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who has stored most of what is allowed, or all of it."""

    id: str
    name: str
    bytes: int
    limit: int
    setting: str


def find_near_limit(rows: Rows, settings: Settings) -> list[NearLimit]:
    """Agents, rooms and nodes that have stored four fifths of what they may, the largest first."""
    found = []
    for setting, limit in (("max_agent_bytes", settings.max_agent_bytes), ("max_node_bytes", settings.max_node_bytes)):
        most = limit * 4 // 5
        large = rows.find(STORED_BYTES, after=("level", most // _LEVEL - 1), limit=_LISTED) if limit else []
        for one in large:
            kind, name = _describe(rows, one.id)
            if one.bytes >= most and get_limit(kind, settings) == limit:
                found.append(NearLimit(id=one.id, name=name, bytes=one.bytes, limit=limit, setting=setting))
    return sorted(found, key=lambda one: one.bytes / one.limit, reverse=True)


def _describe(rows: Rows, holder: str) -> tuple[PrincipalKind, str]:
    """The kind and the name of somebody who has stored something."""
    if (node := rows.get(NODES, holder)) is not None:
        return "node", node.name
    if (agent := rows.get(AGENTS, holder)) is not None:
        return "agent", agent.display_name or agent.name
    credential = rows.get(CREDENTIALS, holder)
    if credential is not None:
        return credential.kind, credential.name
    return "anonymous" if holder == ANONYMOUS.id else "hub", holder


def _find_payer(rows: Rows, holder: str) -> str:
    """Who pays for somebody, if somebody else does: for agents that a program has registered that program."""
    agent = rows.get(AGENTS, holder) if holder.startswith("agt_") else None
    if agent is None or agent.enrolled_by in (HUB.id, holder):
        return ""
    enroller = rows.get(CREDENTIALS, agent.enrolled_by)
    is_program = enroller is not None and enroller.kind == "agent"
    return agent.enrolled_by if is_program or agent.enrolled_by == ANONYMOUS.id else ""
