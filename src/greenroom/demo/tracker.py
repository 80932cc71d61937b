"""`python -m greenroom.demo.tracker`: a small MCP server for the demo, with issues that it keeps in memory."""

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

_READS = ToolAnnotations(read_only_hint=True)
_ENDS = ToolAnnotations(read_only_hint=False, destructive_hint=True)
server = MCPServer("tracker")
issues = {
    412: ["The sync test fails once in two hundred runs", "It waits for the clock, not for the commit."],
    418: ["Let operators raise the limit of a request's body", "Four megabytes are too few for screenshots."],
    421: ["Say in the upgrade guide that `node join` takes a file"],
}


def _need_issue(number: int) -> list[str]:
    if number not in issues:
        raise ToolError(f"There is no issue {number}: look with find_issues.")
    return issues[number]


@server.tool(structured_output=False, annotations=_READS)
async def find_issues(words: str = "") -> str:
    """List open issues whose title holds the words; all of them without any."""
    found = [f"#{number} {lines[0]}" for number, lines in issues.items() if words.lower() in lines[0].lower()]
    return "\n".join(found) or "No open issue has these words in its title."


@server.tool(structured_output=False, annotations=_READS)
async def read_issue(number: int) -> str:
    """Read an issue with its comments, oldest first."""
    return "\n\n".join(_need_issue(number))


@server.tool(structured_output=False)
async def comment_on_issue(number: int, text: str) -> str:
    """Write a comment under an issue. Everybody who follows it is told."""
    _need_issue(number).append(text)
    return f"The comment stands under #{number}."


@server.tool(structured_output=False, annotations=_ENDS)
async def close_issue(number: int, reason: str) -> str:
    """Close an issue for good, and tell everybody who follows it why."""
    _need_issue(number)
    del issues[number]
    return f"#{number} is closed: {reason}"


if __name__ == "__main__":
    server.run("stdio")
