"""A WebSocket below its messages: closes a connection that floods us with frames or answers no pings.

uvicorn bounds the size of a message and nothing else, and knows one rhythm of pings for all paths.
"""

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

FRAMES = 20_000
FRAMES_PER_S = 5_000.0
FRAGMENTS = 1_000
UNREAD_BYTES = 262_144
OLDER_CLIENTS = frozenset({"/ws", "/people"})
"""Where Agent Assistant's devices are: they know its rhythm, and send pictures inside of frames."""
PING_S, PONG_S = 54.0, 60.0
LONG_BYTES = 8_388_608
_SLICE = 16_384


class WebSocket(WebSocketsSansIOProtocol):
    """uvicorn's WebSocket, which counts frames of every kind, also those that come after it was closed."""

    def __init__(self, *uvicorn: Any, **named: Any) -> None:
        super().__init__(*uvicorn, **named)
        self._frames_left = float(FRAMES)
        self._counted_at = self.loop.time()
        self._sends_pictures = False

    def handle_connect(self, event: Request) -> None:
        if event.path.partition("?")[0] in OLDER_CLIENTS:
            self.ping_interval, self.ping_timeout = PING_S, PONG_S
            self._sends_pictures = True
        super().handle_connect(event)

    async def send(self, message: "ASGISendEvent") -> None:
        if self._sends_pictures and message["type"] == "websocket.send":  # whoever is answered is known by then
            self.conn.max_message_size = LONG_BYTES
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body"):
            self.handshake_complete = True  # it was refused; uvicorn takes that for an error of ours and logs it

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), _SLICE):  # so that a flood is noticed before all of it has been parsed
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + _SLICE])

    def handle_events(self) -> None:
        now = self.loop.time()
        refilled = self._frames_left + (now - self._counted_at) * FRAMES_PER_S
        self._frames_left = min(FRAMES, refilled) - len(self.conn.events)
        self._counted_at = now
        if self._frames_left < 0:
            self.transport.abort()
            return
        super().handle_events()

    def handle_ping(self) -> None:
        if self.transport.get_write_buffer_size() > UNREAD_BYTES:
            self.transport.abort()
            return
        super().handle_ping()

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) >= FRAGMENTS:
            self.transport.abort()
            return
        super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:  # uvicorn would write a traceback into the log
                self.frames = []
                self.conn.send_close(1007)
                self.handle_parser_exception()
                return
        super().send_receive_event_to_app()
