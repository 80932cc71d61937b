"""A group of CLI verbs, such as `greenroom token`: each asks a hub, and shows an example in its `--help`."""

import argparse
from collections.abc import Callable
from typing import Any

from greenroom.cli.client import add_options

Run = Callable[[argparse.Namespace], int]
Add = Callable[[str, Run, str, str], argparse.ArgumentParser]


class VerbGroup:
    """The verbs of a group; `actions` are its subparsers."""

    def __init__(self, name: str, actions: Any) -> None:
        self._name = name
        self.actions = actions

    def add(
        self, verb: str, run: Run, says: str, example: str, description: str | None = None
    ) -> argparse.ArgumentParser:
        """A verb, for its arguments to be added. `example` is what follows the group's name."""
        parser: argparse.ArgumentParser = self.actions.add_parser(
            verb, help=says, description=description, epilog=f"example: greenroom {self._name} {example}"
        )
        add_options(parser)
        parser.set_defaults(run=run)
        return parser


def add_group(verbs: Any, name: str, says: str, **more: Any) -> VerbGroup:
    """A group without verbs of its own."""
    parser = verbs.add_parser(name, help=says, **more)
    return VerbGroup(name, parser.add_subparsers(dest="action", required=True, metavar="ACTION"))
