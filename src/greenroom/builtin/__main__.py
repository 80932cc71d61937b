"""`python -m greenroom.builtin`: the agent on its standard input and output."""

import sys

from greenroom import __version__

if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        import pydantic_ai  # noqa: F401 it is found only where its model library is

        print(f"greenroom builtin {__version__}")
    else:
        from greenroom.builtin.agent import Agent
        from greenroom.builtin.conversation import Conversation, is_known

        Agent("builtin", Conversation, is_known).serve()
