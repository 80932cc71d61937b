"""A verb: something that people and agents do to a noun, declared once for every door.

The REST endpoint, the MCP tool, the CLI verb and the page's call follow from the tables in `rules/<noun>/verbs.py`. A
door has code of its own only where the answer is neither the row nor "ok".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_type_hints

import msgspec

from greenroom.log.model import Command, Table
from greenroom.sentences import Sentence

Scalar = str | bool
Right = Literal["read", "chat", "register", "operate", "ask", "answer"]


class CliOption(NamedTuple):
    """How a field is typed as an option, where its name alone does not say it."""

    name: str
    metavar: str | None = None
    says: str | None = None
    """Its help; None is what the field says."""
    opposite: tuple[str, str] | None = None
    """The option that turns a flag off, and its help."""


class CliVerb(NamedTuple):
    """The CLI verb after `greenroom`: one request, and a line that says what was done."""

    words: str
    """The group and the verb, as `node drain`."""
    done: str
    """The printed line. `{name}` is an argument, or that field of the answer; `{id}` is the id that was named, and
    `{answer[id]}` the id in the answer."""
    example: str
    """What follows the words in the example of `--help`."""
    metavar: str = "ID"
    kind: str | None = None
    """The prefix of the ids that it takes; None is a name that is sent as it is typed."""
    about: str | None = None
    """What `--help` says of that id."""
    says: str | None = None
    """What `--help` adds to the sentence of the verb."""
    gone: str | None = "removed"
    """The key under which `--json` names what was removed; None says only ok."""
    takes: tuple[str, ...] | None = None
    """The fields that are typed, where these are not all that others give."""
    options: Mapping[str, CliOption] = {}
    """Options with another name or help than their field; one without a default is an argument otherwise."""
    undone: str | None = None
    """The printed line if all that was typed is empty, where that takes back what the verb does."""
    takes_many: bool = False
    """Whether several may be named, each of which is one request. Their lines go to standard error."""


class McpVerb(NamedTuple):
    """How a verb is offered to models."""

    name: str
    says: str
    """When to use it."""
    takes: tuple[str, ...] | None = None
    """The fields that models give, where these are not all that others give."""


@dataclass(frozen=True)
class Verb:
    """One command as every door offers it. The path's parameter is the first field of the command."""

    command: type[Command]
    method: str
    path: str
    right: Right
    says: str
    """One sentence, for the description of the API, the reference and `--help`."""
    takes: tuple[str, ...] = ()
    """The fields of the command that the caller may give, in the body or (DELETE) in the query."""
    body: str | None = None
    """The one field that the whole body is."""
    is_strict: bool = False
    """Whether a body with other keys is refused."""
    sets: Mapping[str, Scalar | Sentence] = field(default_factory=dict)
    """Fields that have the same value in every such command."""
    new_ids: Mapping[str, str] = field(default_factory=dict)
    """Fields that get a new id, each with its prefix."""
    answer: Table[Any] | None = None
    """The table whose row is the answer; without one the answer is `{"ok": true}`, or empty with status 204."""
    status: int = 200
    is_keyed: bool = False
    """Whether an Idempotency-Key makes a repeat return the first answer."""
    tool: McpVerb | None = None
    cli: CliVerb | None = None

    @property
    def id_field(self) -> str:
        """The field of the command that the path names."""
        return self.command.__struct_fields__[len(Command.__struct_fields__)]

    def build_command(self, by: Any, key: str | None, named: str, given: Mapping[str, Any], new_id: Any) -> Command:
        """The command from the path, the query and the body of a request."""
        fields = {self.id_field: named, **given, **self.sets}
        fields |= {name: new_id(prefix) for name, prefix in self.new_ids.items()}
        return self.command(by=by, key=key, **fields)


def build_input_type(verb: Verb, name: str, fields: tuple[str, ...], *, is_strict: bool) -> type[msgspec.Struct]:
    """A struct with these fields of the command, as they are declared there."""
    hints = get_type_hints(verb.command, include_extras=True)
    known = {one.name: one for one in msgspec.structs.fields(verb.command)}
    declared: list[Any] = [
        (one, hints[one]) if known[one].required else (one, hints[one], known[one].default) for one in fields
    ]
    return msgspec.defstruct(name, declared, frozen=True, kw_only=True, forbid_unknown_fields=is_strict)
