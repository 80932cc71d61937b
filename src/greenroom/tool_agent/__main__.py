"""`python -m greenroom.tool_agent`: the agent on its standard input and output."""

import sys

from greenroom import __version__

if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print(f"greenroom tool_agent {__version__}")
    else:
        from greenroom.builtin.agent import Agent
        from greenroom.tool_agent.conversation import Conversation

        # Nothing is remembered from one call to the next, so that any session can go on.
        Agent("mcp", Conversation, lambda session: True).serve()
