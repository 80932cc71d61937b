"""Threads: lasting conversations, their members and messages, and the rules of their order."""
