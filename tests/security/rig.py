"""MCP as a client of 2025-11-25 speaks it, to the letter."""

import json
from typing import Any

import httpx

VERSION = "2025-11-25"
ACCEPT = "application/json, text/event-stream"


class Mcp:
    """One client with a session of its own."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self._id = 0
        opened = self.send("initialize", initialize_params())
        assert opened.status_code == 200, opened.text
        self.session = opened.headers["mcp-session-id"]
        self.notify("notifications/initialized")

    def send(self, method: str, params: Any = None, **headers: str) -> httpx.Response:
        """A request."""
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params or {}}
        return self.client.post("/mcp", json=message, headers=self.headers(**headers))

    def notify(self, method: str, params: Any = None) -> httpx.Response:
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        return self.client.post("/mcp", json=message, headers=self.headers())

    def headers(self, **more: str) -> dict[str, str]:
        session = {"mcp-session-id": self.session} if hasattr(self, "session") else {}
        return {"accept": ACCEPT, "mcp-protocol-version": VERSION, **session, **more}

    def call(self, tool: str, **arguments: Any) -> Any:
        """A tool's result as JSON; its refusal has the key `error`."""
        answer = self.send("tools/call", {"name": tool, "arguments": arguments})
        assert answer.status_code == 200, answer.text
        body = answer.json()
        if "error" in body:
            return {"error": body["error"]["message"], "code": body["error"]["code"]}
        text = body["result"]["content"][0]["text"] if body["result"]["content"] else "null"
        return json.loads(text) if text[:1] in '{["n' else {"text": text}

    def tools(self) -> list[dict[str, Any]]:
        return self.send("tools/list").json()["result"]["tools"]  # type: ignore[no-any-return]


def initialize_params() -> dict[str, Any]:
    return {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
