"""`python -m greenroom.builtin`: the agent on its standard input and output."""

from greenroom.builtin.agent import AcpAgent
from greenroom.builtin.conversation import ModelConversation, is_known_session

if __name__ == "__main__":
    AcpAgent("builtin", ModelConversation, is_known_session).serve()
