"""`greenroom`: finds the verb and runs it. Exit codes: 0 done, 1 refused, 2 wrong usage, 3 hub not reachable.

Only the module of the verb is loaded. It imports what it runs with when it runs it, so that `--help` comes at once.
"""

import argparse
import importlib
import io
import sys
from collections.abc import Sequence
from pathlib import Path

from greenroom import __version__, settings
from greenroom.cli.arg_parser import Parser
from greenroom.cli.client import HubUnreachable, get_other_version
from greenroom.cli.terminal import escape_line, print_notice
from greenroom.errors import Refused, Unavailable
from greenroom.log.data_directory import StoreUnusable
from greenroom.settings import BadSettings

GROUPS = (
    "serve",
    "status",
    "stop",
    "demo",
    "run",
    "runs",
    "ask",
    "watch",
    "notify",
    "remote_input",
    "dag",
    "profile",
    "policy",
    "tools",
    "driver",
    "mcp",
    "connect",
    "thread",
    "agent",
    "node",
    "token",
    "me",
    "audit",
    "maintenance",
    "doctor",
    "completion",
)
"""The modules of verbs, in the order of `--help`."""


def build_parser(verb: str | None = None) -> argparse.ArgumentParser:
    """All verbs with their options, or those of one module: loading all of them takes long."""
    top = Parser(prog="greenroom", description="A control room for coding agents.")
    top.add_argument("--version", action="version", version=f"greenroom {__version__}")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    for group in (verb,) if verb in GROUPS else GROUPS:
        importlib.import_module(f"greenroom.cli.{group}").add_to(verbs)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # letters that a terminal does not know are shown as escapes
    given = sys.argv[1:] if argv is None else argv
    if given[:1] == ["help"]:
        given = [*given[1:], "--help"]
    args = build_parser(given[0] if given else None).parse_args(given)
    try:
        settings.check_variables()
        return int(args.run(args) or 0)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has closed the pipe
        sys.stderr.close()
        return 0
    except HubUnreachable as error:
        print_notice(f"greenroom: {escape_line(error)}")
        return 3
    except StoreUnusable as error:
        print_notice(
            f"greenroom: {escape_line(' '.join(str(error).split()))}"
        )  # a database may say why on several lines
        return 1
    except (Refused, Unavailable, BadSettings) as error:
        print_notice(
            "greenroom: " + "\n  ".join(escape_line(row) for row in str(error).split("\n"))
        )  # one row for each problem
        return 1
    except OSError as error:
        data = settings.resolve_data_dir(getattr(args, "data", None))
        if not isinstance(error.filename, str) or not Path(error.filename).is_relative_to(data):
            raise
        print_notice(
            f"greenroom: {escape_line(error.filename)} cannot be used ({error.strerror}): "
            "choose another --data directory."
        )
        return 1
    except (KeyError, TypeError):
        other = get_other_version(args)
        if other is None:
            raise
        print_notice(
            f"greenroom: The hub is Greenroom {escape_line(other)}, this command {__version__}: "
            "use the same version for both."
        )
        return 1
