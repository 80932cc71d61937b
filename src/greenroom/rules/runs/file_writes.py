"""Which files the active runs write, so that two of them do not overwrite each other's work unnoticed."""

from collections.abc import Iterator

import msgspec

from greenroom.link.policy_facts.call_request import CallRequest
from greenroom.link.reports import CallReport, CallStarted
from greenroom.log.model import Row, Rows, Table, Tx
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.policy.rule_set import get_state
from greenroom.rules.runs.model import Run
from greenroom.runtimes.call_facts import read_call_facts
from greenroom.runtimes.tool_kinds import get_tool_kind
from greenroom.sentences import Words, build_sentence

_MOST_FILES = 100
_MOST_WRITERS = 20


class FileWrite(Row, frozen=True, kw_only=True):
    """An active run that wants to write a file, or has written it; removed at the run's end."""

    run_id: str
    path: str
    agent_id: str
    node_id: str
    at: int


WRITINGS = Table("writing", FileWrite, ("run_id", "path"), (("node_id", "path", "at"), ("run_id",)))


def note_file_writes(tx: Tx, run: Run, heard: CallStarted | CallReport, at: int) -> None:
    """Keep what a call of a run would write."""
    wanted = CallRequest(tool=heard.tool, arguments=heard.input)
    if isinstance(heard, CallReport):
        wanted = msgspec.structs.replace(wanted, directory=heard.directory or None, resolved=heard.resolved or {})
    for path in _find_written_paths(wanted):
        row = FileWrite(run_id=run.id, path=path, agent_id=run.agent_id, node_id=run.node_id or "", at=at)
        tx.put(WRITINGS, row)


def forget_file_writes(tx: Tx, run_id: str) -> None:
    """The run is over: its files are free for others."""
    tx.drop_all(WRITINGS, {"run_id": run_id})


def describe_write_conflict(rows: Rows, run: Run, wanted: CallRequest, now: int) -> Words:
    """Which other run is at a file that this call would write, in words; empty when none is.

    A run above this one is none: it has handed the work down.
    """
    window_s = get_state(rows).options.contested_s
    if window_s <= 0 or run.node_id is None:
        return ""
    above = {place.run for place in wanted.lineage} | {run.id}
    since = ("at", now - window_s * 1000)
    for path in _find_written_paths(wanted):
        where = {"node_id": run.node_id, "path": path}
        found = rows.find(WRITINGS, where, after=since, order="at", desc=True, limit=_MOST_WRITERS)
        other = next((one for one in found if one.run_id not in above), None)
        if other is not None:
            agent = rows.get(AGENTS, other.agent_id)
            name = (agent.display_name or agent.name) if agent else other.agent_id
            minutes = max(0, now - other.at) // 60_000
            if minutes:
                return build_sentence("conflict.minutes", name=name, run=other.run_id, path=path, minutes=minutes)
            return build_sentence("conflict.now", name=name, run=other.run_id, path=path)
    return ""


def _find_written_paths(wanted: CallRequest) -> Iterator[str]:
    """The whole paths that a tool for writing would write; what commands may do to files is not looked through."""
    if get_tool_kind(wanted.tool) != "write":
        return iter(())
    files = [file for file in read_call_facts(wanted).files if file.is_written][:_MOST_FILES]
    return (file.real for file in files if wanted.directory or file.text.startswith("/"))
