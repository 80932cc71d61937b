"""How to start Codex and pass values to it."""

from greenroom.runtimes.prompt_text import PromptQuoting

NAME = "codex"
COMMAND = ["codex"]
VERSION = ["--version"]
SERVE = ["app-server", "-c", "check_for_update_on_startup=false"]
ATTACH = ["resume", "-c", "check_for_update_on_startup=false"]
REMOTE = "--remote"
LISTEN = "--listen"
CONFIG: dict[str, bool] = {
    # Plug-ins are looked up on the network at every start.
    "features.plugins": False,
}
NO_HELPERS: dict[str, bool] = {"features.multi_agent": False, "features.multi_agent_v2": False}
"""Without the tools that start agents of its own."""
ASKS = {
    # Every command is asked, by a person: a person's own settings can leave that to a model.
    "approvalPolicy": "untrusted",
    "approvalsReviewer": "user",
    "sandbox": "workspace-write",
}

HUB = "greenroom"
TOKEN = "GREENROOM_TOKEN"  # noqa: S105
"""The variable with the credential."""
HUB_SERVER = {
    # A person may have a server of this name and have put it out of use for themselves.
    "enabled": True,
    # The hub judges its callers itself.
    "default_tools_approval_mode": "approve",
    # Otherwise Codex begins after a second, with whatever tools it has seen by then.
    "required": True,
    "startup_timeout_sec": 30,
    # Longer than the longest wait: Codex gives up though the hub reports progress.
    "tool_timeout_sec": 600,
}

QUOTING = PromptQuoting(starts=False, skills=True)
