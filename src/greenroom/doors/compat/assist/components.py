"""The parts of Agent Assistant's door once it is loaded."""

from typing import cast

from starlette.types import ASGIApp

from greenroom.doors.compat.assist.rpc import AssistApp, AssistService
from greenroom.doors.compat.assist.socket import AssistSockets
from greenroom.doors.http.credentials import Credentials
from greenroom.services.hub import Hub


class AssistComponents:
    """The two sides of the door, with one count of who guesses tokens."""

    def __init__(self, hub: Hub) -> None:
        credentials = Credentials(hub)
        self.service = AssistService(hub, credentials)
        self.sockets = AssistSockets(hub, credentials)
        self.app = cast("ASGIApp", AssistApp(self.service))
