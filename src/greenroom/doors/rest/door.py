"""The REST door: every resource that it serves, in one list."""

from collections.abc import Sequence

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest import (
    addresses,
    agents,
    asks,
    audit,
    credentials,
    hub_info,
    id_search,
    message,
    messages,
    metrics,
    nodes,
    openapi,
    policy,
    profiles,
    registration,
    remembered_rule,
    runs,
    servers,
    templates,
    thread_export,
    thread_settings,
    thread_waits,
    threads,
    triggers,
    uploads,
    workflow_files,
    workflow_versions,
    workflows,
)
from greenroom.services.hub import Hub
from greenroom.services.node_links import NodeLinks


def endpoints(hub: Hub, links: NodeLinks, others: Sequence[Endpoint]) -> list[Endpoint]:
    """The endpoints of this door. `others` is the list of all doors' endpoints, to be described too."""
    return [
        *hub_info.ENDPOINTS,
        *threads.ENDPOINTS,
        *messages.endpoints(hub),
        *thread_waits.ENDPOINTS,
        *thread_settings.ENDPOINTS,
        *thread_export.ENDPOINTS,
        *message.ENDPOINTS,
        *id_search.ENDPOINTS,
        *agents.ENDPOINTS,
        *registration.ENDPOINTS,
        *templates.ENDPOINTS,
        *uploads.endpoints(hub),
        *profiles.endpoints(links),
        *nodes.ENDPOINTS,
        *runs.ENDPOINTS,
        *asks.endpoints(hub),
        *credentials.ENDPOINTS,
        *addresses.ENDPOINTS,
        *policy.ENDPOINTS,
        *remembered_rule.ENDPOINTS,
        *servers.ENDPOINTS,
        *workflow_files.endpoints(links),
        *workflows.ENDPOINTS,
        *workflow_versions.ENDPOINTS,
        *triggers.endpoints(),
        *audit.ENDPOINTS,
        *metrics.endpoints(hub),
        openapi.build_endpoint(lambda: others),
    ]
