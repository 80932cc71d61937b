"""Lists asks, and finds who may see and answer one."""

from collections.abc import Iterator, Mapping

from greenroom.errors import Refused
from greenroom.link.ask_kinds import ASK_KINDS, AskKind
from greenroom.link.policy_facts.call_request import Risk
from greenroom.log.model import Rows, Value
from greenroom.rules.access.model import Principal
from greenroom.rules.asks.model import ASK_FILES, ASKS, ROOM, Ask
from greenroom.rules.threads import queries as threads
from greenroom.settings import Settings

_CHUNK = 500
_LOOKED_AT = 20_000
_UNTAKEN_MS = 60_000
"""How long an approval can be picked up, for old ones that do not say so themselves."""


def may_see_ask(rows: Rows, by: Principal, ask: Ask) -> bool:
    """An operator sees all asks, people of a room those of their room, an agent its own."""
    if by.may_operate:
        return True
    if by.room is not None:
        return by.room in find_rooms(ask) or is_named(by, ask)
    return by.agent_id is not None and ask.agent_id == by.agent_id


def is_named(by: Principal, ask: Ask) -> bool:
    """Whether an ask is for this person by the name of their credential, whatever room they are of."""
    return by.name in ask.asked_of or by.name == ask.delegated_to


def find_rooms(ask: Ask) -> set[str]:
    """The rooms whose people see an ask: its own, the one that it was handed to, and those who alone may answer."""
    named = [name.removeprefix(ROOM) for name in (ask.delegated_to or "", *ask.asked_of) if name.startswith(ROOM)]
    return {*named, *((ask.room,) if ask.room is not None else ())}


def need_ask(rows: Rows, by: Principal, ask_id: str) -> Ask:
    """The ask, if it is there for this principal."""
    ask = rows.get(ASKS, ask_id)
    if ask is None or not may_see_ask(rows, by, ask):
        raise ask_not_found(ask_id)
    return ask


def ask_not_found(ask_id: str) -> Refused:
    return Refused("ask_not_found", "not_found", ask_id=ask_id[:80])


def need_person_for(rows: Rows, by: Principal, ask_id: str) -> Ask:
    """The ask, if this principal is a person who may answer it: never an agent, node, webhook, viewer or the hub."""
    if by.kind not in ("operator", "room") or not ("answer" in by.rights or by.may_operate):
        raise ask_not_found(ask_id)
    ask = need_ask(rows, by, ask_id)
    if "ask" in by.rights and not by.may_operate and not ASK_KINDS[ask.kind].in_words:
        raise Refused("forbidden.agent_token", "forbidden", kind=ask.kind)
    return ask


def find_asks(
    rows: Rows,
    by: Principal,
    where: Mapping[str, str | None],
    *,
    after: int = 0,
    before: int | None = None,
    limit: int = 100,
) -> list[Ask]:
    """Asks with these values, by the seq of their last change: oldest first after a seq, or newest first before one."""
    given = {name: value for name, value in where.items() if value is not None}
    found: list[Ask] = []
    for ask in _iterate_by_seq(rows, given, after, before):
        if all(getattr(ask, name) == value for name, value in given.items()) and may_see_ask(rows, by, ask):
            found.append(ask)
            if len(found) >= limit:
                break
    return found


_INDEXED = ("run_id", "agent_id", "workflow_run_id", "thread_id", "room")


def _iterate_by_seq(rows: Rows, where: Mapping[str, str], after: int, before: int | None) -> Iterator[Ask]:
    narrow = next((name for name in _INDEXED if name in where), None)
    indexed: dict[str, Value] = {name: where[name] for name in (narrow, "state") if name is not None and name in where}
    if narrow is not None and "state" in indexed:  # few: an index leads there, and they are put in order here
        few = rows.find(ASKS, indexed, limit=_LOOKED_AT)
        few.sort(key=lambda ask: ask.seq, reverse=before is not None)
        yield from (ask for ask in few if ask.seq > after and (before is None or ask.seq < before))
        return
    indexed.pop(narrow or "", None)
    for _ in range(_LOOKED_AT // _CHUNK):
        if before is None:
            chunk = rows.find(ASKS, indexed, after=("_seq", after), order="_seq", limit=_CHUNK)
        else:
            chunk = rows.find(ASKS, indexed, before=("_seq", before), order="_seq", desc=True, limit=_CHUNK)
        yield from chunk
        if len(chunk) < _CHUNK:
            return
        after, before = (chunk[-1].seq, None) if before is None else (after, chunk[-1].seq)


def find_open_of_run(rows: Rows, run_id: str) -> list[Ask]:
    """What a run waits for, oldest first."""
    return rows.find(ASKS, {"run_id": run_id, "state": "open"}, order="_key")


def get_by_wish(rows: Rows, wish: str) -> Ask | None:
    """The newest ask of a request."""
    found = rows.find(ASKS, {"key": wish}, order="_key", desc=True, limit=1)
    return found[0] if found else None


def is_untaken_yes(ask: Ask) -> bool:
    """Whether it approves a call that has not run yet. For calls in runtimes the node picks it up, with an order."""
    is_yes = ASK_KINDS[ask.kind].is_call and ask.answer is not None and ask.answer.verdict == "approve"
    return is_yes and ask.asker.native is None and not ask.taken_at and not ask.lapsed_at


def is_lapsed(ask: Ask, now: int) -> bool:
    """Whether an approved call was not picked up in time, even if the timer has not noticed yet."""
    if not is_untaken_yes(ask) or ask.answer is None:
        return False
    return now >= (ask.answer.lapses_at or ask.answer.at + _UNTAKEN_MS)


def get_waiting_ask(rows: Rows, wish: str, now: int) -> Ask | None:
    """The ask of a request that is open, or whose answer has not been picked up."""
    ask = get_by_wish(rows, wish)
    if ask is None or ask.taken_at or ask.lapsed_at or is_lapsed(ask, now):
        return None
    return ask


def is_over_time(ask: Ask, now: int) -> bool:
    """Whether silence has refused it, even if the timer has not come to it yet."""
    return ask.state == "open" and 0 < ask.deadline <= now


def get_deadline_s(settings: Settings, kind: AskKind, risk: Risk) -> int:
    """How long an ask may wait by the settings; 0 is forever, but a poll always ends."""
    times = dict(entry.split("=", 1) for entry in settings.ask_deadlines)
    found = int(times.get(f"{kind}.{risk}", times.get(kind, ASK_KINDS[kind].deadline_s)))
    return ASK_KINDS[kind].deadline_s if ASK_KINDS[kind].by_votes and found == 0 else found


def is_file_in_use(rows: Rows, name: str) -> bool:
    """Whether anything names a payload file: a message, an upload, or an ask."""
    return threads.is_file_in_use(rows, name) or rows.count(ASK_FILES, {"file": name}) > 0
