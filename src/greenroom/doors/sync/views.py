"""The views that a client can subscribe to. To add one, add an entry to VIEWS."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from greenroom.doors.sync.bus_events import rebuild_deleted_thread
from greenroom.log.codec import encode
from greenroom.log.model import Change, Event, Row, Rows, Table, Value
from greenroom.log.signals import SignalKind
from greenroom.rules.access.model import CREDENTIALS, Principal, Right
from greenroom.rules.agents.model import AGENTS, Agent
from greenroom.rules.agents.profiles import PROFILES
from greenroom.rules.asks.model import ASKS
from greenroom.rules.asks.queries import may_see_ask
from greenroom.rules.nodes.model import NODES
from greenroom.rules.policy.model import GRANTS, JUDGEMENTS, RULES, STATE
from greenroom.rules.runs.confined_runs import confine_run, confine_tree
from greenroom.rules.runs.model import CALLS, ITEMS, LIVE, RUNS, TREES, Run, Tree
from greenroom.rules.runs.queries import may_see_run, may_see_tree
from greenroom.rules.servers.model import SERVER_TOOLS, SERVERS
from greenroom.rules.threads.events import ThreadDeleted
from greenroom.rules.threads.model import BRIEFS, DECISIONS, MEMBERS, MESSAGES, TEMPLATES, THREADS
from greenroom.rules.threads.queries import is_for_people, may_see_template, may_see_thread
from greenroom.rules.threads.templates import BUILTIN_TEMPLATES
from greenroom.rules.threads.visible_agents import may_see_agent
from greenroom.rules.workflows.model import ATTEMPTS as WORKFLOW_ATTEMPTS
from greenroom.rules.workflows.model import FACTS, STEPS, WORKFLOW_RUNS, WORKFLOWS
from greenroom.rules.workflows.queries import may_see_workflow, may_see_workflow_run
from greenroom.rules.workflows.triggers.model import TRIGGERS

replace = msgspec.structs.replace
ALL = ""
"""The key of a view that has none."""
MOST_ROWS = 1000


def _everywhere(change: Change) -> str:
    return ALL


def _everything(key: str) -> None:
    return None


@dataclass(frozen=True)
class ViewTable:
    """One table of a view: to which key of the view a changed row belongs, and where the rows of a key are."""

    table: Table[Any]
    place: Callable[[Change], str | None] = _everywhere
    where: Callable[[str], Mapping[str, Value] | None] = _everything
    order: str = "_seq"
    long: bool = False
    """Whether the client's `limit` is about these rows; of others there are few."""
    fixed: tuple[Row, ...] = ()
    """Rows that are there always."""
    holds: Callable[[Any], bool] | None = None
    """Which rows belong to the view; None is all."""
    for_people: Callable[[Any], bool] | None = None
    """Which rows are not shown to agents."""
    at_first: Mapping[str, Value] | None = None
    """Which rows a snapshot has; later changes of all rows are sent, so that clients see what became of them."""
    in_thread: Callable[[Rows, Principal, Any], bool] | None = None
    """Which rows are shown to whoever is confined to threads, where their head does not decide it."""
    always: tuple[Mapping[str, Value], ...] = ()
    """Rows that a snapshot holds besides the newest, however long ago they changed."""

    def hides(self, rows: Rows, by: Principal, row: Any) -> bool:
        """Whether a row that somebody has got to is not for them."""
        if self.in_thread is not None and by.is_confined and not self.in_thread(rows, by, row):
            return True
        return self.for_people is not None and by.is_program and self.for_people(row)


@dataclass(frozen=True)
class View:
    """Rows that belong together. The first part is the head: unless everybody may see all, its rows decide who does."""

    name: str
    needs: Right
    parts: tuple[ViewTable, ...]
    limit: int = MOST_ROWS
    keyed: bool = False
    sees: Callable[[Rows, Principal, Any], bool] | None = None
    removed_by: Mapping[type[Event], Callable[[Any], Row]] = field(default_factory=dict)
    """Events that remove a row of the head, and the row as far as it decides who saw it. A key ends with its row."""
    signals: Mapping[SignalKind, Callable[[Any], str | None]] = field(default_factory=dict)
    """To which key each kind of signal belongs."""
    missing: str = ""
    """The error when there is no such head; its code is the view's name and `_not_found`."""
    online: bool = False
    """Whether a new subscriber gets the list of who is online."""
    head: Table[Any] = field(init=False)
    part_of: Mapping[str, ViewTable] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "head", self.parts[0].table)
        object.__setattr__(self, "part_of", {part.table.name: part for part in self.parts})


def _in_no_thread(rows: Rows, by: Principal, row: Any) -> bool:
    return False


def _own_key(change: Change) -> str:
    return change.key


def _thread_of(change: Change) -> str | None:
    return None if change.row is None else change.row.thread_id


def _run_of(change: Change) -> str | None:
    return None if change.row is None else change.row.run_id


def _root_of(change: Change) -> str | None:
    return None if change.row is None else change.row.root_id


def _in_run(key: str) -> Mapping[str, Value]:
    return {"run_id": key}


def _in_tree(key: str) -> Mapping[str, Value]:
    return {"root_id": key}


def _in_thread(key: str) -> Mapping[str, Value]:
    return {"thread_id": key}


