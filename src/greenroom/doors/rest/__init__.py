"""A door."""
