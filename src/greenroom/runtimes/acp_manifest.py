"""What a driver must know of an ACP agent: how to start it, how it takes values, and its traps."""

from typing import Literal

import msgspec

from greenroom.json_types import JsonObject

TOKEN = "GREENROOM_TOKEN"  # noqa: S105
"""The variable in which an agent finds its credential when its manifest says so."""


class ValueInjection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ways to hand a value over. Every text in it is a template.

    {value} is the value itself (a model's name, the instructions, the hub's URL, a mode), {file} a private file that
    holds it, {scratch} the private folder, {secret} a password that nobody else knows, {hub} what the hub is called.
    """

    args: list[str] = []
    """Added to the command."""
    env: dict[str, str] = {}
    json_env: dict[str, JsonObject] = {}
    """Variables that hold JSON: objects from several sources, also the profile's own, are merged."""
    files: dict[str, str] = {}
    """Files in the private folder, by their names."""
    meta: JsonObject = {}
    """Merged into `_meta` of session/new, session/load and session/resume."""


class UsageFiles(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Files in which an agent writes down what each model call has used, as soon as it is answered."""

    form: Literal["copilot", "gemini"]
    """How they are written."""
    folder: str
    """In HOME, unless a variable names another."""
    variable: str = ""
    files: tuple[str, ...]
    """Patterns with {id} and {id8}, the session's own file and those of its helpers."""
    having: str
    """What a line that counts has in it."""
    error_begins: str = ""
    """How its words begin that it says in place of the model when a turn has failed."""


class AcpManifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One ACP agent. The defaults are what the protocol says; all else is a trap that somebody fell into."""

    name: str = "acp"
    command: list[str] = []
    """How it is started where a profile names no command; the first is looked for on PATH."""
    version: tuple[str, ...] = ("--version",)
    libraries: tuple[str, ...] | None = None
    """For an agent that ships with Greenroom: how to find it. None for all others, which are asked."""
    unset: list[str] = []
    """Variables that it must not see."""
    always: ValueInjection = ValueInjection()
    own_rules: Literal["claude"] | None = None
    """Whose settings a folder may have that spare it the asking."""
    asking: ValueInjection = ValueInjection()
    """The option that makes it ask all the same."""
    model: ValueInjection | None = None
    """None: by the session's option of category `model`."""
    temperature: ValueInjection | None = None
    """None: not possible, which `DriverInfo.untold` says too."""
    mode: ValueInjection | None = None
    """None: by session/set_mode."""
    default_mode: str | None = None
    """The mode in which it asks before it acts, where that is not its own default."""
    instructions: ValueInjection | None = None
    """None: before the first prompt of a new session."""
    hub: ValueInjection = ValueInjection()
    """What lets it use the hub's tools unasked, and the hub itself where `is_hub_in_session` is false."""
    is_hub_in_session: bool = True
    """Whether it gets the hub by `mcpServers` of the session, with the credential in a header."""
    credential: Literal["header", "variable"] = "header"
    """variable: it would pass a header on in arguments, which everybody can read, but knows ${NAME} in its place."""

    resume: Literal["told", "load", "none"] = "told"
    """told: session/resume if it says that it can, else session/load. load: though it can resume. none: it cannot."""
    resume_waits: str | None = None
    """A pattern of files in HOME, with {minute} and {id8}: a session that is loaded while there is one is destroyed."""
    knows_tasks: bool = False
    """Whether it remembers which task a prompt belongs to, and finishes one that its earlier process started.

    `_meta.greenroom` of session/prompt has `task`, `resumes` and `is_step`.
    """
    refusal_ends_turn: bool = False
    """Whether a refused permission ends the turn, so that the driver has to prompt the agent to continue."""
    second_prompt: Literal["queued", "cancels_first"] = "cancels_first"
    usage: Literal["turn", "session", "last_call", "each_call"] = "turn"
    """What `usage` of a prompt's answer counts; last_call is less than the turn used.

    each_call: it is reported with each model call, in `_meta` of the resulting words.
    """
    record: UsageFiles | None = None
    """Where it reports more than in the answer to a prompt, which comes late, and after a cancel may be empty."""
    is_replay_late: bool = False
    """Whether it continues to replay the history of a loaded session after it has answered that it is loaded."""
    tool_name: Literal["name", "call_id", "first_title"] = "name"
    """Where the name of a tool is: in `name`, in the call's id before `__`, or in the first title."""
    flat_names: bool = False
    """Whether a tool of a server is known only as `server_tool`, and asked about by that name: the hub is then given
    under a name that nobody can foresee, and what else has such a name is not one of the agent's own tools."""
    allows_hub: bool = False
    """Whether it calls the hub unasked: what it asks about and looks like a tool of the hub is another server's."""
    early_calls: bool = False
    """Whether calls are announced before their arguments are known."""
    late_arguments: bool = False
    """Whether it can ask for permission before it sends the arguments of the call, which then follow at once."""
    unnamed_said: Literal["said", "notice"] = "said"
    """notice: words without a message id are the runtime's own, such as a warning, and not the agent's."""
