"""`python -m greenroom.tool_agent`: the agent on its standard input and output."""

from greenroom.builtin.agent import AcpAgent
from greenroom.tool_agent.conversation import ToolConversation

if __name__ == "__main__":
    # Nothing is remembered from one call to the next, so no session can be resumed.
    AcpAgent("mcp", ToolConversation, lambda session: False).serve()
