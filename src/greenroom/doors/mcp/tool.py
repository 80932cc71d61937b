"""Declarations of what the MCP door offers: tools, resources and prompts, in explicit lists."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import msgspec

from greenroom.json_types import JsonSchema

if TYPE_CHECKING:
    from greenroom.rules.access.model import Principal
    from greenroom.services.hub import Hub

A = TypeVar("A")
Needs = Literal["read", "chat", "register", "operate", "ask", "answer"]


class NoArgs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of something that takes none."""


@dataclass(frozen=True, slots=True)
class McpCall(Generic[A]):
    """One call. Who calls is `by`, taken from the credential and never from the arguments."""

    hub: "Hub"
    by: "Principal"
    args: A
    language: str | None = None
    """What the client asked for by `?lang=`."""
    has_progress: bool = False
    """The client gets progress every few seconds, so that it waits beyond its own time-out."""
    token: str = field(default="", repr=False)
    """The token that proves `by`, for the one answer that returns it to the agent; empty without one."""
    meta: Any = None
    """What the client says about the call beside its arguments."""


class TextBlock(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    """A block of text in a result or a prompt."""

    text: str


class ImageBlock(msgspec.Struct, frozen=True, tag_field="type", tag="image", rename={"mime_type": "mimeType"}):
    """An image in a result; `data` is base64."""

    data: str
    mime_type: str


class AudioBlock(msgspec.Struct, frozen=True, tag_field="type", tag="audio", rename={"mime_type": "mimeType"}):
    """A sound in a result; `data` is base64."""

    data: str
    mime_type: str


class FileBlock(msgspec.Struct, frozen=True, tag_field="type", tag="resource"):
    """A file in a result: its uri, mimeType and blob."""

    resource: dict[str, str]


class Blocks(msgspec.Struct, frozen=True):
    """A result of several blocks. Any other result becomes one text block of JSON."""

    blocks: list[Any]
    """Text and Image; a server behind the hub may have given any other that the protocol knows."""
    is_error: bool = False
    structured: Any = None


@dataclass(frozen=True)
class Tool(Generic[A]):
    """A tool. `args` is a struct with forbid_unknown_fields; clients see its schema.

    For a principal without the right `needs` the tool does not exist. A tool that `waits` may take minutes: it is
    cancelled when its caller disconnects.
    """

    name: str
    description: str
    args: type[A]
    needs: Needs
    run: Callable[[McpCall[A]], Awaitable[Any]]
    waits: bool = False
    schema: JsonSchema = field(init=False, repr=False)
    decode: Callable[[bytes], A] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", build_schema(self.args))
        object.__setattr__(self, "decode", msgspec.json.Decoder(self.args).decode)


@dataclass(frozen=True)
class Resource:
    """Something to read at a fixed address. A str is sent as it is, anything else as JSON."""

    uri: str
    name: str
    description: str
    needs: Needs
    run: Callable[[McpCall[NoArgs]], Awaitable[Any]]
    mime_type: str = "application/json"


@dataclass(frozen=True)
class ResourceTemplate(Generic[A]):
    """Addresses of one form, as `chat://threads/{thread_id}/state`; the fields of `args` are its placeholders."""

    uri_template: str
    name: str
    description: str
    args: type[A]
    needs: Needs
    run: Callable[[McpCall[A]], Awaitable[Any]]
    mime_type: str = "application/json"
    pattern: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parts = re.split(r"\{(\w+)\}", self.uri_template)
        names = parts[1::2]
        if set(names) != set(build_schema(self.args)["properties"]):
            raise ValueError(f"{self.uri_template}: its placeholders are not the fields of {self.args.__name__}")
        parts[::2] = map(re.escape, parts[::2])
        parts[1::2] = [f"(?P<{name}>[^/]+)" for name in names]
        object.__setattr__(self, "pattern", re.compile("".join(parts)))


@dataclass(frozen=True)
class Prompt(Generic[A]):
    """A prompt that a person may pick in a client. The fields of `args` are strings; `run` returns its text."""

    name: str
    description: str
    args: type[A]
    needs: Needs
    run: Callable[[McpCall[A]], Awaitable[str]]
    schema: JsonSchema = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", build_schema(self.args))


@dataclass(frozen=True)
class McpCatalog:
    """All that the door offers, in the order in which clients are shown it."""

    tools: tuple[Tool[Any], ...]
    resources: tuple[Resource, ...] = ()
    templates: tuple[ResourceTemplate[Any], ...] = ()
    prompts: tuple[Prompt[Any], ...] = ()
    instructions: str | None = None


def may_use(by: "Principal", needs: Needs) -> bool:
    """Whether something exists for this principal. A right to chat includes asking; a room's token may only ask."""
    return needs in by.rights or (needs == "ask" and "chat" in by.rights)


def build_schema(args: type[Any]) -> JsonSchema:
    """The JSON schema of a struct as clients are shown it: short, because a model reads all of it, and without
    references, which several clients do not follow. A field that may be left out may also be null."""
    schema = msgspec.json.schema(args)
    defs: JsonSchema = schema.pop("$defs", {})
    inlined: JsonSchema = _inline_refs(schema, defs)
    if inlined.get("additionalProperties") is not False:
        raise TypeError(f"{args.__name__} must be a struct with forbid_unknown_fields")
    return inlined


def _inline_refs(node: Any, defs: JsonSchema) -> Any:
    match node:
        case {"$ref": str(ref)}:
            found = dict(defs[ref.removeprefix("#/$defs/")])
            # A struct's own name and docstring add nothing for a client to the field's description.
            found.pop("title", None)
            rest = {key: value for key, value in node.items() if key != "$ref"}
            return _inline_refs(found | rest, defs)
        case {"anyOf": [given, {"type": "null"}]}:
            rest = {key: value for key, value in node.items() if key not in ("anyOf", "default")}
            return _inline_refs(given | rest, defs)
        case {"enum": list(values)} if "type" not in node and all(isinstance(v, str) for v in values):
            return {"type": "string", **node}
        case dict():
            return {key: _inline_refs(value, defs) for key, value in node.items()}
        case list():
            return [_inline_refs(value, defs) for value in node]
        case _:
            return node
