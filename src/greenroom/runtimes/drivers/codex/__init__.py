"""Codex, on its app server."""
