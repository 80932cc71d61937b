"""Mounts the protocols of other programs that the settings enable."""

from starlette.routing import WebSocketRoute

from greenroom.doors.compat import legacy_sse
from greenroom.doors.compat.agent_backend import chat
from greenroom.doors.compat.agent_backend import socket as backend
from greenroom.doors.compat.assist import people
from greenroom.doors.compat.assist.door import AssistDoor
from greenroom.doors.compat.run_tree import socket as run_tree
from greenroom.doors.compat.shared_socket import SharedSocket
from greenroom.doors.compat.shown_asks import ShownAsks
from greenroom.doors.http.routes import Endpoint
from greenroom.services.hub import Hub


class CompatDoor:
    """The endpoints and sockets of every protocol that the settings mount."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._settings = hub.settings
        self._shown = ShownAsks()
        self.assist = AssistDoor(hub)

    def endpoints(self) -> list[Endpoint]:
        """The endpoints over HTTP. The page, too, shows the people of rooms: those stay when compat_assist is off."""
        assist = self.assist.endpoints() if self._settings.compat_assist else []
        backend = chat.endpoints(self._shown) if self._settings.compat_agent_backend else []
        return [*assist, *people.endpoints(self.assist), *backend]

    def routes(self) -> list[WebSocketRoute]:
        """The endpoints over WebSocket."""
        settings = self._settings
        routes = [WebSocketRoute(people.PATH, people.PeopleSocket(self.assist))]
        if settings.compat_agent_backend:
            app = backend.BackendSocket(self._hub, self._shown)
            routes += [WebSocketRoute(path, app) for path in (backend.PATH, backend.BARE_PATH)]
        if settings.compat_run_tree or settings.compat_assist:
            text = run_tree.RunTreeSocket(self._hub) if settings.compat_run_tree else None
            binary = self.assist if settings.compat_assist else None
            routes.append(WebSocketRoute(run_tree.PATH, SharedSocket(text, binary)))
        return routes

    def get_mcp_paths(self) -> tuple[str, ...]:
        """The further paths of the MCP door."""
        return legacy_sse.PATHS if self._settings.compat_legacy_sse else ()
