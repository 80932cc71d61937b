"""The verbs for MCP servers, for every door."""

from greenroom.rules.servers.commands import AcceptTools, HoldTools, PutServer, RemoveServer
from greenroom.rules.verb import CliVerb, Verb

_ONE = "/api/servers/{server}"
SERVER_VERBS = (
    Verb(PutServer, "PUT", _ONE, "operate", "Register or change an MCP server", body="definition", is_keyed=True),
    Verb(
        RemoveServer,
        "DELETE",
        _ONE,
        "operate",
        "Remove an MCP server",
        status=204,
        is_keyed=True,
        cli=CliVerb("tools remove", "{id} is removed.", "files", "SERVER"),
    ),
    Verb(
        AcceptTools,
        "POST",
        f"{_ONE}/accept",
        "operate",
        "Accept held tools",
        takes=("tools",),
        is_strict=True,
        is_keyed=True,
    ),
    Verb(
        HoldTools,
        "POST",
        f"{_ONE}/hold",
        "operate",
        "Hold tools: hide them from agents",
        takes=("tools",),
        is_strict=True,
        is_keyed=True,
        cli=CliVerb("tools hold", "Held: {tools}", "files delete_file", "SERVER"),
    ),
)
