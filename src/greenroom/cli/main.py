"""`greenroom`: finds the verb and runs it; wrong use exits 2, a refusal 1, an unreachable hub 3."""

import argparse
import sys
from collections.abc import Sequence

from greenroom import __version__
from greenroom.cli import serve
from greenroom.log.errors import Refused, Unavailable
from greenroom.log.store_sqlite import StoreUnusable
from greenroom.settings import BadSettings

GROUPS = (serve,)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="greenroom", description="The room behind the stage where coding agents wait, talk and are called."
    )
    parser.add_argument("--version", action="version", version=f"greenroom {__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for group in GROUPS:
        group.add_to(verbs)
    args = parser.parse_args(argv)
    try:
        return int(args.run(args) or 0)
    except KeyboardInterrupt:
        return 130
    except (Refused, BadSettings, StoreUnusable) as error:
        print(f"greenroom: {error}", file=sys.stderr)
        return 1
    except Unavailable as error:
        print(f"greenroom: {error}", file=sys.stderr)
        return 3
