"""Asks: requests that wait until a person answers."""