def _keyed(key: str) -> Mapping[str, Value]:
    return {"_key": key}


def _of_all(payload: Any) -> str:
    return ALL


SHOWN: Mapping[Table[Any], Callable[[Any], Row]] = {
    MEMBERS: lambda member: replace(member, nonce="", issued=0, unused=[], refresh=False),
    CREDENTIALS: lambda credential: replace(credential, digest="", key_digest=""),
}
"""How rows with private fields are shown; all others are sent as they are stored."""


def encode_row(table: Table[Any], rows: Rows, row: Row, by: Principal) -> bytes:
    """The JSON of a row that was read."""
    show = SHOWN.get(table)
    return encode(_confine(rows, row, by) if show is None else show(row))


def encode_change(change: Change, rows: Rows, by: Principal) -> bytes:
    """The JSON of a row that has changed; it is encoded already unless something must be left out."""
    is_stored = change.row is None or (change.table not in SHOWN and not by.is_confined)
    return change.data if is_stored or change.row is None else encode_row(change.table, rows, change.row, by)


def _confine(rows: Rows, row: Row, by: Principal) -> Row:
    """A row for a viewer that is limited to threads: what happens in others is left out."""
    match row:
        case Agent() if by.is_confined and row.thread_id not in (by.threads or ()):
            return replace(row, thread_id=None, run_id=None, session=None)
        case Run():
            return confine_run(rows, by, row)
        case Tree():
            return confine_tree(rows, by, row)
    return row


_VIEWS = (
    View(
        "threads",
        "read",
        (ViewTable(THREADS, long=True),),
        limit=500,
        sees=may_see_thread,
        removed_by={ThreadDeleted: rebuild_deleted_thread},
    ),
    View(
        "thread",
        "read",
        (
            ViewTable(THREADS, _own_key, _keyed),
            ViewTable(BRIEFS, _own_key, _keyed),
            ViewTable(MEMBERS, _thread_of, _in_thread),
            ViewTable(DECISIONS, _thread_of, _in_thread),
            ViewTable(MESSAGES, _thread_of, _in_thread, order="seq", long=True, for_people=is_for_people),
        ),
        limit=200,
        keyed=True,
        missing="thread_not_found.view",
        sees=may_see_thread,
        removed_by={ThreadDeleted: rebuild_deleted_thread},
        signals={"agent.typing": lambda payload: payload.get("thread_id")},
    ),
    View(
        "agents",
        "read",
        (ViewTable(AGENTS, long=True, holds=lambda agent: bool(agent.state == "registered")),),
        sees=may_see_agent,
        signals={"agent.online": _of_all, "agent.offline": _of_all},
        online=True,
    ),
    View(
        "runs",
        "read",
        (ViewTable(RUNS, long=True, always=tuple({"status": status} for status in LIVE)),),
        limit=300,
        sees=may_see_run,
    ),
    View(
        "tree",
        "read",
        (ViewTable(TREES, _own_key, _keyed), ViewTable(RUNS, _root_of, _in_tree, long=True, in_thread=may_see_run)),
        keyed=True,
        missing="tree_not_found",
        sees=may_see_tree,
    ),
    View(
        "run",
        "read",
        (
            ViewTable(RUNS, _own_key, _keyed),
            ViewTable(CALLS, _run_of, _in_run),
            ViewTable(ITEMS, _run_of, _in_run, order="number", long=True),
        ),
        limit=500,
        keyed=True,
        missing="run_not_found.view",
        sees=may_see_run,
    ),
    View(
        "workflows",
        "read",
        (ViewTable(WORKFLOW_RUNS, long=True), ViewTable(WORKFLOWS, in_thread=may_see_workflow)),
        limit=300,
        sees=may_see_workflow_run,
    ),
    View(
        "workflow",
        "read",
        (
            ViewTable(WORKFLOW_RUNS, _own_key, _keyed),
            ViewTable(FACTS, _own_key, _keyed),
            ViewTable(WORKFLOW_ATTEMPTS, _run_of, _in_run),
            ViewTable(STEPS, _run_of, _in_run, long=True),
        ),
        limit=10_000,
        keyed=True,
        missing="workflow_not_found.view",
        sees=may_see_workflow_run,
    ),
    View("inbox", "answer", (ViewTable(ASKS, long=True, at_first={"state": "open"}),), sees=may_see_ask),
    View("policy", "operate", (ViewTable(STATE), ViewTable(RULES), ViewTable(GRANTS, long=True))),
    View("servers", "operate", (ViewTable(SERVERS), ViewTable(SERVER_TOOLS, long=True))),
    View("judgements", "operate", (ViewTable(JUDGEMENTS, long=True),), limit=200),
    View("triggers", "operate", (ViewTable(TRIGGERS, long=True),)),
    View("nodes", "read", (ViewTable(NODES, long=True, in_thread=_in_no_thread),)),
    View("profiles", "operate", (ViewTable(PROFILES, long=True),)),
    View("credentials", "operate", (ViewTable(CREDENTIALS, long=True),)),
    View("templates", "read", (ViewTable(TEMPLATES, long=True, fixed=BUILTIN_TEMPLATES, in_thread=may_see_template),)),
)
VIEWS: Mapping[str, View] = {view.name: view for view in _VIEWS}
