"""`greenroom dag`: workflows, from the file to the report."""

import argparse
from collections.abc import Callable
from typing import Any

from greenroom.cli.client import add_options
from greenroom.cli.dag_files import add_file_verbs


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser("dag", help="check, draw and run workflows")
    inner = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def add(name: str, run: Callable[[argparse.Namespace], int], says: str, example: str) -> argparse.ArgumentParser:
        one: argparse.ArgumentParser = inner.add_parser(name, help=says, epilog=f"example: greenroom dag {example}")
        add_options(one)
        one.set_defaults(run=run)
        return one

    add_file_verbs(add)
