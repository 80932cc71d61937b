"""The verbs for agents and profiles, for every door."""

from greenroom.rules.agents.model import KickAgent
from greenroom.rules.agents.profiles import PROFILES, DeleteProfile, PutProfile
from greenroom.rules.verb import CliVerb, McpVerb, Verb

AGENT_VERBS = (
    Verb(
        KickAgent,
        "POST",
        "/api/agents/{agent_id}/kick",
        "operate",
        "Remove an agent and revoke its credentials",
        cli=CliVerb("agent kick", "{agent_name} is out; its credentials are ended.", "agt_01m7...", kind="agt"),
    ),
)
_ONE = "/api/profiles/{name}"
PROFILE_VERBS = (
    Verb(PutProfile, "PUT", _ONE, "operate", "Create or replace a profile", body="definition", answer=PROFILES),
    Verb(
        DeleteProfile,
        "DELETE",
        _ONE,
        "operate",
        "Remove a profile",
        status=204,
        tool=McpVerb("profile_delete", "Remove a profile; its agents go on."),
        cli=CliVerb("profile delete", "{id} is removed.", "reviewer", "NAME", gone="deleted"),
    ),
)
