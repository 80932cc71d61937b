"""Finds runs, asks, agents, threads and so on by a part of their id or by a name."""

import difflib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest.wire import build_bad_request, build_json_response, read_query
from greenroom.log.model import Rows, Table
from greenroom.rules.access.model import CREDENTIALS, Principal, Right
from greenroom.rules.access.queries import has_right
from greenroom.rules.agents.model import AGENTS, Agent
from greenroom.rules.asks.model import ASKS
from greenroom.rules.asks.queries import may_see_ask
from greenroom.rules.channels.decide import may_see_channel
from greenroom.rules.channels.model import CHANNELS, Channel
from greenroom.rules.nodes.model import NODES
from greenroom.rules.policy.model import GRANTS
from greenroom.rules.runs.model import RUNS
from greenroom.rules.runs.queries import may_see_run
from greenroom.rules.threads import queries as threads
from greenroom.rules.threads.model import THREADS
from greenroom.rules.threads.visible_agents import may_see_agent
from greenroom.rules.workflows.model import WORKFLOW_RUNS
from greenroom.rules.workflows.queries import may_see_workflow_run
from greenroom.services.hub import Hub

_LEAST = 4
"""Fewer letters mean nothing in particular."""
_MOST = 10
_CHUNK = 500
_SCANNED = 10_000
"""How many rows, newest first, are looked at for the end of an id."""
_ABOUT = 80
_NEAR = 3


class IdQuery(msgspec.Struct, frozen=True, kw_only=True):
    kinds: str
    """Prefixes of ids with commas between them, such as run,agt."""
    text: Annotated[str, Meta(min_length=1, max_length=1000)]


class MatchedId(msgspec.Struct):
    id: str
    about: str
    """What it is, in a few words."""


class MatchedIds(msgspec.Struct):
    ids: list[MatchedId]
    """What the text may mean: one if it is clear."""
    has_more: bool
    by_name: bool
    """Whether the text is its name."""
    near: list[str]
    """Names that are spelt alike, when nothing is found."""


@dataclass(frozen=True)
class _Kind:
    """One kind of id: where its rows are, who may see one, and what people call it."""

    table: Table[Any]
    right: Right
    may_see: Callable[[Rows, Principal, Any], bool]
    about: Callable[[Any], str]
    named_by: str = ""
    """The indexed field that holds the name."""
    shown_as: Callable[[Any], tuple[str, ...]] | None = None
    """What lists show in place of a name, which several may have."""


def _may_see_hub_row(rows: Rows, by: Principal, row: Any) -> bool:
    """What belongs to no thread is for whoever is not confined to some."""
    return not by.is_confined


def _may_see_channel(rows: Rows, by: Principal, channel: Channel) -> bool:
    return may_see_channel(by, channel)


def _may_see_agent(rows: Rows, by: Principal, agent: Agent) -> bool:
    """An agent that has left or was removed is found by its whole id only: its name may belong to another by now."""
    return agent.state == "registered" and may_see_agent(rows, by, agent)


def _describe_agent(agent: Agent) -> str:
    return f"{agent.kept_as or agent.name} ({agent.process or agent.state})"


def _find_agent_names(agent: Agent) -> tuple[str, ...]:
    return (agent.name, agent.display_name or "")


_KINDS = {
    "run": _Kind(RUNS, "read", may_see_run, lambda run: f"{run.status}, {run.profile}: {run.prompt}"),
    "ask": _Kind(ASKS, "answer", may_see_ask, lambda ask: f"{ask.state}, {ask.asker.name}: {ask.title}"),
    "agt": _Kind(AGENTS, "read", _may_see_agent, _describe_agent, "kept_as", _find_agent_names),
    "thr": _Kind(THREADS, "read", threads.may_see_thread, lambda thread: thread.topic, "topic"),
    "wfr": _Kind(WORKFLOW_RUNS, "read", may_see_workflow_run, lambda run: f"{run.status}, {run.workflow}"),
    "cred": _Kind(CREDENTIALS, "operate", _may_see_hub_row, lambda credential: f"{credential.kind}: {credential.name}"),
    "grt": _Kind(GRANTS, "operate", _may_see_hub_row, lambda grant: grant.words),
    "node": _Kind(NODES, "read", _may_see_hub_row, lambda node: node.name, "name"),
    "chn": _Kind(CHANNELS, "answer", _may_see_channel, lambda channel: f"{channel.kind}: {channel.name}"),
}


