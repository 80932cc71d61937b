"""Agent Assistant's clients: RPCs of programs that ask, and binary frames of the devices of who answers."""
