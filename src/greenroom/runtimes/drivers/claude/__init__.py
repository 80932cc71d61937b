"""Claude Code, on its stream of JSON with the control protocol."""
