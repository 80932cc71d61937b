"""How to drive agent runtimes: one contract above; ACP, stream-json, HTTP and PTY below."""
