"""The verbs for asks except answering, for every door."""

from greenroom.rules.asks.commands import DelegateAsk, WithdrawAsk
from greenroom.rules.asks.model import ASKS
from greenroom.rules.verb import Verb

_ONE = "/api/asks/{ask_id}"
ASK_VERBS = (
    Verb(DelegateAsk, "POST", f"{_ONE}/delegate", "answer", "Delegate an ask", takes=("to",), is_strict=True),
    Verb(
        WithdrawAsk,
        "POST",
        f"{_ONE}/withdraw",
        "chat",
        "Withdraw an ask",
        takes=("reason",),
        is_strict=True,
        answer=ASKS,
    ),
)
