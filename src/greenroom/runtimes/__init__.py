"""How agent runtimes are spoken to: one contract above, ACP, stream-json, HTTP and PTY below."""
