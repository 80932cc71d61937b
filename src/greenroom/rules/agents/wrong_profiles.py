"""Profile files with errors: the hub remembers them, and every attempt to use one gets the reason."""

import msgspec

from greenroom.log.model import Command, Context, Decide, Event, Project, Recorded, Row, Rows, Table, Tx
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.queries import need_right
from greenroom.sentences import Sentence, Words, build_sentence


class WrongFile(msgspec.Struct, frozen=True):
    """A file, or one profile in it, that cannot be used: the problem names the key and what to write."""

    file: str
    """Its path in the data directory."""
    name: str | None
    """None where it is not known which profiles the file was to give."""
    problem: Words
    sentences: dict[str, Sentence] = {}


class WrongProfile(Row, frozen=True, kw_only=True):
    """One of them as it was when the files were last read."""

    file: str
    name: str
    found: WrongFile


WRONG_PROFILES = Table("wrong_profile", WrongProfile, ("file", "name"), (("name",),))


class NoteWrongProfiles(Command, frozen=True, kw_only=True):
    """Say what is wrong with the files of profiles now: all of it."""

    found: list[WrongFile]


class WrongProfilesNoted(Event, frozen=True, kw_only=True):
    """The files of profiles that are wrong are these, and no others."""

    found: list[WrongFile]


def note_wrong_profiles(rows: Rows, command: NoteWrongProfiles, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    found = {(one.file, one.name or ""): one for one in command.found}
    if found == {(row.file, row.name): row.found for row in rows.find(WRONG_PROFILES)}:
        return []
    return [WrongProfilesNoted(found=list(found.values()))]


def find_wrong_profiles(rows: Rows) -> list[WrongFile]:
    """What is wrong with the files of profiles, as they were when they were last read."""
    return [row.found for row in rows.find(WRONG_PROFILES, order="_key")]


def explain_missing_profile(rows: Rows, name: str) -> list[Sentence]:
    """What is wrong with the file that was to give a profile, or might have been; nothing if nothing is known to be."""
    own = rows.find(WRONG_PROFILES, {"name": name}) or rows.find(WRONG_PROFILES, {"name": ""})
    return [build_sentence("wrong_file.of_profile", file=row.file, problem=row.found.problem) for row in own]


def wrong_profiles_noted(tx: Tx, event: WrongProfilesNoted, record: Recorded) -> None:
    for row in tx.find(WRONG_PROFILES):
        tx.drop(WRONG_PROFILES, row.file, row.name)
    for one in event.found:
        tx.put(WRONG_PROFILES, WrongProfile(file=one.file, name=one.name or "", found=one))


DECIDE: dict[type[Command], Decide] = {NoteWrongProfiles: note_wrong_profiles}
PROJECT: dict[type[Event], Project] = {WrongProfilesNoted: wrong_profiles_noted}
