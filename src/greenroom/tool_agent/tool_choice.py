"""Which tool of which MCP server to call, from the profile and the options of the agent's process."""

import os
from typing import Any

import msgspec

from greenroom.runtimes.driver_options import McpOptions

CHOICE = "GREENROOM_TOOL"
"""The variable that holds the choice, as JSON."""


class ToolChoice(McpOptions, frozen=True, kw_only=True):
    """A server by its command or its address, one of its tools, and the argument that takes the prompt."""

    command: list[str] = []


def parse_tool_choice(command: list[str], options: dict[str, Any]) -> ToolChoice:
    """What a profile says, in its command and its options. Raises ValueError with a sentence."""
    try:
        choice = msgspec.convert({**options, "command": command}, ToolChoice)
    except msgspec.ValidationError as error:
        raise ValueError(f"options: {error}") from None
    if bool(choice.command) == bool(choice.url):
        raise ValueError("write either command, which starts the MCP server, or options.url, where it is")
    if choice.url and not choice.url.startswith(("http://", "https://")):
        raise ValueError("options.url: write an address that begins with http:// or https://")
    return choice


def read_own_choice() -> ToolChoice:
    """What this process was started with."""
    return msgspec.json.decode(os.environ[CHOICE], type=ToolChoice)
