"""The hub's tools over MCP (streamable HTTP), with as little code as that takes."""

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from greenroom.rehearsal.wire import Failed

if TYPE_CHECKING:
    from http.client import HTTPResponse

Json = dict[str, Any]
_VERSION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "rehearsal", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_TRIES = 5


class Hub:
    """A client of one MCP server; every call stands for itself."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self._url = urlsplit(url)
        self._headers = {
            **headers,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": _VERSION,
        }
        self._next = 0
        self._tools: set[str] | None = None

    def tools(self) -> set[str]:
        """The names of the tools on offer."""
        if self._tools is None:
            found = self._request("tools/list", {})
            self._tools = {str(tool["name"]) for tool in found.get("tools", [])}
        return self._tools

    def call(self, name: str, arguments: Json) -> Any:
        """Call a tool. What it gives back as JSON, else as text; raises Failed when it is refused."""
        result = self._request("tools/call", {"name": name, "arguments": arguments})
        texts = [block["text"] for block in result.get("content", []) if block.get("type") == "text"]
        text = "\n".join(texts)
        if result.get("isError"):
            raise Failed(text)
        try:
            found = json.loads(text)
        except ValueError:
            return text
        if isinstance(found, dict) and found.get("error") and name != "msg_post":
            raise Failed(str(found.get("message") or found["error"]))
        return found

    def post(self, thread: str, text: str) -> Any:
        """Post in a thread: with a fresh context, and anew if others were quicker."""
        said: Any = None
        for _ in range(_TRIES):
            context = self._context(thread)
            said = self.call(
                "msg_post",
                {
                    "thread_id": context["thread_id"],
                    "content": text,
                    "role": "assistant",
                    "expected_last_seq": context["current_seq"],
                    "reply_token": context["reply_token"],
                },
            )
            if "error" not in said:
                return said
            if "action" not in said:
                break
        raise Failed(str(said.get("message") or said["error"]))

    def spawn(self, profile: str, prompt: str) -> Any:
        """Start another agent and wait for its end, which may take longer than one call."""
        run = self.call("spawn_agent", {"profile": profile, "prompt": prompt})
        while "next" in run:
            run = self.call("run_status", {"run_id": run["run_id"]})
        return run

    def _context(self, thread: str) -> Json:
        if thread.startswith("thr_"):
            waited = self.call("msg_wait", {"thread_id": thread, "timeout_ms": 0, "return_format": "json"})
            return {"thread_id": thread, **waited}
        joined = self.call("bus_connect", {"thread_name": thread, "ide": "Rehearsal", "model": "script"})
        return {"thread_id": joined["thread"]["thread_id"], **joined}

    def _request(self, method: str, params: Json) -> Json:
        self._next += 1
        headers = {**self._headers, "Mcp-Method": method}
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
        body = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": {**params, "_meta": _META}}
        answer = self._send(json.dumps(body), headers)
        if "error" in answer:
            raise Failed(str(answer["error"].get("message")))
        result: Json = answer.get("result") or {}
        return result

    def _send(self, body: str, headers: dict[str, str]) -> Json:
        # Half of the time that the program would take to start; many scripts never call a tool.
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        kind = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
        connection = kind(self._url.netloc)
        try:
            connection.request("POST", self._url.path or "/", body, headers)
            response = connection.getresponse()
            return _answer(response, self._next)
        except (OSError, HTTPException) as error:
            raise Failed(f"the hub cannot be reached: {error}") from None
        finally:
            connection.close()


def _answer(response: "HTTPResponse", id: int) -> Json:
    """The answer to a request: the body, or the event of it that bears the id."""
    if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
        body = response.read()
        try:
            whole: Json = json.loads(body)
        except ValueError:
            raise Failed(f"the hub answered {response.status}: {body[:200].decode(errors='replace')}") from None
        return whole if "jsonrpc" in whole else {"error": {"message": f"the hub answered {response.status}: {whole}"}}
    for line in response:
        if line.startswith(b"data:") and line[5:].strip():
            message: Json = json.loads(line[5:])
            if message.get("id") == id and "method" not in message:
                return message
    raise Failed("the hub ended the answer early")
