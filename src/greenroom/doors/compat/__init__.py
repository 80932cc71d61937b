"""Protocols of other programs, for clients that were written for them. A setting enables each."""
