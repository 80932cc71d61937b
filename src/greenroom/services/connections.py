"""The hub's connections to nodes, MCP servers and notification channels, for the doors."""

from greenroom.services.hub import Hub
from greenroom.services.node_links import NodeLinks
from greenroom.services.notify.sender import Notifier
from greenroom.services.tool_servers import ToolServers


class Connections:
    """Connected nodes, MCP servers behind the hub, and channels for notifications."""

    def __init__(self, hub: Hub, url: str) -> None:
        """`url` is where the links in notifications lead."""
        self.links = NodeLinks(hub)
        self.servers = ToolServers(hub)
        self.notifier = Notifier(hub, url)
