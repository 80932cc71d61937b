"""Reaching people: what is sent to which channel, by what, and with which keys."""
