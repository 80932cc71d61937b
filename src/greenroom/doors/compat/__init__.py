"""Protocols of other programs, for clients that were written for them. Each is mounted by a setting of its own."""
