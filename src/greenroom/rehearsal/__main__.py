"""`python -m greenroom.rehearsal`: the scripted agent on its standard input and output."""

import sys

from greenroom import __version__
from greenroom.rehearsal.agent import Agent

if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print(f"greenroom rehearsal {__version__}")
    else:
        Agent().serve()
