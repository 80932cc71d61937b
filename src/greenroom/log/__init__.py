"""The one way state changes: commands are decided, events appended, rows projected, changes announced."""
