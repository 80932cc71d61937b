"""The commands of the policy."""

from greenroom.link.policy_facts.call_request import CallRequest
from greenroom.log.model import Command
from greenroom.rules.policy.model import Options, Rule


class PutRule(Command, frozen=True, kw_only=True):
    """Add a rule, or replace the one of this name in its place. `before` names the rule that follows it."""

    name: str
    rule: Rule
    source: str = "api"
    before: str | None = None
    """Empty is behind all others; None leaves a rule that is there where it stands."""


class RemoveRule(Command, frozen=True, kw_only=True):
    """Take a rule away; from the next call on it does not count."""

    name: str


class LoadRules(Command, frozen=True, kw_only=True):
    """Take over what policy.toml says: its rules in order, and its options."""

    rules: list[tuple[str, Rule]]
    options: Options


class RevokeGrant(Command, frozen=True, kw_only=True):
    """Revoke an approval for a run or a profile; it does not count from the next call on."""

    grant_id: str


class JudgeCall(Command, frozen=True, kw_only=True):
    """Judge a call and write the judgement down, before anything is done."""

    judgement_id: str
    wanted: CallRequest
