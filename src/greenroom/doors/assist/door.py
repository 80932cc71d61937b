"""Agent Assistant's door: its RPCs as endpoints that prove who calls by the token inside, and its sockets."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from greenroom.doors.assist.rpc import MOST_BYTES, SERVICE, AssistApp, AssistService
from greenroom.doors.assist.socket import AssistSockets
from greenroom.doors.credentials import Credentials
from greenroom.doors.endpoint import PUBLIC, Endpoint
from greenroom.hub import Hub
from greenroom.nouns.access.model import Principal

_RPCS = {
    "AskQuestion": "Ask the people of a room and wait for their answer",
    "TaskFinish": "Report finished work to a room and wait for its answer, by the older name",
    "WorkReport": "Report work to a room and wait for its answer",
    "SendMcpClientInfo": "Say which client asks",
}


class Passed(Response):
    """An answer that another application gives."""

    def __init__(self, app: AssistApp) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


class AssistDoor:
    """All that Agent Assistant's clients use."""

    def __init__(self, hub: Hub) -> None:
        credentials = Credentials(hub)
        self.service = AssistService(hub, credentials)
        self.sockets = AssistSockets(hub, credentials)

    def endpoints(self) -> list[Endpoint]:
        """The RPCs. They are public to the guard: UserToken in the body is the credential."""
        app = AssistApp(self.service)

        async def call(hub: Hub, by: Principal, request: Request) -> Response:
            return Passed(app)

        return [
            Endpoint(
                "POST", f"/{SERVICE}/{name}", PUBLIC, call, summary, answer="application/json", max_bytes=MOST_BYTES
            )
            for name, summary in _RPCS.items()
        ]
