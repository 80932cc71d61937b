"""Lasting conversations: threads, their members and messages, and the rules by which they are ordered."""
