"""Profiles: how to start one kind of agent. Only an operator changes them."""

import re
import shlex
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from greenroom import validation
from greenroom.errors import Refused
from greenroom.link.profile_definition import PLACEHOLDERS, ProfileDefinition
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Project, Recorded, Row, Rows, Table, Tx
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import HUB
from greenroom.rules.access.queries import need_right
from greenroom.rules.agents.permissions import merge_permissions
from greenroom.rules.agents.wrong_profiles import explain_missing_profile
from greenroom.runtimes.driver_list import find_wrong_option
from greenroom.sentences import Sentence, Words, build_sentence
from greenroom.validation import InvalidField, build_named_problem

APPROVALS = ("always", "on_risk", "never", "deny")
SANDBOXES = ("none", "bwrap")
WAKES = ("mention", "handoff", "mail")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


class Profile(Row, frozen=True, kw_only=True):
    """A definition under its name, and where it came from."""

    name: str
    definition: ProfileDefinition
    source: str
    """api, file, legacy (available-agents.json), bundle or builtin."""
    changed_at: int
    seq: int = 0
    """Where in the log it became as it is."""


PROFILES = Table("profile", Profile, ("name",), (("source",), ("_seq",)))


PEOPLES_SOURCES = ("api", "bundle")
"""Where people put profiles. What the hub ships and what files no longer define never replaces or deletes theirs."""


class PutProfile(Command, frozen=True, kw_only=True):
    """Make or replace a profile."""

    name: str
    definition: ProfileDefinition
    source: str = "api"


class DeleteProfile(Command, frozen=True, kw_only=True):
    """Remove a profile; agents that were started from it continue."""

    name: Annotated[str, Meta(description="The profile, from profile_list.")]


class ProfilePut(Event, frozen=True, kw_only=True):
    """A profile is as it is now."""

    privileged: ClassVar[bool] = True
    name: str
    definition: ProfileDefinition
    source: str


class ProfileDeleted(Event, frozen=True, kw_only=True):
    """A profile was removed."""

    privileged: ClassVar[bool] = True
    name: str


def read_definition(fields: Any) -> ProfileDefinition:
    """A definition from what a file holds. A command that is one text is split into words; no shell ever sees it."""
    if isinstance(fields, dict) and "permissions" in fields:
        fields = merge_permissions(fields)
    if isinstance(fields, dict) and isinstance(fields.get("command"), str):
        try:
            fields = {**fields, "command": shlex.split(fields["command"])}
        except ValueError as error:
            raise InvalidField("command", build_sentence("profile_problem.unsplit_command", error=error)) from None
    return msgspec.convert(fields, ProfileDefinition)


def explain_definition_error(error: Exception) -> Words:
    """What is wrong with a definition: the key, and what to write instead."""
    if isinstance(error, InvalidField):
        return error.said
    if not isinstance(error, msgspec.ValidationError):
        return str(error)
    return validation.build_field_problem(*validation.explain_error(error, ProfileDefinition))


def fill_command(definition: ProfileDefinition, values: dict[str, str]) -> str:
    """The command as a person may read it, with its placeholders filled."""
    words = [_PLACEHOLDER.sub(lambda found: values.get(found[0], found[0]), word) for word in definition.command]
    return shlex.join(words) if words else f"(the own command of the driver {definition.driver})"


