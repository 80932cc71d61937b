"""What a profile can say in `options`, for each driver."""

from typing import Annotated, Any, Literal

import msgspec

from greenroom import validation
from greenroom.nouns.agents.acp_manifest import AcpManifest

_Seconds = Annotated[float, msgspec.Meta(gt=0)]


class _Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class ClaudeOptions(_Options, frozen=True, kw_only=True):
    gate: Literal["all", "runtime"] = "runtime"
    """all: every call of a tool is asked. runtime: what Claude Code's own rules do not allow by themselves."""
    permission_mode: Literal["default", "manual", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"] = (
        "default"
    )
    attach: bool = False
    """Run Claude Code's own terminal program, so that people can sit at it."""


class CodexOptions(_Options, frozen=True, kw_only=True):
    attach: bool = False
    """Whether a person can sit in the live session, in Codex's own terminal program."""
    approval_policy: Literal["untrusted", "on-request", "on-failure", "never"] = "untrusted"
    sandbox: Literal["read-only", "workspace-write", "danger-full-access"] = "workspace-write"
    config: dict[str, Any] = {}
    """Settings of Codex for this agent, by their dotted names."""


class AcpOptions(_Options, frozen=True, kw_only=True):
    mode: str | None = None
    """The session's mode, by the agent's own name for it."""


class OwnAcpOptions(AcpOptions, frozen=True, kw_only=True):
    manifest: AcpManifest = AcpManifest()
    """What has to be known of an agent that Greenroom does not know."""


class OpencodeOptions(AcpOptions, frozen=True, kw_only=True):
    attach: bool = False
    """Whether a person can sit in the live session, in OpenCode's own terminal program."""


class PtyOptions(_Options, frozen=True, kw_only=True):
    prompt: Literal["type", "argument", "none"] = "type"
    """type: put in as if typed. argument: the command has {prompt}."""
    ready: str | None = None
    """A pattern to wait for before anything is typed."""
    cancel_keys: str | None = None
    """What stops the program at its work; Ctrl-C if nothing is said."""


class CommandOptions(_Options, frozen=True, kw_only=True):
    prompt: Literal["argument", "stdin"] = "argument"
    """argument: the command has {prompt}."""
    timeout_s: _Seconds | None = None
    """When the command is ended."""


class McpOptions(_Options, frozen=True, kw_only=True):
    tool: str
    url: str | None = None
    """Where the server is, unless the profile's command starts it."""
    prompt_argument: str = "prompt"
    arguments: dict[str, Any] = {}
    """Further arguments, the same in every call."""
    bearer_env: str | None = None
    """The variable with the credential for the server at `url`; the profile passes it on by pass_env."""


OPTIONS: dict[str, type[_Options]] = {
    **dict.fromkeys(("rehearsal", "builtin", "copilot", "gemini", "claude-agent-acp", "codex-acp"), AcpOptions),
    "acp": OwnAcpOptions,
    "claude": ClaudeOptions,
    "codex": CodexOptions,
    "opencode": OpencodeOptions,
    "pty": PtyOptions,
    "command": CommandOptions,
    "mcp": McpOptions,
}


def find_wrong_option(driver: str, options: dict[str, Any]) -> str | None:
    """The first option that a driver does not take, with what to write instead. Nothing is known of other drivers."""
    kind = OPTIONS.get(driver)
    if kind is None:
        return None
    try:
        msgspec.convert(options, kind)
    except msgspec.ValidationError as error:
        key, problem = validation.explain_error(error, kind)
        return f"options.{key}: {problem}" if key else f"options: {problem}"
    return None
