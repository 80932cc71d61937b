"""A WebSocket below its messages: whoever floods us with frames, or leaves our answers to pings unread, is hung up on.

uvicorn bounds the size of a message and nothing else.
"""

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

FRAMES = 20_000
FRAMES_PER_S = 5_000.0
FRAGMENTS = 1_000
UNREAD_BYTES = 262_144
_SLICE = 16_384


class WebSocket(WebSocketsSansIOProtocol):
    """uvicorn's WebSocket, which counts frames of every kind, also those that come after it was closed."""

    def __init__(self, *uvicorn: Any, **named: Any) -> None:
        super().__init__(*uvicorn, **named)
        self._frames_left = float(FRAMES)
        self._counted_at = self.loop.time()

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
