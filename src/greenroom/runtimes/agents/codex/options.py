"""The `options` of a Codex profile."""

from typing import Literal

from greenroom.json_types import JsonObject
from greenroom.runtimes.driver_options import DriverOptions


class CodexOptions(DriverOptions, frozen=True, kw_only=True):
    attach: bool = False
    """Whether people can attach to the live session, in Codex's own terminal program."""
    approval_policy: Literal["untrusted", "on-request", "on-failure", "never"] = "untrusted"
    sandbox: Literal["read-only", "workspace-write", "danger-full-access"] = "workspace-write"
    config: JsonObject = {}
    """Settings of Codex for this agent, by their dotted names."""
