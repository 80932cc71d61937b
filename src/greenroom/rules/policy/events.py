"""The events of the policy."""

from typing import ClassVar, Literal

from greenroom.link.policy_facts.call_request import CallRequest
from greenroom.log.model import Event
from greenroom.rules.policy.model import Options, Rule, Verdict
from greenroom.sentences import Words


class RulePut(Event, frozen=True, kw_only=True):
    """A rule is as it is now."""

    privileged: ClassVar[bool] = True
    name: str
    place: int
    rule: Rule
    source: str


class RuleRemoved(Event, frozen=True, kw_only=True):
    """A rule was taken away."""

    privileged: ClassVar[bool] = True
    name: str


class OptionsSet(Event, frozen=True, kw_only=True):
    """The policy's options are as they are now."""

    privileged: ClassVar[bool] = True
    options: Options


class CallJudged(Event, frozen=True, kw_only=True):
    """The policy has said whether a call may run."""

    privileged: ClassVar[bool] = True
    judgement_id: str
    wanted: CallRequest
    verdict: Verdict
    ask_id: str | None = None


class JudgementAnswered(Event, frozen=True, kw_only=True):
    """A person has answered what the policy asked."""

    judgement_id: str
    answer: str


class GrantGiven(Event, frozen=True, kw_only=True):
    """An approval covers similar calls of a run or a profile from now on."""

    privileged: ClassVar[bool] = True
    grant_id: str
    scope: Literal["run", "profile"]
    holder: str
    like: str
    words: Words
    ask_id: str | None = None


class GrantRevoked(Event, frozen=True, kw_only=True):
    """An approval for a run or a profile was revoked."""

    privileged: ClassVar[bool] = True
    grant_id: str


class MoneySpent(Event, frozen=True, kw_only=True):
    """A run has used money and tokens on a day."""

    day: str
    run_id: str
    usd: float
    tokens: int = 0
