"""Shows an ask to the person at this terminal: the exact call, and a question that no stray key can answer.

What is being typed when the call is shown is thrown away until there is a pause: it was meant for something else.
What is pasted chooses nothing. High risk is approved by typing a word. Whoever answers elsewhere meanwhile ends the
question here.
"""

import json
import os
import select
import sys
import termios
from functools import partial
from typing import Any

from greenroom import settings
from greenroom.cli.client import HubClient, retry_while_away
from greenroom.cli.terminal import colour_text, escape_line, escape_lines, print_notice
from greenroom.errors import Refused
from greenroom.link.ask_kinds import ASK_KINDS, AnswerVerdict

Ask = dict[str, Any]
_LOOK_S = 1.0
_DEAF_S = 0.7
"""How long nobody must type before a question is asked, so that the end of a word does not answer it."""
_PASTE_S = 0.3
"""How long nothing follows a line that chooses something: pasted lines may arrive in pieces."""
_MARK_PASTES, _STOP_MARKS = "\x1b[?2004h", "\x1b[?2004l"
"""The terminal marks pasted text: a line with such marks is no choice."""
_WORD = "approve"
DONE = {"approve": "Approved.", "deny": "Denied.", "answer": "Answered."}


class AnsweredElsewhere(Exception):
    """Somebody else was quicker, or nobody waits any more. The ask says which."""

    def __init__(self, ask: Ask) -> None:
        super().__init__(ask["id"])
        self.ask = ask


def is_at_terminal() -> bool:
    """Whether a person can be asked here."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def show_call(ask: Ask) -> None:
    """The content of an ask: who asks, its risk, and every byte of the call."""
    risk = colour_text(ask.get("risk", "low"))
    print_notice(
        f"{escape_line(ask['id'])}: {escape_line(ask['asker'].get('name', ''))} asks, {risk} risk: "
        f"{escape_line(ask['title'])}"
    )
    if ask.get("why"):
        print_notice(f"    {'why asked':10} {escape_line(ask['why'])}")
    for name, value in ask.get("subject", {}).items():
        print_notice(f"    {name:10} {json.dumps(value, ensure_ascii=True)}")
    if ask.get("labels", {}).get("reach"):
        like = escape_line(ask["labels"].get("like", ""))
        print_notice(
            f"    {'reach':10} a yes also allows {like} for the rest of this run; `--for call` allows this call only"
        )
    if not ask.get("subject"):
        if ask.get("text"):
            print_notice("\n".join(f"    {row}" for row in escape_lines(ask["text"]).split("\n")))
        for question in ask.get("questions", []):
            print_notice(f"    {escape_line(question['question'])}")
            for option in question.get("options", []):
                print_notice(
                    f"      - {escape_line(option['label'])}  {escape_line(option.get('description', ''))}".rstrip()
                )


def is_confirmed(client: HubClient, ask: Ask, verdict: AnswerVerdict) -> bool:
    """Whether the person at the terminal confirms an answer, after seeing the call."""
    discard_typed_keys()
    if verdict == "approve" and ask.get("risk") == "high":
        words = f'High risk. Type "{_WORD}" to allow exactly this call: '
        return read_decision(client, ask, words) == _WORD
    words = f"{verdict.capitalize()} “{escape_line(ask['title'])}”? [y/N] "
    return read_decision(client, ask, words).lower() in ("y", "yes")


def discard_typed_keys() -> None:
    """Discard keys that were typed for something else, until nobody has typed for a moment."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    by_key = [*before[:3], before[3] & ~termios.ICANON, *before[4:]]  # else no key is seen before the line ends
    termios.tcsetattr(terminal, termios.TCSAFLUSH, by_key)
    try:
        while select.select([terminal], [], [], _DEAF_S)[0] and os.read(terminal, 4096):
            pass
    finally:
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)


def read_line(client: HubClient, ask: Ask, words: str) -> str:
    """A line that the person types; of several that are pasted the first. Raises EOFError on Ctrl-D."""
    typed = _read_first_line(client, ask, words)
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    return typed


def read_decision(client: HubClient, ask: Ask, words: str) -> str:
    """A line that chooses something: empty if it was pasted, even in pieces, or if more is typed after it."""
    _control_terminal(_MARK_PASTES)
    try:
        typed = _read_first_line(client, ask, words)
        if select.select([sys.stdin], [], [], _PASTE_S)[0]:
            discard_typed_keys()
            return ""
        return typed
    finally:
        _control_terminal(_STOP_MARKS)


def _control_terminal(sequence: str) -> None:
    if settings.supports_escapes():
        sys.stderr.write(sequence)
        sys.stderr.flush()


