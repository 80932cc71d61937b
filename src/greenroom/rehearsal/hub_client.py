"""A minimal client for the hub's tools over MCP (streamable HTTP)."""

import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from greenroom.rehearsal.json_rpc import RpcError

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
_PATIENCE_S = 30.0
_PAUSE_S = 1.0
_READS = frozenset({"msg_wait", "run_status", "bus_connect"})
_GONE, _UNAVAILABLE = 502, 503


class HubNotAnswering(Exception):
    """No answer came. `is_undone`: the hub said that it has done nothing."""

    def __init__(self, message: str, *, is_undone: bool = False) -> None:
        super().__init__(message)
        self.is_undone = is_undone


class HubMcpClient:
    """A client of one MCP server; every call is independent.

    Calls that can be repeated are repeated for a while when the hub is away.
    """

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

    def find_tools(self) -> set[str]:
        """The names of the tools on offer."""
        if self._tools is None:
            found = self._request("tools/list", {})
            self._tools = {str(tool["name"]) for tool in found.get("tools", [])}
        return self._tools

    def call(self, name: str, arguments: Json) -> Any:
        """Call a tool. Returns its JSON, or else its text; raises Failed when it is refused."""
        return _need_success(self._call_tool(name, arguments))

    def _call_tool(self, name: str, arguments: Json) -> Any:
        """Call a tool whose answer may be the error of another program."""
        result = self._request("tools/call", {"name": name, "arguments": arguments})
        texts = [block["text"] for block in result.get("content", []) if block.get("type") == "text"]
        text = "\n".join(texts)
        if result.get("isError"):
            raise RpcError(text)
        try:
            return json.loads(text)
        except ValueError:
            return text

    def post(self, thread: str, text: str, key: str | None) -> Any:
        """Post in a thread, once under a key: with a fresh context, and again if others were quicker."""
        said: Any = None
        once = {} if key is None else {"key": key}
        for _ in range(_TRIES):
            context = self._read_context(thread)
            said = self._call_tool(
                "msg_post",
                {
                    "thread_id": context["thread_id"],
                    "content": text,
                    "role": "assistant",
                    "expected_last_seq": context["current_seq"],
                    "reply_token": context["reply_token"],
                    **once,
                },
            )
            if "error" not in said:
                return said
            if "action" not in said:
                break
        raise RpcError(str(said.get("message") or said["error"]))

    def spawn(self, profile: str, prompt: str, key: str | None) -> Any:
        """Start another agent, once under a key, and wait for its end, which may take longer than one call.

        One whose node went down is started again.
        """
        for number in range(_TRIES):
            once = {} if key is None else {"key": f"{key}.{number}"}
            run = self._call_tool("spawn_agent", {"profile": profile, "prompt": prompt, **once})
            while "next" in run:
                run = self._call_tool("run_status", {"run_id": run["run_id"]})
            if run.get("status") != "interrupted":
                break
        return _need_success(run)

    def _read_context(self, thread: str) -> Json:
        """What a post must show. A script does not read what others write, so nothing is handed to it: a mention that
        comes meanwhile wakes the agent again."""
        if thread.startswith("thr_"):
            nothing = {"timeout_ms": 0, "return_format": "json", "for_agent": "nobody"}
            return {"thread_id": thread, **self.call("msg_wait", {"thread_id": thread, **nothing})}
        joined = self.call("bus_connect", {"thread_name": thread, "ide": "Rehearsal", "model": "script"})
        return {"thread_id": joined["thread"]["thread_id"], **joined}

    def _request(self, method: str, params: Json) -> Json:
        self._next += 1
        headers = {**self._headers, "Mcp-Method": method}
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
        body = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": {**params, "_meta": _META}}
        may_repeat = method != "tools/call" or params["name"] in _READS or "key" in params["arguments"]
        answer = self._send_until_answered(json.dumps(body), headers, may_repeat)
        if "error" in answer:
            raise RpcError(str(answer["error"].get("message")))
        result: Json = answer.get("result") or {}
        return result

    def _send_until_answered(self, body: str, headers: dict[str, str], may_repeat: bool) -> Json:
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                return self._send(body, headers)
            except HubNotAnswering as no:
                # A node that is killed takes its way to the hub along, and us a moment later: that is no answer.
                time.sleep(_PAUSE_S)
                if time.monotonic() > until or not (may_repeat or no.is_undone):
                    raise RpcError(str(no)) from None

    def _send(self, body: str, headers: dict[str, str]) -> Json:
        # Half of the time that the program would take to start; many scripts never call a tool.
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        kind = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
        connection = kind(self._url.netloc)
        try:
            connection.request("POST", self._url.path or "/", body, headers)
            response = connection.getresponse()
            return _read_answer(response, self._next)
        except (OSError, HTTPException) as error:
            raise HubNotAnswering(f"the hub cannot be reached: {error}") from None
        finally:
            connection.close()


def get_hub_client(params: Json) -> HubMcpClient | None:
    """The hub that a session is given; None if it is given none."""
    for server in params.get("mcpServers") or []:
        if server.get("type") == "http" and server.get("name") == "greenroom":
            headers = {header["name"]: header["value"] for header in server.get("headers") or []}
            return HubMcpClient(server["url"], headers)
    return None


def _need_success(found: Any) -> Any:
    if isinstance(found, dict) and found.get("error"):
        raise RpcError(str(found.get("message") or found["error"]))
    return found


def _read_answer(response: "HTTPResponse", id: int) -> Json:
    """The answer to a request: the body, or the event in it with that id."""
    if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
        body = response.read()
        if response.status in (_GONE, _UNAVAILABLE):
            words = f"the hub answered {response.status}: {body[:200].decode(errors='replace')}"
            raise HubNotAnswering(words, is_undone=response.status == _UNAVAILABLE)
        try:
            whole: Json = json.loads(body)
        except ValueError:
            raise RpcError(f"the hub answered {response.status}: {body[:200].decode(errors='replace')}") from None
        return whole if "jsonrpc" in whole else {"error": {"message": f"the hub answered {response.status}: {whole}"}}
    for line in response:
        if line.startswith(b"data:") and line[5:].strip():
            message: Json = json.loads(line[5:])
            if message.get("id") == id and "method" not in message:
                return message
    raise HubNotAnswering("the hub ended the answer early")
