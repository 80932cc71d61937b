"""The REST door: every resource that it serves, in one list."""

from collections.abc import Sequence

from greenroom.doors.endpoint import Endpoint
from greenroom.doors.rest import (
    addresses,
    administration,
    agents,
    asks,
    audit,
    credentials,
    export,
    ids,
    message,
    messages,
    metrics,
    nodes,
    openapi,
    page,
    policy,
    profiles,
    registering,
    remember,
    runs,
    servers,
    templates,
    threads,
    triggers,
    uploads,
    waiting,
    workflow_files,
    workflow_versions,
    workflows,
)
from greenroom.gateway.links import Links
from greenroom.hub import Hub


def endpoints(hub: Hub, links: Links, others: Sequence[Endpoint]) -> list[Endpoint]:
    """The endpoints of this door. `others` is the list of all doors' endpoints, to be described too."""
    return [
        *page.ENDPOINTS,
        *threads.ENDPOINTS,
        *messages.endpoints(hub),
        *waiting.ENDPOINTS,
        *administration.ENDPOINTS,
        *export.ENDPOINTS,
        *message.ENDPOINTS,
        *ids.ENDPOINTS,
        *agents.ENDPOINTS,
        *registering.ENDPOINTS,
        *templates.ENDPOINTS,
        *uploads.endpoints(hub),
        *profiles.endpoints(links),
        *nodes.ENDPOINTS,
        *runs.ENDPOINTS,
        *asks.endpoints(hub),
        *credentials.ENDPOINTS,
        *addresses.ENDPOINTS,
        *policy.ENDPOINTS,
        *remember.ENDPOINTS,
        *servers.ENDPOINTS,
        *workflow_files.endpoints(links),
        *workflows.ENDPOINTS,
        *workflow_versions.ENDPOINTS,
        *triggers.endpoints(),
        *audit.ENDPOINTS,
        *metrics.endpoints(hub),
        openapi.endpoint_of(lambda: others),
    ]
