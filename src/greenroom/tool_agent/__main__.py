"""`python -m greenroom.tool_agent`: the agent on its standard input and output."""

from greenroom.builtin.agent import Agent
from greenroom.tool_agent.conversation import Conversation

if __name__ == "__main__":
    # Nothing is remembered from one call to the next, so no session can be resumed.
    Agent("mcp", Conversation, lambda session: False).serve()
