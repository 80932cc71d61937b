"""The verbs for rules and grants, for every door."""

from greenroom.rules.policy.commands import PutRule, RemoveRule, RevokeGrant
from greenroom.rules.policy.model import RULES
from greenroom.rules.verb import Verb

_RULE = "/api/policy/rules/{rule}"
_GRANT = "/api/policy/grants/{grant_id}"
POLICY_VERBS = (
    Verb(
        PutRule,
        "PUT",
        _RULE,
        "operate",
        "Add or replace a rule",
        takes=("rule", "before"),
        is_strict=True,
        answer=RULES,
        is_keyed=True,
    ),
    Verb(RemoveRule, "DELETE", _RULE, "operate", "Remove a rule", status=204, is_keyed=True),
    Verb(RevokeGrant, "DELETE", _GRANT, "operate", "Revoke a grant", status=204, is_keyed=True),
)
