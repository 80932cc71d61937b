"""The streaming doors: rows for the page over a WebSocket, and events of the bus over SSE."""
