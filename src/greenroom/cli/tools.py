"""`greenroom tools`: MCP servers whose tools agents get through the hub, and which tools a person has accepted."""

import argparse
import json
import shlex
from typing import Any

from greenroom.cli.arg_parser import parse_count
from greenroom.cli.client import HubClient, open_client
from greenroom.cli.terminal import count_things, escape_line, escape_lines, print_notice, show_json, show_table
from greenroom.cli.verb_group import add_group
from greenroom.cli.verbs import add_verbs
from greenroom.errors import Refused
from greenroom.link.ask_kinds import RISKS
from greenroom.rules.servers.verbs import SERVER_VERBS


def add_to(verbs: Any) -> None:
    group = add_group(verbs, "tools", "manage MCP servers whose tools agents use through the hub")
    add = group.add
    adding = add("add", run_add, "register or change a server", "add files --command 'mcp-files --root /srv'")
    adding.add_argument("name", metavar="SERVER")
    source = adding.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--command", metavar="WORDS", help="the command that starts it on the hub's machine, without a shell"
    )
    source.add_argument("--at", metavar="URL", help="its URL, if it already runs")
    adding.add_argument("--directory", metavar="DIR", help="working directory of the command")
    adding.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="an environment variable; not for secrets"
    )
    adding.add_argument(
        "--secret",
        action="append",
        default=[],
        metavar="NAME=REF",
        help="a variable (with --at: a header) with its value from env:NAME or file:/path",
    )
    adding.add_argument(
        "--risk", action="append", default=[], metavar="TOOL=RISK", help="low, medium or high; * for any tool"
    )
    adding.add_argument(
        "--profile", action="append", default=[], metavar="NAME", help="only for agents of this profile"
    )
    adding.add_argument(
        "--trust-annotations", action="store_true", help="use the risk that the server declares for its tools"
    )
    adding.add_argument("--timeout", type=parse_count, metavar="S", help="seconds that a call may take (default: 600)")
    add("list", run_list, "list servers and their state", "list --json")
    show = add("show", run_show, "show a server and its tools", "show files")
    show.add_argument("name", metavar="SERVER")
    show.add_argument("tool", metavar="TOOL", nargs="?", help="one tool in full")
    accept = add(
        "accept", run_accept, "offer tools to agents after you have seen them", "accept files read_file list_dir"
    )
    accept.add_argument("name", metavar="SERVER")
    accept.add_argument(
        "tools", metavar="TOOL", nargs="*", help="the tools (default: all that are held, after showing them)"
    )
    accept.add_argument("--yes", action="store_true", help="accept all without confirmation")
    add_verbs(group.actions, SERVER_VERBS)


def run_add(args: argparse.Namespace) -> int:
    body: dict[str, Any] = {"url": args.at} if args.at else {"command": _split_words(args.command)}
    given = {
        "directory": args.directory,
        "env": _parse_pairs(args.env),
        "secrets": _parse_pairs(args.secret),
        "risks": _parse_risks(args.risk),
        "profiles": args.profile,
        "trust_annotations": args.trust_annotations,
        "timeout_s": args.timeout,
    }
    body |= {name: value for name, value in given.items() if value}
    shown = open_client(args).put("servers", args.name, body=body)
    if args.json:
        show_json(shown)
    else:
        print(
            f"{escape_line(args.name)} is registered. Look at its tools: greenroom tools show {escape_line(args.name)}"
        )
    return 0


def _split_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise Refused.in_words("bad_server", f"The command cannot be split into words: {error}.") from error


def _parse_pairs(given: list[str]) -> dict[str, str]:
    out = {}
    for pair in given:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise Refused.in_words("bad_server", f"'{pair}' is no pair: write NAME=VALUE.")
        out[name] = value
    return out


def _parse_risks(given: list[str]) -> dict[str, str]:
    risks = _parse_pairs(given)
    if wrong := [risk for risk in risks.values() if risk not in RISKS]:
        raise Refused.in_words("bad_server", f"There is no risk '{wrong[0]}': write {', '.join(RISKS)}.")
    return risks


def run_list(args: argparse.Namespace) -> int:
    found = open_client(args).get("servers")
    if args.json:
        show_json(found)
        return 0
    rows = []
    for one in found:
        server, definition = one["server"], one["server"]["definition"]
        held = sum(tool["state"] == "held" for tool in one["tools"])
        where = definition.get("url") or shlex.join(definition.get("command", []))
        rows.append(
            (
                server["name"],
                server.get("state", "starting"),
                len(one["tools"]),
                held or "",
                where,
                server.get("error", ""),
            )
        )
    show_table(rows, ("server", "is", "tools", "held", "where", "because"), "No tool servers found.")
    return 0


def run_show(args: argparse.Namespace) -> int:
    found = _need_server(open_client(args), args.name)
    if args.tool:
        found["tools"] = [_need_tool(found, args.tool)]
    if args.json:
        show_json(found)
        return 0
    server = found["server"]
    state, error = escape_line(server.get("state", "starting")), escape_line(server.get("error", ""))
    print(f"{escape_line(server['name'])} is {state} {error}".rstrip())
    for tool in found["tools"]:
        head = f"{escape_line(tool['offered_as'])}  {escape_line(tool['state'])}, risk {escape_line(tool['risk'])}"
        print(f"\n{head}  {escape_line(tool['problem'])}".rstrip())
        _print_description(tool, whole=bool(args.tool))
    return 0


def _print_description(tool: dict[str, Any], *, whole: bool) -> None:
    text = tool["seen"].get("description", "")
    print("\n".join(f"    {row}" for row in escape_lines(text).split("\n")))
    accepted = tool["accepted"]
    if accepted is not None and accepted["digest"] != tool["seen"]["digest"]:
        print("    It has changed. A person accepted it as:")
        print("\n".join(f"    | {row}" for row in escape_lines(accepted.get("description", "")).split("\n")))
    if whole:
        print(f"    {escape_line(json.dumps(tool['seen'].get('schema', {}), ensure_ascii=False))}")
        print(f"    digest {tool['seen']['digest']}")


def run_accept(args: argparse.Namespace) -> int:
    client = open_client(args)
    found = _need_server(client, args.name)
    chosen = [_need_tool(found, name) for name in args.tools]
    if not chosen:
        chosen = [tool for tool in found["tools"] if tool["state"] == "held" and not tool["problem"]]
        for tool in chosen:
            print_notice(f"\n{escape_line(tool['offered_as'])} (risk {escape_line(tool['risk'])})")
            print_notice(f"    {escape_line(tool['seen'].get('description', ''))}")
        if chosen and not args.yes and not _is_yes(len(chosen)):
            return 1
    digests = {tool["name"]: tool["seen"]["digest"] for tool in chosen}
    shown = client.post("servers", args.name, "accept", body={"tools": digests})
    show_json(shown) if args.json else print(f"Accepted: {escape_line(', '.join(digests) or 'nothing was held')}")
    return 0


def _is_yes(count: int) -> bool:
    try:
        return input(f"Accept {count_things(count, 'tool')}? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        raise Refused.in_words("unseen", "Nobody is here to say yes: name the tools, or write --yes.") from None


def _need_server(client: HubClient, name: str) -> dict[str, Any]:
    return dict(client.get("servers", name))


def _need_tool(found: dict[str, Any], name: str) -> dict[str, Any]:
    for tool in found["tools"]:
        if name in (tool["name"], tool["offered_as"]):
            return dict(tool)
    raise Refused.in_words("tool_not_found", f"{found['server']['name']} has no tool '{name}'.")
