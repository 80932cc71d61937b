"""Channels that notify people when something waits for them, and the rules of each."""
