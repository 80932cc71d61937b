"""The REST door: every resource that it serves, in one list."""

from collections.abc import Sequence

from greenroom.doors.endpoint import Endpoint
from greenroom.doors.rest import agents, messages, threads
from greenroom.hub import Hub


def endpoints(hub: Hub, others: Sequence[Endpoint]) -> list[Endpoint]:
    """The endpoints of this door; `others` are those of all doors, for the description of the API."""
    return [*threads.ENDPOINTS, *messages.ENDPOINTS, *agents.ENDPOINTS]
