"""`greenroom mcp`: an MCP server on stdin and stdout that an agent starts; it forwards messages to the hub."""

import argparse
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from greenroom import settings
from greenroom.cli.client import HubClient, add_options, find_hub, get_own_url
from greenroom.cli.terminal import print_notice
from greenroom.cli.token import ENROLLING, write_private
from greenroom.errors import Refused
from greenroom.log.data_directory import MCP_TOKEN

ASSISTANT_FILE = "agentassistant-mcp.toml"
_ASSISTANT_PORT = 22080
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "mcp",
        help="serve MCP on stdin and stdout for an agent",
        description="An MCP server on stdin and stdout that passes every call to the hub. Agents start it. Without a"
        f" token it uses one for agents, which it creates once and stores in {MCP_TOKEN} in the data directory. It"
        f" never uses the operator's token. Host, port and token can also be in"
        f" {ASSISTANT_FILE}, the file of Agent Assistant.",
        epilog="example: claude mcp add greenroom -- greenroom mcp --token-file ~/.greenroom/claude.token",
    )
    add_options(parser, answers=False)
    parser.add_argument("--host", help="host of the hub, instead of --url")
    parser.add_argument("--port", type=int, help=f"port of the hub (default: {settings.PORT})")
    parser.add_argument("--lang", help="the agent's preferred language, such as zh-CN")
    parser.add_argument(
        "--config",
        metavar="FILE",
        help=f"settings of Agent Assistant (default: {ASSISTANT_FILE} in this directory, if it names this machine)",
    )
    parser.add_argument("--web", action="store_true", help="open the page in a browser, logged in with the token")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    import anyio

    from greenroom.doors.mcp.stdio import serve_stdio

    _apply_assistant_file(args)
    if args.url is None and (args.host or args.port):
        args.url = f"http://{args.host or '127.0.0.1'}:{args.port or settings.PORT}"
    if not (args.token or args.token_file or settings.read_hub_address()[1]):
        args.token_file = _ensure_own_token_file(args)
    url, token = find_hub(args)
    if args.web:
        open_page(url, token)
    anyio.run(serve_stdio, url, token, args.lang)
    return 0


def open_page(url: str, token: str) -> None:
    """Open the page in a browser; where there is none, say its address, without the token."""
    import webbrowser

    if not webbrowser.open(f"{url}/?{urlencode({'token': token})}"):
        print_notice(f"greenroom mcp: no browser could be opened; the page is at {url}/")


def _apply_assistant_file(args: argparse.Namespace) -> None:
    """Take host, port and token from Agent Assistant's file where the command line does not say them.

    A file that lies in a project may come from a stranger: it is only heeded when it names this machine.
    """
    path = Path(args.config or ASSISTANT_FILE)
    if args.url or settings.read_hub_address()[0] or (not args.config and not path.is_file()):
        return
    try:
        found = tomllib.loads(path.read_text())
        port = int(found.get("agentassistant_server_port") or _ASSISTANT_PORT)
    except (OSError, ValueError, TypeError) as error:
        raise Refused.in_words("bad_config", f"{path} cannot be read: {error}.") from error
    host = str(found.get("agentassistant_server_host") or "127.0.0.1")
    if not args.config and host not in _LOOPBACK:
        print_notice(
            f"greenroom mcp: {path} names another machine and is left alone; use --config {path} if you trust it"
        )
        return
    args.host = args.host or host
    args.port = args.port or port
    if not args.token and not args.token_file and not settings.read_hub_address()[1]:
        args.token = str(found.get("agentassistant_server_token") or "") or None
    print_notice(f"greenroom mcp: using {path} for {args.host}:{args.port}")


def _ensure_own_token_file(args: argparse.Namespace) -> str | None:
    """The file with the token for agents of this machine's hub, made with the operator's token when it is not there."""
    data = settings.resolve_data_dir(args.data)
    url, operator = find_hub(args)
    if url != get_own_url(data):
        return None
    file = data / MCP_TOKEN
    if not file.exists():
        body = {"kind": "agent", "name": "greenroom mcp", "rights": ENROLLING}
        _write_token(file, HubClient(url, operator).post("credentials", body=body)["token"])
    return str(file)


def _write_token(file: Path, token: str) -> None:
    try:
        write_private(file, token + "\n")
    except Refused:
        if not file.exists():  # else another one that starts at the same time was quicker: its token is as good
            raise
