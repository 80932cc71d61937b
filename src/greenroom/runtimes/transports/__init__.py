"""Transports to an agent's process that several drivers share."""
