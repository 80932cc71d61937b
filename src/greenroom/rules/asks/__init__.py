"""Asks: somebody waits for a person, until one of them answers."""
