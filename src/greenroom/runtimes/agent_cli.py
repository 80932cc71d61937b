"""Everything that Greenroom knows of one agent CLI, as data from the CLI's folder in `runtimes/agents`.

Hub, node and command line read it without loading a driver or starting anything: `DriverInfo.load_driver` is the only
way from here to code that speaks to a runtime.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from greenroom.json_types import JsonObject
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.runtimes.acp_manifest import AcpManifest
from greenroom.runtimes.driver_options import AcpOptions, DriverOptions
from greenroom.runtimes.model_script import FAKE_SCRIPT, ModelScript, ModelWiring
from greenroom.runtimes.prompt_text import PromptQuoting
from greenroom.sentences import build_sentence

if TYPE_CHECKING:
    from greenroom.runtimes.contract import Driver

ToolKind = Literal["read", "search", "write", "execute", "network", "plan"]


class SamplePrompts(msgspec.Struct, frozen=True, kw_only=True):
    """Prompts that do the same each time, for the tour and new workflows. The page fills in the words in braces."""

    task: str
    """Say {hello}, ask for permission to run a command, ask the person {question}, say {end}."""
    reply: str
    """Post {text} into the thread {thread_id}."""
    say: str
    """Say {text}."""


class DriverInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One driver, by the name that profiles give."""

    name: str
    manifest: AcpManifest | None = None
    """How its agent is started and given things, if the ACP driver drives it."""
    load_own_driver: "Callable[[], Driver] | None" = None
    """Loads the code that drives it, if that is code of its own."""
    quoting: PromptQuoting
    """Which words of a prompt it would act on by itself."""
    attached_quoting: PromptQuoting | None = None
    """The same for sessions with the option `attach`, where that differs."""
    options: type[DriverOptions] = AcpOptions
    """What a profile can say in `options`."""
    untold: frozenset[str] = frozenset({"temperature"})
    """What a workflow step can say of its agent and the driver has no way to hand to its runtime."""
    lists_models: bool = False
    """Whether its runtime can list its models. Others pass any name to their provider, which refuses it."""
    samples: SamplePrompts | None = None
    """Set if its agents follow a script."""
    script: ModelScript = FAKE_SCRIPT
    """What makes the scripted model behind it do things."""
    wire_model: Callable[[Path, str], ModelWiring] | None = None
    """What puts a runtime with this home on the scripted model at this address."""

    def load_driver(self) -> "Driver":
        """The driver itself. The first call imports its code."""
        if self.load_own_driver is not None:
            return self.load_own_driver()
        from greenroom.runtimes.drivers.acp.driver import AcpDriver

        return AcpDriver(self.manifest, self.quoting)


class McpConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Where a CLI keeps its MCP servers, for `greenroom connect`."""

    file: str
    """Below the home."""
    key: str
    """The key that holds the servers."""
    build_entry: Callable[[list[str]], JsonObject]
    """Its value for a server that this command starts."""
    moved_by: tuple[str, str] = ("", "")
    """The variable that names another folder for its settings, and the file in there."""


class ConversationLine(msgspec.Struct, frozen=True, kw_only=True):
    """What one line of a stored conversation says."""

    directory: str = ""
    said: Any = None
    """What a person has said: a text, or a list of parts with texts."""


class ConversationFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Where a CLI keeps the conversations that people had with it, one file each, named by its id."""

    folder: str
    """Below the home."""
    variable: str
    """The variable that names another folder."""
    pattern: str
    """The files in that folder."""
    read_line: Callable[[JsonObject], ConversationLine]


class CallUsage(msgspec.Struct, frozen=True, kw_only=True):
    """What one model call has used."""

    id: str
    """The runtime's own id of the call: one is written down again when there is more to say of it."""
    input_tokens: int
    output_tokens: int
    model: str | None


class AgentCli(msgspec.Struct, frozen=True, kw_only=True):
    """One agent CLI: all that differs between it and another."""

    name: str
    """What its folder, `greenroom connect` and the doctor call it."""
    display_name: str
    program: str | None = None
    """Its command on PATH, if it can be installed there."""
    drivers: tuple[DriverInfo, ...] = ()
    """The ways to drive it; none for a program that people only connect to the hub."""
    profile: ProfileDefinition | None = None
    """The profile that ships with Greenroom."""
    tools: Mapping[ToolKind, str] = {}
    """The names of its tools, by what they do, for the policy. The same name means the same with every CLI."""
    own_paths: tuple[str, ...] = ()
    """Files and folders of a project that change what it may do: writing to them always asks."""
    skills: tuple[str, ...] = ()
    """Folders of a project in which it looks for skills."""
    mcp_config: McpConfig | None = None
    conversations: ConversationFiles | None = None
    read_usage_entry: Callable[[JsonObject], CallUsage | str | None] | None = None
    """Reads a line of the files that `AcpManifest.record` names. A text is the error of the turn."""
    has_own_rules: Callable[[Path, str], bool] | None = None
    """Whether a folder's own settings spare it the asking; a person's home, the second argument, does not count."""


def make_profile(driver: str, display_name: str, maker: str) -> ProfileDefinition:
    """The profile of a CLI that somebody else makes."""
    description = build_sentence("profile_about.maker", maker=maker)
    return ProfileDefinition(driver=driver, display_name=display_name, description=description, type="builtin")


def build_plain_entry(command: list[str]) -> JsonObject:
    """A server's entry as most programs have it."""
    return {"command": command[0], "args": command[1:]}


def build_stdio_entry(command: list[str]) -> JsonObject:
    """The same for programs that want to be told how they talk to it."""
    return {"type": "stdio", **build_plain_entry(command)}


def count_tokens(used: JsonObject, *names: str) -> int:
    """The sum of the counts under these names."""
    return sum(int(value) for name in names if isinstance(value := used.get(name), int | float))
