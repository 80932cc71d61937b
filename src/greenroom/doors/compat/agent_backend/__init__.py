"""agent_backend's clients: a chat with an agent whose calls wait for approval inside the conversation."""
