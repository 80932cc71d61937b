"""The fake model's HTTP server, on a loopback port of its own."""

import hashlib
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

from greenroom.testing.fake_llm.answer import TOKENS_IN, Fail, QuotaReply, Reply, encode_sse_event
from greenroom.testing.fake_llm.anthropic import ANTHROPIC
from greenroom.testing.fake_llm.dialect import Dialect
from greenroom.testing.fake_llm.errors import make_error
from greenroom.testing.fake_llm.gemini import GEMINI
from greenroom.testing.fake_llm.openai_chat import OPENAI_CHAT
from greenroom.testing.fake_llm.openai_responses import OPENAI_RESPONSES
from greenroom.testing.fake_llm.request import Json
from greenroom.testing.fake_llm.script import answer_request

_DIALECTS = {"/messages": ANTHROPIC, "/chat/completions": OPENAI_CHAT, "/responses": OPENAI_RESPONSES}
_GEMINI = (":generateContent", ":streamGenerateContent")
_COUNTS = {"/count_tokens": {"input_tokens": TOKENS_IN}, ":countTokens": {"totalTokens": TOKENS_IN}}


class FakeModel:
    """The server; `log` holds what was asked and answered. Use it as a context manager."""

    def __init__(self, port: int = 0, bodies: Path | None = None) -> None:
        self.log: list[Json] = []
        self.answered = 0
        """How many requests got their answer to the end, each for the same number of tokens."""
        self._bodies = bodies
        self._lock = threading.Lock()
        self._server = _Server(self, port)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> "FakeModel":
        self._thread.start()
        return self

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> "FakeModel":
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def tail(self, count: int = 10) -> str:
        """The last entries of the log, a line each, without what is long in them."""
        return "\n".join(
            json.dumps({key: str(value)[:300] for key, value in entry.items()}) for entry in self.log[-count:]
        )

    def count_answer(self) -> None:
        """One more answer is complete."""
        with self._lock:
            self.answered += 1

    def log_request(self, entry: Json, body: Json) -> None:
        """Add to the log, and keep the whole body where that was asked for."""
        with self._lock:
            self.log.append({"at": round(time.time(), 3), **entry})
            number = len(self.log)
        if self._bodies is not None:
            (self._bodies / f"{number:04d}.json").write_text(json.dumps({**entry, "body": body}, indent=1))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, model: FakeModel, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.model = model


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the log of the model says more."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.endswith("/models"):
            names = ("fake-model", "claude-sonnet-4-5", "gpt-5")
            models = [{"id": name, "object": "model", "type": "model", "display_name": name} for name in names]
            self._reply(200, {"object": "list", "has_more": False, "data": models, "models": []})
        else:
            self._not_found({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        body: Json = json.loads(raw or b"{}")
        counted = next((count for end, count in _COUNTS.items() if path.endswith(end)), None)
        dialect = get_dialect(path)
        if counted is not None:
            self._reply(200, counted)
        elif dialect is None:
            self._not_found(body)
        else:
            is_streamed = bool(body.get("stream")) or ":streamGenerateContent" in path
            self._answer(dialect, body, hashlib.sha256(raw).hexdigest()[:20], is_streamed)

    def _answer(self, dialect: Dialect, body: Json, key: str, is_streamed: bool) -> None:
        request = dialect.parse(body)
        said = answer_request(request)
        entry: Json = {"dialect": dialect.name, "step": len(request.results)}
        if request.results:
            entry["result"] = request.results[-1]
        entry |= {"answer": {"is": type(said).__name__, **asdict(said)}, "prompt": request.prompt}
        self.server.model.log_request(entry, body)
        if isinstance(said, Fail):
            self._fail(dialect, said, is_streamed)
            return
        if isinstance(said, QuotaReply):
            self._reply(429, said.build_body(), said.build_headers())
            return
        reply = Reply(key, str(body.get("model", "fake-model")), said)
        if is_streamed:
            self._stream(dialect, reply)
        else:
            self._reply(200, dialect.whole(reply))
            self.server.model.count_answer()

    def _fail(self, dialect: Dialect, said: Fail, is_streamed: bool) -> None:
        status, body = make_error(dialect.name, said)
        if said.is_too_long and is_streamed and dialect is OPENAI_RESPONSES:  # which says so within the stream
            failed = {"type": "response.failed", "response": {"id": "resp_fake", "status": "failed", **body}}
            self._send(200, "text/event-stream", encode_sse_event(failed, "response.failed"))
        else:
            self._reply(status, body)

    def _stream(self, dialect: Dialect, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        try:
            for piece in dialect.stream(reply):
                self.wfile.write(piece)
                self.wfile.flush()
            self.server.model.count_answer()
        except (BrokenPipeError, ConnectionResetError):
            # This is how a cancelled turn shows.
            self.server.model.log_request({"aborted": reply.key}, {})

    def _reply(self, status: int, body: Json, headers: Mapping[str, str] = {}) -> None:
        self._send(status, "application/json", json.dumps(body).encode(), headers)

    def _send(self, status: int, content_type: str, data: bytes, headers: Mapping[str, str] = {}) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _not_found(self, body: Json) -> None:
        self.server.model.log_request({"not_found": f"{self.command} {self.path}"}, body)
        self._reply(404, {"type": "error", "error": {"type": "not_found_error", "message": "no such path"}})


def get_dialect(path: str) -> Dialect | None:
    """The dialect that is spoken at a path."""
    if any(verb in path for verb in _GEMINI):
        return GEMINI
    return next((dialect for end, dialect in _DIALECTS.items() if path.endswith(end)), None)
