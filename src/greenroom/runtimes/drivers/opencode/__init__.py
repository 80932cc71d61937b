"""OpenCode: by ACP, or on its own server where a person sits in with it."""
