"""The MCP transport of 2024-11-05, for clients that support no other."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from greenroom.doors.compat.legacy_sse.transport import LegacySse

PATHS = ("/sse", "/messages")
"""Where it is, beside `/mcp/sse`, which newer clients use too."""


def load_transport() -> "type[LegacySse]":
    """The transport. It needs the MCP SDK, which takes long to import."""
    from greenroom.doors.compat.legacy_sse.transport import LegacySse

    return LegacySse
