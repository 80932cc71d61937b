"""`python -m greenroom.builtin`: the agent on its standard input and output."""

from greenroom.builtin.agent import Agent
from greenroom.builtin.conversation import Conversation, is_known

if __name__ == "__main__":
    Agent("builtin", Conversation, is_known).serve()
