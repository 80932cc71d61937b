"""The `options` of the general drivers. Those of an agent are in its folder."""

from typing import Annotated, Literal

import msgspec

from greenroom.json_types import ToolArguments
from greenroom.runtimes.acp_manifest import AcpManifest

_Seconds = Annotated[float, msgspec.Meta(gt=0)]


class DriverOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of one driver; unknown ones are refused."""


class AcpOptions(DriverOptions, frozen=True, kw_only=True):
    mode: str | None = None
    """The session's mode, by the agent's own name for it."""


class OwnAcpOptions(AcpOptions, frozen=True, kw_only=True):
    manifest: AcpManifest = AcpManifest()
    """What has to be known of an agent that Greenroom does not know."""


class PtyOptions(DriverOptions, frozen=True, kw_only=True):
    prompt: Literal["type", "argument", "none"] = "type"
    """type: put in as if typed. argument: the command has {prompt}."""
    ready: str | None = None
    """A pattern to wait for before anything is typed."""
    cancel_keys: str | None = None
    """What stops the program at its work; Ctrl-C if nothing is said."""


class CommandOptions(DriverOptions, frozen=True, kw_only=True):
    prompt: Literal["argument", "stdin"] = "argument"
    """argument: the command has {prompt}."""
    timeout_s: _Seconds | None = None
    """When the command is ended."""


class McpOptions(DriverOptions, frozen=True, kw_only=True):
    tool: str
    url: str | None = None
    """Where the server is, unless the profile's command starts it."""
    prompt_argument: str = "prompt"
    arguments: ToolArguments = {}
    """Further arguments, the same in every call."""
    bearer_env: str | None = None
    """The variable with the credential for the server at `url`; the profile passes it on by pass_env."""
