"""The transport of 2024-11-05: a stream from `GET /sse`, and messages by `POST /messages?session_id=`."""

import mcp_types as types
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.sse import SseServerTransport
from starlette.types import Receive, Scope, Send

from greenroom.doors.mcp.exchange import EVENTS, Exchange, Rejected
from greenroom.doors.mcp.server import PROGRESS_S, Caller, Context, Service, build_server, caller_in, caller_of
from greenroom.settings import Settings


class LegacySse:
    """Both endpoints. A session lives as long as its stream and belongs to the principal that opened it."""

    def __init__(self, service: Service, settings: Settings, progress_s: float = PROGRESS_S) -> None:
        self._service = service
        self._progress_s = progress_s
        self._limit = settings.max_mcp_sessions
        self._sdk = SseServerTransport("/messages", max_request_body_size=settings.max_body_bytes)
        self.open_streams = 0

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`GET /sse`: the stream, whose first event tells where messages go."""
        http = Exchange(scope, receive, send)
        try:
            self._refuse_unfit(http)
        except Rejected as no:
            await http.reply(no.status, no.body, no.headers)
            return
        # A message's own request says who sent it; only the stream's says in which language to answer.
        language = caller_of(scope).language

        def who(context: Context) -> Caller:
            return Caller(caller_in(context).by, language)

        server = build_server(self._service, self._progress_s, who)
        self.open_streams += 1
        try:
            async with self._sdk.connect_sse(_owned(scope), receive, send) as (read, write):
                await server.run(read, write, server.create_initialization_options())
        finally:
            self.open_streams -= 1

    async def post(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`POST /messages`: a message, answered on the stream; 404 for anybody but the stream's owner."""
        await self._sdk.handle_post_message(_owned(scope), receive, send)

    def _refuse_unfit(self, http: Exchange) -> None:
        if http.scope["method"] != "GET":
            raise Rejected(405, types.INVALID_REQUEST, "Method Not Allowed", headers=[(b"allow", b"GET")])
        if not http.accepts(EVENTS):
            raise Rejected(406, types.INVALID_REQUEST, "Not Acceptable: the client must accept text/event-stream")
        if self.open_streams >= self._limit:
            raise Rejected(503, types.INTERNAL_ERROR, "Too many open streams", headers=[(b"retry-after", b"60")])


def _owned(scope: Scope) -> Scope:
    """The scope with the principal in the place where the SDK looks for a session's owner."""
    principal_id = caller_of(scope).by.id
    user = AuthenticatedUser(AccessToken(token="", client_id=principal_id, scopes=[]))
    return {**scope, "user": user}
