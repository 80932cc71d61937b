"""OpenCode, on a server of its own at which a person can sit in."""
