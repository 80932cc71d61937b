"""The far side of notifications: a real server that takes them, and a browser's keys that open a push."""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any, NamedTuple

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from greenroom.testing.timeouts import WAIT_S


class Taken(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class FarSide:
    """A server on loopback; `answers` are the statuses it gives, one after the other, then 201."""

    def __init__(self) -> None:
        self.taken: Queue[Taken] = Queue()
        self.answers: list[int] = []
        far = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                status = far.answers.pop(0) if far.answers else 201
                self.send_response(status)
                if status in (301, 302, 307):
                    self.send_header("location", "http://127.0.0.1:1/elsewhere")
                self.send_header("content-length", "0")
                self.end_headers()
                far.taken.put(Taken(self.path, headers, body))

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"http://{self.host}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def next(self, within_s: float = WAIT_S) -> Taken:
        return self.taken.get(timeout=within_s)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def far_side() -> Iterator[FarSide]:
    far = FarSide()
    far.start()
    try:
        yield far
    finally:
        far.stop()


class Browser:
    """The receiving end of web push: its subscription, and what it reads."""

    def __init__(self, endpoint: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._auth = b"0123456789abcdef"
        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.subscription = {"endpoint": endpoint, "keys": {"p256dh": _text(point), "auth": _text(self._auth)}}

    def read(self, sealed: bytes) -> Any:
        opened = http_ece.decrypt(sealed, private_key=self._key, auth_secret=self._auth, version="aes128gcm")
        return json.loads(opened)


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
