"""The verbs for asks except answering, for every door."""

from greenroom.rules.asks.commands import DelegateAsk, SnoozeAsk, WithdrawAsk
from greenroom.rules.asks.model import ASKS
from greenroom.rules.verb import CliOption, CliVerb, Verb

_ONE = "/api/asks/{ask_id}"
ASK_VERBS = (
    Verb(SnoozeAsk, "POST", f"{_ONE}/snooze", "answer", "Snooze an ask", takes=("for_s", "until"), is_strict=True),
    Verb(
        DelegateAsk,
        "POST",
        f"{_ONE}/delegate",
        "answer",
        "Delegate an ask: show it to other people",
        takes=("to",),
        is_strict=True,
        cli=CliVerb(
            "ask delegate",
            "{id}: handed to {to}",
            "ask_01m7... --to room:ops",
            kind="ask",
            options={"to": CliOption("to")},
            undone="{id}: taken back",
            takes_many=True,
        ),
    ),
    Verb(
        WithdrawAsk,
        "POST",
        f"{_ONE}/withdraw",
        "chat",
        "Withdraw an ask",
        takes=("reason",),
        is_strict=True,
        answer=ASKS,
        cli=CliVerb("ask withdraw", "{id}: taken back", "ask_01m7...", kind="ask", takes_many=True),
    ),
)
