"""`greenroom connect`: gives an agent in an IDE or a terminal the hub's tools and a credential of its own."""

import argparse
import contextlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from greenroom import settings
from greenroom.cli.client import HubClient, HubUnreachable, add_options, find_hub, get_own_url
from greenroom.cli.connect_files import PROGRAMS, ConfigFile, add_entry, locate_config_file, remove_entry
from greenroom.cli.terminal import escape_line, print_notice, show_json
from greenroom.cli.token import write_private
from greenroom.errors import Refused
from greenroom.runtimes.agents import need_agent

TOKENS_FOLDER = "connections"


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "connect",
        help="connect an agent that you start yourself to the hub",
        description="Add the hub as an MCP server to a program's configuration. The program gets its own credential,"
        " in a private file that the configuration names. Running the command again changes nothing.",
        epilog="example: greenroom connect claude · greenroom connect cursor --remove"
        " · any other MCP client: see docs/users/mcp.md",
    )
    parser.add_argument("program", metavar="PROGRAM", choices=sorted(PROGRAMS), help=", ".join(sorted(PROGRAMS)))
    add_options(parser)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--print", action="store_true", help="show what would be written, without writing it")
    mode.add_argument("--remove", action="store_true", help="remove the entry and revoke the credential")
    parser.add_argument("--file", metavar="FILE", help="the configuration to write (default: the program's own)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    data = settings.resolve_data_dir(args.data)
    file = Path(args.file).expanduser() if args.file else None
    config_file = locate_config_file(args.program, Path.home(), file, os.environ)
    token_file = data / TOKENS_FOLDER / f"{args.program}.token"
    if args.remove:
        return _remove(args, config_file, token_file)
    url, operator = find_hub(args)
    command = [*_build_own_command(), "mcp", *_build_hub_options(args, data, url), "--token-file", str(token_file)]
    if args.print:
        text = add_entry(config_file, "", command)
        show_json({"file": str(config_file.file), "text": text}) if args.json else print(
            f"# {escape_line(config_file.file)}\n{text}", end=""
        )
        return 0
    before = _read_config(config_file.file)
    after = add_entry(config_file, before, command)
    agent = _ensure_credential(HubClient(url, operator), args.program, token_file)
    if after != before:
        _write_config(config_file.file, after)
    summary = {
        "program": args.program,
        "file": str(config_file.file),
        "token_file": str(token_file),
        "changed": after != before,
    }
    if args.json:
        show_json({**summary, "new_credential": agent is not None})
    else:
        done = "knows the hub now" if after != before else "knew the hub already"
        print(f"{args.program} {done}: see {escape_line(config_file.file)}. Restart it to use the hub.")
    return 0


def _build_own_command() -> list[str]:
    """How other programs start us, whatever their PATH is."""
    own = Path(sys.executable).with_name("greenroom")
    found = str(own) if own.is_file() else shutil.which("greenroom")
    return [found] if found else [sys.executable, "-m", "greenroom"]


def _build_hub_options(args: argparse.Namespace, data: Path, url: str) -> list[str]:
    """A hub of this machine is found by its directory, for its port may change."""
    return ["--data", str(data)] if url == get_own_url(data) else ["--url", url]


def _ensure_credential(client: HubClient, program: str, token_file: Path) -> str | None:
    """Make an agent and keep its token, unless there is one that is still good; the agent's id if it is new."""
    if token_file.exists():
        with contextlib.suppress(Refused):
            HubClient(client.url, token_file.read_text().strip()).get("threads", limit=1)
            return None
        token_file.unlink()
    token_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = client.post("agents", "register", body={"ide": need_agent(program).display_name, "model": "default"})
    write_private(token_file, made["token"] + "\n")
    _build_agent_id_path(token_file).unlink(missing_ok=True)
    write_private(_build_agent_id_path(token_file), json.dumps({"agent_id": made["agent_id"]}) + "\n")
    return str(made["agent_id"])


def _build_agent_id_path(token_file: Path) -> Path:
    return token_file.with_suffix(".json")


def _remove(args: argparse.Namespace, config_file: ConfigFile, token_file: Path) -> int:
    before = _read_config(config_file.file)
    after = remove_entry(config_file, before)
    if after != before:
        _write_config(config_file.file, after)
    agent_id_file, is_ended = _build_agent_id_path(token_file), False
    if agent_id_file.exists():
        agent_id = json.loads(agent_id_file.read_text())["agent_id"]
        try:
            HubClient(*find_hub(args)).post("agents", agent_id, "kick")
            is_ended = True
        except Refused as no:
            print_notice(f"greenroom: {escape_line(no)}")
        except HubUnreachable as no:
            print_notice(
                f"greenroom: {escape_line(no)} Then end the credential: greenroom agent kick {escape_line(agent_id)}"
            )
    for path in (token_file, agent_id_file):
        path.unlink(missing_ok=True)
    if args.json:
        show_json({"program": args.program, "changed": after != before, "credential_ended": is_ended})
    else:
        print(
            f"{args.program} does not know the hub any more." if after != before else f"{args.program} did not know it."
        )
    return 0


def _read_config(file: Path) -> str:
    try:
        return file.read_text() if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise Refused.in_words("file_unusable", f"{file} cannot be read ({error}).") from error


def _write_config(file: Path, text: str) -> None:
    """Replace the file atomically, and keep its permissions; a link stays a link."""
    target = file.resolve()
    part = target.with_name(f".{target.name}.greenroom")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text)
        if target.exists():
            shutil.copymode(target, part)
        else:
            part.chmod(0o600)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise Refused.in_words("file_unusable", f"{file} cannot be written ({error.strerror}).") from error