def _read_first_line(client: HubClient, ask: Ask, words: str) -> str:
    sys.stderr.write(words)
    sys.stderr.flush()
    typed = b""
    while not typed.endswith(b"\n"):
        ready, _, _ = select.select([sys.stdin], [], [], _LOOK_S)
        if ready:
            piece = os.read(sys.stdin.fileno(), 4096)
            if not piece:
                print_notice("")
                raise EOFError
            typed += piece
            continue
        now = retry_while_away(partial(client.get, "asks", ask["id"]))
        if now["state"] != "open":
            print_notice("")
            raise AnsweredElsewhere(now)
    return typed.partition(b"\n")[0].decode(errors="replace").strip()


def tell_outcome(ask: Ask) -> None:
    """Print the outcome of an ask, and who decided it."""
    answer = ask.get("answer")
    if answer:
        who = escape_line(answer.get("rule") or answer["name"])
        words = f": {escape_line(answer['text'])}" if answer.get("text") else ""
        print_notice(f"greenroom: {who} has answered meanwhile ({answer['verdict']}{words}).")
    else:
        print_notice(
            f"greenroom: nobody waits for an answer any more ({escape_line(ask.get('reason') or ask['state'])})."
        )


def get_ask_prompt(client: HubClient) -> "AskPrompt | None":
    """Shows asks to the person here; None without a person, or if their credential may not answer."""
    if not is_at_terminal() or {"answer", "operate"}.isdisjoint(client.get("me")["rights"]):
        return None
    return AskPrompt(client)


class AskPrompt:
    """Puts the asks of a run before the person who follows it, each once."""

    def __init__(self, client: HubClient) -> None:
        self._client = client
        self._left: set[str] = set()

    def prompt_next(self, run_id: str) -> bool:
        """Put the next ask of a run, or of one below it, before the person; whether there was one."""
        ask = self._get_next(run_id)
        if ask is None:
            return False
        self._left.add(ask["id"])
        show_call(ask)
        try:
            self._prompt_for(ask)
        except AnsweredElsewhere as late:
            tell_outcome(late.ask)
        return True

    def _get_next(self, run_id: str) -> Ask | None:
        tree = retry_while_away(partial(self._client.get, "runs", run_id, "tree"))["runs"]
        for run in tree:
            if run["status"] == "waiting":
                for ask in retry_while_away(partial(self._client.get, "asks", run_id=run["id"]))["asks"]:
                    if ask["id"] not in self._left:
                        return dict(ask)
        return None

    def _prompt_for(self, ask: Ask) -> None:
        if ask.get("form") is not None:
            print_notice(
                f"It has a form: answer it on the page, or with `greenroom ask answer {ask['id']} --form JSON`."
            )
            return
        discard_typed_keys()
        try:
            is_yes_or_no = not ASK_KINDS[ask["kind"]].in_words and not ask.get("questions")
            body = self._read_verdict(ask) if is_yes_or_no else self._read_reply(ask)
        except EOFError:
            body = None
        if body is None:
            print_notice("Left to others: `greenroom ask list` shows what waits.")
            return
        try:
            self._client.post("asks", ask["id"], "answer", body={**body, "digest": ask.get("digest")})
        except Refused as no:
            print_notice(f"greenroom: {escape_line(no.message)}")
        else:
            print_notice(DONE[body["verdict"]])

    def _read_verdict(self, ask: Ask) -> dict[str, Any] | None:
        """An answer to a call, or None to leave it to others."""
        while True:
            words = "  a approve · d deny · l leave it to others > "
            said = read_decision(self._client, ask, words).lower()
            if said in ("l", "leave"):
                return None
            if said in ("d", "deny"):
                words = read_line(self._client, ask, "  Words for the agent, such as why not (may be empty): ")
                return {"verdict": "deny", "text": words}
            if said in ("a", "approve") and self._is_approval_confirmed(ask):
                return {"verdict": "approve"}
            discard_typed_keys()

    def _is_approval_confirmed(self, ask: Ask) -> bool:
        if ask.get("risk") != "high":
            return True
        if is_confirmed(self._client, ask, "approve"):
            return True
        print_notice("Not approved.")
        return False

    def _read_reply(self, ask: Ask) -> dict[str, Any] | None:
        words = read_line(self._client, ask, "  Your answer (empty leaves it to others): ")
        offered = [
            option["label"] for question in ask.get("questions", [])[:1] for option in question.get("options", [])
        ]
        chosen = [label for label in offered if label.lower() == words.lower()]
        if chosen:
            return {"verdict": "answer", "options": [chosen[:1]]}
        return {"verdict": "answer", "text": words} if words else None
