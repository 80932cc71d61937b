"""JSON-RPC in lines on the standard streams: responses, notifications, and requests that wait for the client."""

import json
import sys
import threading
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]


class RpcError(Exception):
    """A request fails with this error, which goes to the client."""

    def __init__(self, message: str, code: int = -32603, data: Any = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message} | ({} if data is None else {"data": data})


class JsonRpcConnection:
    """The connection to the client. Several threads may send; only one may read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[int, Json | None] = {}
        self._answered = threading.Condition()
        self._next_id = 0

    def serve(self, handle: Callable[[str, Json, Any], Json | None]) -> None:
        """Pass every request and notification to `handle`, until the client closes its end."""
        while (message := self.read()) is not None:
            request, params = message.get("id"), message.get("params") or {}
            try:
                result = handle(message["method"], params, request)
            except RpcError as error:
                self.send({"id": request, "error": error.error})
                continue
            if result is not None and request is not None:
                self.send({"id": request, "result": result})

    def read(self) -> Json | None:
        """The next message that is no answer to a request of ours; None at the end."""
        for line in sys.stdin.buffer:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "method" in message:
                found: Json = message
                return found
            with self._answered:
                if message.get("id") in self._answers:
                    self._answers[message["id"]] = message
                    self._answered.notify_all()
        return None

    def send(self, message: Json) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        with self._lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def notify(self, method: str, params: Json) -> None:
        self.send({"method": method, "params": params})

    def request(self, method: str, params: Json) -> Json:
        """Ask the client and wait, however long; a client that cancels has to answer as well."""
        with self._answered:
            id = self._next_id
            self._next_id += 1
            self._answers[id] = None
        self.send({"id": id, "method": method, "params": params})
        with self._answered:
            while (answer := self._answers[id]) is None:
                self._answered.wait()
            del self._answers[id]
        if "error" in answer:
            raise RpcError(str(answer["error"].get("message")))
        result: Json = answer.get("result") or {}
        return result
