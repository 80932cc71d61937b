"""Converts permission policies of other clients into keys of profiles."""

from typing import Any

from greenroom.sentences import build_sentence
from greenroom.validation import InvalidField

PERMISSIONS: dict[str, str] = {
    "allowedTools": "allowed_tools",
    "deniedTools": "denied_tools",
    "canSpawnChildren": "may_spawn",
    "canAccessNetwork": "may_network",
    "canModifyFiles": "may_write",
    "canExecuteCommands": "may_execute",
    "maxTokensPerRun": "max_tokens",
    "maxDurationPerRun": "timeout_s",
    "maxConcurrentChildren": "max_children",
    "maxDepth": "max_depth",
    "requireUserApproval": "approvals",
}
"""The keys of an agent permission policy, as some clients write it under `permissions`, and what we call them."""


def merge_permissions(fields: dict[str, Any]) -> dict[str, Any]:
    """A definition's keys, with those of its permission policy among them."""
    given = fields["permissions"]
    unknown = sorted(set(given) - set(PERMISSIONS) - {"agentId"}) if isinstance(given, dict) else ["permissions"]
    if unknown:
        said = build_sentence("profile_problem.unknown_permission", name=unknown[0], keys=PERMISSIONS)
        raise InvalidField("permissions", said)
    own = {PERMISSIONS[key]: value for key, value in given.items() if key in PERMISSIONS}
    if own.get("approvals") == "on_sensitive_tools":
        own["approvals"] = "on_risk"
    if isinstance(own.get("timeout_s"), int | float):
        own["timeout_s"] = max(1, round(own["timeout_s"] / 1000))
    return own | {key: value for key, value in fields.items() if key != "permissions"}
