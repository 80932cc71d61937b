"""The streaming doors: rows for the page over a WebSocket, events of the bus over SSE."""
