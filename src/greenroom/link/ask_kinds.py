"""The kinds of asks: one table with everything in which they differ, also exported to `web/src/api/rows.ts`."""

from typing import Literal, get_args

import msgspec

from greenroom.link.policy_facts.call_request import Risk

AskKind = Literal["question", "report", "permission", "decision", "gate", "poll"]
AskState = Literal["open", "answered", "expired", "withdrawn"]
AnswerVerdict = Literal["approve", "deny", "answer"]
AnswerScope = Literal["once", "call", "run", "profile", "rule"]
"""once: as far as the rule that asks says; call: this call and no other."""
Language = Literal["en", "zh-CN"]
SCOPES: tuple[AnswerScope, ...] = get_args(AnswerScope)
RISKS: tuple[Risk, ...] = get_args(Risk)


class KindName(msgspec.Struct, frozen=True):
    """What people call asks of a kind, in one language."""

    one: str
    many: str


class AskKindInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is different for the asks of one kind."""

    names: dict[Language, KindName]
    notice: str = ""
    """What a notification says of one, if not that it waits for you."""
    raised_by: tuple[Literal["agent", "room"], ...] = ()
    """Who may create one besides operators and the hub: agents, and the tokens of rooms."""
    verdicts: tuple[AnswerVerdict, ...]
    """Its possible answers, in the order in which people see them."""
    in_words: bool = False
    """Whether words alone answer it. They give no permission, so a token that agents ask with may give them too."""
    needs_choice: bool = True
    """Whether an option must be chosen where a question takes nothing but its options."""
    is_call: bool = False
    """Whether it holds up a call: it has a subject, and an approval can cover more than this call."""
    by_votes: bool = False
    """Whether people choose among options until the deadline, and most votes decide; else the first answer does."""
    is_awaited: bool = True
    """Whether somebody waits until it is answered; else it is there to be read."""
    risk: Risk = "low"
    """How risky one is that an agent or a room raises."""
    deadline_s: int = 0
    """After how many seconds silence refuses it, unless a setting or its asker says otherwise; 0 is never."""


ASK_KINDS: dict[AskKind, AskKindInfo] = {
    "question": AskKindInfo(
        names={"en": KindName("Question", "Questions"), "zh-CN": KindName("提问", "提问")},
        notice="A question",
        raised_by=("agent", "room"),
        verdicts=("answer", "deny"),
        in_words=True,
        needs_choice=False,
        deadline_s=3600,
    ),
    "report": AskKindInfo(
        names={"en": KindName("Report", "Reports"), "zh-CN": KindName("汇报", "汇报")},
        notice="A report",
        raised_by=("agent", "room"),
        verdicts=("answer", "approve", "deny"),
        in_words=True,
        is_awaited=False,
        deadline_s=3600,
    ),
    "permission": AskKindInfo(
        names={"en": KindName("Permission", "Permissions"), "zh-CN": KindName("权限", "权限")},
        notice="A call waits for leave",
        raised_by=("agent",),
        verdicts=("approve", "deny"),
        is_call=True,
        risk="high",
    ),
    "decision": AskKindInfo(
        names={"en": KindName("Decision", "Decisions"), "zh-CN": KindName("决策", "决策")},
        verdicts=("approve", "deny", "answer"),
    ),
    "gate": AskKindInfo(
        names={"en": KindName("Gate", "Gates"), "zh-CN": KindName("关卡", "关卡")},
        verdicts=("approve", "deny"),
    ),
    "poll": AskKindInfo(
        names={"en": KindName("Poll", "Polls"), "zh-CN": KindName("投票", "投票")},
        notice="A poll",
        raised_by=("agent", "room"),
        verdicts=("answer",),
        by_votes=True,
        deadline_s=3600,
    ),
}