def find_profile_problems(name: str, definition: ProfileDefinition) -> list[Sentence]:
    """What is wrong with a profile, each with its key and what to write instead."""
    out: list[Sentence] = []
    if not _NAME.fullmatch(name):
        out.append(build_named_problem("name", build_sentence("profile_problem.name")))
    for key, allowed in (("approvals", APPROVALS), ("sandbox", SANDBOXES)):
        if getattr(definition, key) not in allowed:
            out.append(build_named_problem(key, build_sentence("profile_problem.one_of", choices=allowed)))
    for wake in definition.wake_on:
        if wake not in WAKES:
            said = build_sentence("profile_problem.unknown_wake", value=wake, choices=WAKES)
            out.append(build_named_problem("wake_on", said))
    for key, least, most in (
        ("max_depth", 0, 20),
        ("max_children", 0, 100),
        ("timeout_s", 1, 604_800),
        ("start_timeout_s", 1, 3600),
        ("idle_s", 0, 604_800),
    ):
        if not least <= getattr(definition, key) <= most:
            said = build_sentence("profile_problem.number_between", least=least, most=most)
            out.append(build_named_problem(key, said))
    for key in ("max_tokens", "max_cost_usd"):
        if (limit := getattr(definition, key)) is not None and limit <= 0:
            out.append(build_named_problem(key, build_sentence("profile_problem.above_zero")))
    if definition.temperature is not None and not 0 <= definition.temperature <= 2:
        said = build_sentence("profile_problem.number_between", least=0, most=2)
        out.append(build_named_problem("temperature", said))
    out += [build_named_problem("command", one) for one in _find_command_problems(definition)]
    if (wrong := find_wrong_option(definition.driver, definition.options)) is not None:
        out.append(wrong)
    if definition.worktree and not definition.directory:
        out.append(build_named_problem("worktree", build_sentence("profile_problem.needs_directory")))
    return out


def _find_command_problems(definition: ProfileDefinition) -> Iterator[Sentence]:
    for argument in definition.command:
        for found in _PLACEHOLDER.findall(argument):
            if found not in PLACEHOLDERS:
                yield build_sentence("profile_problem.unknown_placeholder", value=found, known=PLACEHOLDERS)
    brings_manifest = definition.driver == "acp" and definition.options.get("manifest")
    if definition.driver in ("command", "pty", "acp") and not definition.command and not brings_manifest:
        yield build_sentence("profile_problem.needs_command", driver=definition.driver)
    if definition.driver == "mcp" and not definition.command and not definition.options.get("url"):
        yield build_sentence("profile_problem.mcp_needs_command")


def put_profile(rows: Rows, command: PutProfile, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    wrong = find_profile_problems(command.name, command.definition)
    if wrong:
        told = {"problems": list(map(str, wrong))}
        raise Refused("bad_profile", details=told, name=command.name[:64], problems=wrong)
    found = rows.get(PROFILES, command.name)
    if found is not None and found.definition == command.definition and found.source == command.source:
        return []
    if found is not None and command.source == "builtin" and found.source in PEOPLES_SOURCES:
        return []
    return [copy_fields(command, ProfilePut)]


def delete_profile(rows: Rows, command: DeleteProfile, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    found = need_profile(rows, command.name)
    if command.by == HUB and found.source in PEOPLES_SOURCES:
        return []  # a person put it while the hub looked for profiles whose files are gone
    return [ProfileDeleted(name=command.name)]


def need_profile(rows: Rows, name: str) -> Profile:
    found = rows.get(PROFILES, name)
    if found is None:
        raise _profile_not_found(rows, name)
    return found


def _profile_not_found(rows: Rows, name: str) -> Refused:
    near = validation.get_nearest(name, [profile.name for profile in find_profiles(rows)])
    why = explain_missing_profile(rows, name)
    if near is not None and not why:
        return Refused("profile_not_found.near", "not_found", name=name[:64], near=near)
    if why:
        return Refused("profile_not_found.wrong_file", "not_found", name=name[:64], why=why)
    return Refused("profile_not_found", "not_found", name=name[:64])


def find_profiles(rows: Rows) -> list[Profile]:
    """All profiles by name."""
    return rows.find(PROFILES, order="_key")


def profile_put(tx: Tx, event: ProfilePut, record: Recorded) -> None:
    profile = copy_fields(event, Profile, changed_at=record.at, seq=record.seq)
    tx.put(PROFILES, profile)


def profile_deleted(tx: Tx, event: ProfileDeleted, record: Recorded) -> None:
    tx.drop(PROFILES, event.name)


DECIDE: dict[type[Command], Decide] = {PutProfile: put_profile, DeleteProfile: delete_profile}
PROJECT: dict[type[Event], Project] = {ProfilePut: profile_put, ProfileDeleted: profile_deleted}
