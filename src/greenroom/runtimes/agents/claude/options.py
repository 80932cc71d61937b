"""The `options` of a Claude Code profile."""

from typing import Literal

from greenroom.runtimes.driver_options import DriverOptions


class ClaudeOptions(DriverOptions, frozen=True, kw_only=True):
    gate: Literal["all", "runtime"] = "runtime"
    """all: every call of a tool is asked. runtime: what Claude Code's own rules do not allow by themselves."""
    permission_mode: Literal["default", "manual", "plan", "acceptEdits", "auto", "dontAsk", "bypassPermissions"] = (
        "default"
    )
    attach: bool = False
    """Run Claude Code's own terminal program, so that people can attach to it."""
