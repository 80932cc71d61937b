"""`greenroom mcp`: the MCP server on stdin and stdout that an agent starts for itself; it passes on to the hub."""

import argparse
from pathlib import Path
from typing import Any

from greenroom import settings
from greenroom.cli.client import Client, add_options, find_hub, get_own_url
from greenroom.cli.token import ENROLLING, write_private
from greenroom.log.directory import MCP_TOKEN
from greenroom.log.errors import Refused


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "mcp",
        help="serve MCP on stdin and stdout for an agent",
        description="An MCP server on stdin and stdout that passes every call on to the hub. Agents start it. Without a"
        f" token it uses one for agents, which it makes once and keeps in {MCP_TOKEN} in the data directory; never the"
        " operator's.",
        epilog="example: claude mcp add greenroom -- greenroom mcp --token-file ~/.greenroom/claude.token",
    )
    add_options(parser, answers=False)
    parser.add_argument("--host", help="host of the hub, instead of --url")
    parser.add_argument("--port", type=int, help=f"port of the hub (default: {settings.PORT})")
    parser.add_argument("--lang", help="language that the agent shall prefer, such as zh-CN")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    import anyio

    from greenroom.doors.mcp.stdio import serve_stdio

    if args.url is None and (args.host or args.port):
        args.url = f"http://{args.host or '127.0.0.1'}:{args.port or settings.PORT}"
    if not (args.token or args.token_file or settings.hub_named()[1]):
        args.token_file = _own_token(args)
    anyio.run(serve_stdio, *find_hub(args), args.lang)
    return 0


def _own_token(args: argparse.Namespace) -> str | None:
    """The file with the token for agents of this machine's hub, made with the operator's token when it is not there."""
    data = settings.data_dir(args.data)
    url, operator = find_hub(args)
    if url != get_own_url(data):
        return None
    file = data / MCP_TOKEN
    if not file.exists():
        body = {"kind": "agent", "name": "greenroom mcp", "rights": ENROLLING}
        _keep(file, Client(url, operator).post("credentials", body=body)["token"])
    return str(file)


def _keep(file: Path, token: str) -> None:
    try:
        write_private(file, token + "\n")
    except Refused:
        if not file.exists():  # else another one that starts just now was quicker: its token is as good
            raise
