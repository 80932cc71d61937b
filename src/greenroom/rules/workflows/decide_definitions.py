"""The rules for saving, restoring and deleting workflows, so that no save overwrites another unnoticed."""

import msgspec

from greenroom.errors import Refused
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.agents.profiles import find_profiles
from greenroom.rules.workflows.checks.definition_check import KnownNames, check_definition
from greenroom.rules.workflows.checks.problems import Problem, build_refusal
from greenroom.rules.workflows.commands import DeleteWorkflow, PutWorkflow, RestoreWorkflow
from greenroom.rules.workflows.core.plan import PLANS, NewestCache
from greenroom.rules.workflows.definition import WorkflowDefinition
from greenroom.rules.workflows.events import WorkflowDeleted, WorkflowPut
from greenroom.rules.workflows.model import WORKFLOWS, SavedVersion, Workflow
from greenroom.rules.workflows.queries import (
    find_saved_versions,
    find_workflows,
    hash_definition,
    need_saved_name,
    need_saved_version,
    need_version,
    need_workflow,
)

_MOST_BYTES = 4_000_000
_CHECKED: NewestCache[tuple[str, frozenset[str], frozenset[str]], list[Problem]] = NewestCache(16)


def put_workflow(rows: Rows, command: PutWorkflow, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    definition = command.definition
    if max(len(msgspec.json.encode(definition)), len(command.text)) > _MOST_BYTES:
        raise Refused("workflow_too_large", limit=_MOST_BYTES)
    _need_sound(rows, definition)
    digest = hash_definition(definition)
    found = rows.get(WORKFLOWS, definition.name)
    is_same = found is not None and _is_same(rows, found, digest, command.text)
    if not command.overwrite and not (is_same and command.replaces is None):
        _need_replaced(definition.name, found, command.replaces or 0)
    if is_same:
        return []
    return [
        WorkflowPut(
            name=definition.name,
            digest=digest,
            number=_next_version(rows, definition.name),
            definition=definition,
            source=command.source[:500],
            text=command.text,
        )
    ]


def _is_same(rows: Rows, found: Workflow, digest: str, text: str) -> bool:
    """Whether a workflow says this already, in the same words if they are given."""
    return found.digest == digest and text in ("", need_saved_version(rows, found.name, found.version).text)


def _next_version(rows: Rows, name: str) -> int:
    """Versions are counted on when a workflow is deleted and made again, so that each number is given once."""
    saved = find_saved_versions(rows, name, limit=1)
    return saved[0].version + 1 if saved else 1


def _need_replaced(name: str, found: Workflow | None, replaces: int) -> None:
    """Refuse to replace a version that the caller has not seen."""
    if found is not None and replaces == 0:
        raise Refused("workflow_exists", "conflict", details={"version": found.version}, name=name[:80])
    if found is not None and found.version != replaces:
        raise Refused(
            "workflow_changed",
            "conflict",
            details={"version": found.version, "changed_by": found.changed_by, "changed_at": found.changed_at},
            name=name[:80],
            version=found.version,
            replaces=replaces,
        )
    if found is None and replaces:
        raise Refused("workflow_changed.deleted", "conflict", details={"version": 0}, name=name[:80])


def _need_sound(rows: Rows, definition: WorkflowDefinition) -> None:
    """Refuse a definition that could not be carried out; every problem is named."""
    problems = _check(rows, definition, hash_definition(definition))
    if problems:
        raise build_refusal(problems)


def prepare_definition(rows: Rows, definition: WorkflowDefinition) -> None:
    """Work out what the rules will ask about a definition: they find it done. For a long one it takes seconds, which a
    thread can spend and the rules cannot."""
    digest = hash_definition(definition)
    if not _check(rows, definition, digest):
        PLANS.get(digest, definition)


def prepare_saved(rows: Rows, name: str, version: int | None) -> None:
    """As `prepare_definition`, of an earlier version; raises Refused if there is none."""
    saved = _need_wanted_version(rows, name, rows.get(WORKFLOWS, name), version)
    prepare_definition(rows, need_version(rows, saved.digest).definition)


def _check(rows: Rows, definition: WorkflowDefinition, digest: str) -> list[Problem]:
    profiles = frozenset(profile.name for profile in find_profiles(rows))
    workflows = frozenset(workflow.name for workflow in find_workflows(rows)) | {definition.name}
    asked = (digest, profiles, workflows)
    found = _CHECKED.get(asked)
    if found is None:
        found = check_definition(definition, KnownNames(profiles=profiles, workflows=workflows))
        _CHECKED.put(asked, found)
    return found


def restore_workflow(rows: Rows, command: RestoreWorkflow, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    name = need_saved_name(rows, command.name)
    found = rows.get(WORKFLOWS, name)
    if command.replaces is not None:
        _need_replaced(name, found, command.replaces)
    saved = _need_wanted_version(rows, name, found, command.version)
    definition = need_version(rows, saved.digest).definition
    if found is not None and _is_same(rows, found, saved.digest, saved.text):
        return []
    _need_sound(rows, definition)
    return [
        copy_fields(
            saved,
            WorkflowPut,
            name=name,
            number=_next_version(rows, name),
            definition=definition,
            restored_from=saved.version,
        )
    ]


def _need_wanted_version(rows: Rows, name: str, found: Workflow | None, version: int | None) -> SavedVersion:
    """The version to restore."""
    if version is not None:
        return need_saved_version(rows, name, version)
    earlier = find_saved_versions(rows, name, before=found.version if found else None, limit=1)
    if not earlier:
        raise Refused("version_not_found.earlier", "not_found", name=name[:80])
    return earlier[0]


def delete_workflow(rows: Rows, command: DeleteWorkflow, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    return [WorkflowDeleted(name=need_workflow(rows, command.name).name)]


DECIDE: dict[type[Command], Decide] = {
    PutWorkflow: put_workflow,
    RestoreWorkflow: restore_workflow,
    DeleteWorkflow: delete_workflow,
}
