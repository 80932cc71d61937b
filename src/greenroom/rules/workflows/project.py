"""The projection of workflows and their runs."""

from typing import Any

import msgspec

from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Event, Noun, Project, Recorded, Tx
from greenroom.rules.access.epochs import EpochBegun
from greenroom.rules.clock.model import ClockMoved
from greenroom.rules.workflows import clock_shift, person_waits, taint
from greenroom.rules.workflows import events as e
from greenroom.rules.workflows.core.board import build_facts, build_run
from greenroom.rules.workflows.core.state import OF_A_RUN, apply_event
from greenroom.rules.workflows.decide import DECIDE
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.model import (
    ATTEMPTS,
    ENDINGS,
    FACTS,
    SAVED_VERSIONS,
    STEPS,
    VERSIONS,
    WAITS,
    WORKFLOW_RUNS,
    WORKFLOWS,
    RunWait,
    SavedVersion,
    Workflow,
    WorkflowVersion,
    format_version,
)
from greenroom.rules.workflows.queries import hash_definition
from greenroom.rules.workflows.row_boards import TxBoard
from greenroom.rules.workflows.triggers import project as triggers
from greenroom.rules.workflows.triggers.decide import DECIDE as TRIGGERS_DECIDE
from greenroom.rules.workflows.triggers.decide import disarm_all
from greenroom.rules.workflows.triggers.model import SEEN, TRIGGERS
from greenroom.rules.workflows.triggers.project import drop_triggers, put_triggers
from greenroom.rules.workflows.upcasters import UPCAST


def workflow_put(tx: Tx, event: e.WorkflowPut, record: Recorded) -> None:
    definition = event.definition
    tx.put(
        WORKFLOWS,
        copy_fields(
            event,
            Workflow,
            alias=definition.id,
            version=event.number,
            changed_at=record.at,
            changed_by=record.by,
            description=definition.description,
            steps=len(definition.steps),
        ),
    )
    _put_versions(tx, event.digest, event.number, definition, record.at, event.text)
    tx.put(
        SAVED_VERSIONS,
        copy_fields(
            event,
            SavedVersion,
            place=format_version(event.number),
            version=event.number,
            saved_at=record.at,
            saved_by=record.by,
        ),
    )
    put_triggers(tx, definition, record.at)


def _put_versions(tx: Tx, digest: str, number: int, definition: WorkflowDefinition, at: int, text: str = "") -> None:
    """Keep a definition, and those that came inside it."""
    if tx.get(VERSIONS, digest) is None or number:
        tx.put(
            VERSIONS,
            WorkflowVersion(
                digest=digest, name=definition.name, version=number, definition=definition, made_at=at, text=text
            ),
        )
    for inner in definition.workflows.values():
        _put_versions(tx, hash_definition(inner), 0, inner, at)


def workflow_deleted(tx: Tx, event: e.WorkflowDeleted, record: Recorded) -> None:
    tx.drop(WORKFLOWS, event.name)
    drop_triggers(tx, event.name)


def workflow_began(tx: Tx, event: e.WorkflowBegan, record: Recorded) -> None:
    tx.put(WORKFLOW_RUNS, build_run(event, record.at, record.by, record.seq))
    tx.put(FACTS, build_facts(event))


def project_run_event(tx: Tx, event: Any, record: Recorded) -> None:
    """Whatever else happens to a run."""
    run = tx.get(WORKFLOW_RUNS, event.run_id)
    if run is None:
        return
    board = TxBoard(tx, run)
    apply_event(board, event, record.at)
    board.close()


def workflow_amended(tx: Tx, event: e.WorkflowAmended, record: Recorded) -> None:
    _put_versions(tx, event.digest, 0, event.definition, record.at)
    project_run_event(tx, event, record)


def workflow_waits(tx: Tx, event: e.WorkflowWaits, record: Recorded) -> None:
    tx.put(WAITS, RunWait(ask_id=event.wait.ask_id, run_id=event.run_id))
    project_run_event(tx, event, record)


def workflow_wait_ended(tx: Tx, event: e.WorkflowWaitEnded, record: Recorded) -> None:
    tx.drop(WAITS, event.ask_id, event.run_id)
    project_run_event(tx, event, record)


def workflow_tainted(tx: Tx, event: e.WorkflowTainted, record: Recorded) -> None:
    run = tx.get(WORKFLOW_RUNS, event.run_id)
    if run is not None:
        tx.put(WORKFLOW_RUNS, msgspec.structs.replace(run, taint=event.taint))


def ending_done(tx: Tx, event: e.EndingDone, record: Recorded) -> None:
    tx.drop(ENDINGS, event.what.kind, event.what.key)


PROJECT: dict[type[Event], Project] = {
    **dict.fromkeys(OF_A_RUN, project_run_event),
    e.WorkflowPut: workflow_put,
    e.WorkflowDeleted: workflow_deleted,
    e.WorkflowBegan: workflow_began,
    e.WorkflowAmended: workflow_amended,
    e.WorkflowWaits: workflow_waits,
    e.WorkflowWaitEnded: workflow_wait_ended,
    e.WorkflowTainted: workflow_tainted,
    e.EndingDone: ending_done,
    **clock_shift.PROJECT,
    **triggers.PROJECT,
}

WORKFLOWS_NOUN = Noun(
    name="workflows",
    tables=(WORKFLOWS, VERSIONS, SAVED_VERSIONS, WORKFLOW_RUNS, FACTS, STEPS, ATTEMPTS, ENDINGS, WAITS, TRIGGERS, SEEN),
    events=tuple(PROJECT),
    decide=DECIDE | TRIGGERS_DECIDE,
    project=PROJECT,
    follow={ClockMoved: clock_shift.on_clock_moved, EpochBegun: disarm_all, **person_waits.FOLLOW, **taint.FOLLOW},
    upcast=UPCAST,
    sources=(
        "greenroom.rules.workflows.model",
        "greenroom.rules.workflows.project",
        "greenroom.rules.workflows.core.board",
        "greenroom.rules.workflows.core.state",
        "greenroom.rules.workflows.clock_shift",
        "greenroom.rules.workflows.upcasters",
        "greenroom.rules.workflows.triggers.model",
        "greenroom.rules.workflows.triggers.project",
    ),
)
