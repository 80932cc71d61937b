"""agent_backend's clients: a chat with an agent whose calls wait for leave inside the conversation."""
