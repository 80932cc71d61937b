"""The parser of every verb: argparse, which lists what there is when a verb is missing, and says what was meant."""

import argparse
import difflib
import re
import sys
from typing import NoReturn

_MISSING = re.compile(r"required: (VERB|ACTION)$")
_UNKNOWN = re.compile(r"argument (?:VERB|ACTION): invalid choice: '(.*)' \(choose from (.*)\)$", re.DOTALL)


class Parser(argparse.ArgumentParser):
    """Wrong use is explained on stderr, and ends with 2."""

    def error(self, message: str) -> NoReturn:
        if _MISSING.search(message):
            self.print_help(sys.stderr)
            self.exit(2)
        if unknown := _UNKNOWN.match(message):
            word, known = unknown[1], re.findall(r"[\w-]+", unknown[2])
            near = difflib.get_close_matches(word, known, 1)
            meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
            message = f"there is no {word!r}: {meant}"
        super().error(message)
