"""Plays prompts line by line, and goes on with one where an earlier process was."""

from greenroom.rehearsal.actor import Actor, Cancelled, UsedUp
from greenroom.rehearsal.memory import Memory, Turn
from greenroom.rehearsal.script import Directive, fill, get_thread, parse
from greenroom.rehearsal.wire import Failed, Json

_EFFECTS = frozenset({"SHELL", "WRITE", "EDIT", "TOOL", "ASK", "POST", "SPAWN"})
"""Directives that do something beyond the process."""


class Player:
    """Plays the prompts of one session."""

    def __init__(self, actor: Actor, memory: Memory, model: str) -> None:
        self._actor = actor
        self._memory = memory
        self._model = model

    def play(self, prompt: str, task: str = "", *, resumes: bool = False, is_step: bool = False) -> Json:
        """Carry a prompt out, or finish its task. What goes into the answer to it; raises Cancelled or Failed."""
        begun = self._memory.find_task(task) if resumes and task else None
        turn = self._actor.turn = begun or self._memory.begin(prompt, task, is_step)
        script = parse(turn.prompt, says_plain=turn.is_step)
        posts = any(line.op == "POST" for line in script)
        self._actor.replies_in = None if posts else get_thread(turn.prompt)
        if begun is not None:
            self._actor.repeat()
        if turn.end is None:
            self._finish(turn, script)
        elif turn.end:
            raise Failed(**turn.end)
        return self._account(turn)

    def _finish(self, turn: Turn, script: list[Directive]) -> None:
        """Carry out the lines that are left. A turn that is cancelled, or whose account is used up, stays open."""
        try:
            for op, text in script[turn.done :]:
                if self._actor.cancelled.is_set() and op != "HANG":
                    raise Cancelled
                self._actor.do(op, fill(text, turn.results))
                self._memory.line_done(turn, has_effect=op in _EFFECTS)
            self._actor.reply()
        except UsedUp:
            self._memory.line_done(turn, has_effect=False)
            raise
        except Failed as error:
            self._memory.end(turn, error.error)
            raise
        self._memory.end(turn)

    def _account(self, turn: Turn) -> Json:
        meta: Json = {} if turn.output is None else {"greenroom": {"output": turn.output}}
        if any(turn.tokens):
            counts = dict(zip(("input_tokens", "output_tokens"), turn.tokens, strict=True))
            meta["quota"] = {"token_count": counts, "model_usage": [{"model": self._model, "token_count": counts}]}
        return {"_meta": meta} if meta else {}