async def find_ids(hub: Hub, by: Principal, request: Request) -> Response:
    """By the whole id or name, else by the beginning of an id, else by its end, else by what lists show as a name."""
    wanted = read_query(request, IdQuery)
    names = wanted.kinds.split(",")
    if unknown := [name for name in names if name not in _KINDS]:
        raise build_bad_request("bad_request.id_kind", kind=unknown[0][:20], kinds=_KINDS)
    kinds = {name: _KINDS[name] for name in names if has_right(by, _KINDS[name].right)}
    return build_json_response(await hub.store.read(lambda rows: _match_ids(rows, by, kinds, wanted.text)))


def _match_ids(rows: Rows, by: Principal, kinds: dict[str, _Kind], text: str) -> MatchedIds:
    for find in (_find_exact, _find_by_beginning, _find_by_end, _find_by_shown_name):
        found = [
            (kind, row)
            for prefix, kind in kinds.items()
            for row in _take_first(row for row in find(rows, prefix, kind, text) if kind.may_see(rows, by, row))
        ]
        if found:
            found = found[:1] if find is _find_exact else found
            shown = [MatchedId(row.id, " ".join(kind.about(row).split())[:_ABOUT]) for kind, row in found[:_MOST]]
            by_name = find is _find_exact and shown[0].id != text
            return MatchedIds(shown, len(found) > _MOST, by_name, [])
    return MatchedIds([], False, False, _find_near(rows, by, kinds, text))


def _take_first(rows: Iterator[Any]) -> list[Any]:
    return list(itertools.islice(rows, _MOST + 1))


def _find_exact(rows: Rows, prefix: str, kind: _Kind, text: str) -> Iterator[Any]:
    if (row := rows.get(kind.table, text)) is not None:
        yield row
    elif kind.named_by:
        yield from rows.find(kind.table, {kind.named_by: text}, order="_key", desc=True)


def _extract_id_part(prefix: str, text: str) -> str:
    """The letters that are meant, without the kind before them; empty when they are too few or of another kind."""
    before, _, part = text.strip().lower().rpartition("_")
    return part if before in ("", prefix) and len(part) >= _LEAST and part.isalnum() else ""


def _find_by_beginning(rows: Rows, prefix: str, kind: _Kind, text: str) -> Iterator[Any]:
    if part := _extract_id_part(prefix, text):
        edges = (("_key", f"{prefix}_{part}"), ("_key", f"{prefix}_{part}~"))  # a tilde is after every letter
        yield from rows.find(kind.table, after=edges[0], before=edges[1], order="_key", desc=True, limit=_CHUNK)


def _find_by_end(rows: Rows, prefix: str, kind: _Kind, text: str) -> Iterator[Any]:
    if part := _extract_id_part(prefix, text):
        yield from (row for row in _iterate_newest(rows, kind) if row.id.endswith(part))


def _find_by_shown_name(rows: Rows, prefix: str, kind: _Kind, text: str) -> Iterator[Any]:
    if (shown_as := kind.shown_as) is not None:
        yield from (row for row in _iterate_newest(rows, kind) if text.strip().lower() in map(str.lower, shown_as(row)))


def _iterate_newest(rows: Rows, kind: _Kind, most: int = _SCANNED) -> Iterator[Any]:
    before = ("_key", "~")
    for _ in range(0, most, _CHUNK):
        chunk = rows.find(kind.table, before=before, order="_key", desc=True, limit=_CHUNK)
        yield from chunk
        if len(chunk) < _CHUNK:
            return
        before = ("_key", chunk[-1].id)


def _find_near(rows: Rows, by: Principal, kinds: dict[str, _Kind], text: str) -> list[str]:
    """Names that are spelt nearly like a text."""
    known = {
        name.lower(): name
        for kind in kinds.values()
        if kind.named_by
        for row in _iterate_newest(rows, kind, _CHUNK)
        if (name := getattr(row, kind.named_by)) and kind.may_see(rows, by, row)
    }
    return [known[name] for name in difflib.get_close_matches(text.lower(), known, _NEAR)]


ENDPOINTS = [
    Endpoint(
        "GET",
        "/api/ids",
        "enter",
        find_ids,
        "The ids that match a part of an id, or a name",
        query=IdQuery,
        answer=MatchedIds,
    )
]
