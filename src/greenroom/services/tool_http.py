"""HTTP transport to MCP servers, with a limit on what one of them may send at once."""

from collections.abc import AsyncIterator

import httpx2

from greenroom.services.tool_pipes import MOST_BYTES


class _LimitedStream(httpx2.AsyncByteStream):
    """A body that ends in an error when it, or a single event of a stream, is too long."""

    def __init__(self, inner: httpx2.AsyncByteStream, *, in_events: bool) -> None:
        self._inner = inner
        self._in_events = in_events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._inner:
            end = piece.rfind(b"\n\n") if self._in_events else -1
            size = size + len(piece) if end < 0 else len(piece) - end
            if size > MOST_BYTES:
                raise httpx2.ReadError(f"the server sends more than {MOST_BYTES} bytes in one message")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


async def limit_response(response: httpx2.Response) -> None:
    """A hook for a client: its answers must be plain, and no longer than they may be."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        await response.aclose()
        raise httpx2.DecodingError("the server sends what is packed, though it was asked not to")
    in_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
    assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 that is what an asynchronous client gets
    response.stream = _LimitedStream(response.stream, in_events=in_events)
