"""The one way to change state: decide commands, append events, project rows, announce changes."""
