"""The verbs for profiles, for every door."""

from greenroom.rules.agents.profiles import PROFILES, DeleteProfile, PutProfile
from greenroom.rules.verb import CliVerb, McpVerb, Verb

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
