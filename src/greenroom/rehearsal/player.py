"""Plays prompts line by line, and continues a prompt where an earlier process stopped."""

from greenroom.rehearsal.directive_runner import Cancelled, DirectiveRunner, QuotaExhausted
from greenroom.rehearsal.json_rpc import Json, RpcError
from greenroom.rehearsal.memory import RehearsalTurn, SessionMemory
from greenroom.rehearsal.script import ScriptDirective, fill_values, get_thread, parse_script

_EFFECTS = frozenset({"SHELL", "WRITE", "EDIT", "TOOL", "ASK", "POST", "SPAWN"})
"""Directives that do something beyond the process."""


class Player:
    """Plays the prompts of one session."""

    def __init__(self, actor: DirectiveRunner, memory: SessionMemory, model: str) -> None:
        self._actor = actor
        self._memory = memory
        self._model = model

    def play(self, prompt: str, task: str = "", *, resumes: bool = False, is_step: bool = False) -> Json:
        """Carry a prompt out, or finish its task. What goes into the answer to it; raises Cancelled or Failed."""
        begun = self._memory.get_task_turn(task) if resumes and task else None
        turn = self._actor.turn = begun or self._memory.begin_turn(prompt, task, is_step)
        script = parse_script(turn.prompt, says_plain=turn.is_step)
        posts = any(line.op == "POST" for line in script)
        self._actor.replies_in = None if posts else get_thread(turn.prompt)
        if begun is not None:
            self._actor.resume_turn()
        if turn.end is None:
            self._play_rest(turn, script)
        elif turn.end:
            raise RpcError(**turn.end)
        return self._build_usage(turn)

    def _play_rest(self, turn: RehearsalTurn, script: list[ScriptDirective]) -> None:
        """Carry out the lines that are left. A turn that is cancelled, or whose account is used up, stays open."""
        try:
            for op, text in script[turn.done :]:
                if self._actor.cancelled.is_set() and op != "HANG":
                    raise Cancelled
                self._actor.run_directive(op, fill_values(text, turn.results))
                self._memory.finish_line(turn, has_effect=op in _EFFECTS)
            self._actor.reply()
        except QuotaExhausted:
            self._memory.finish_line(turn, has_effect=False)
            raise
        except RpcError as error:
            self._memory.end_turn(turn, error.error)
            raise
        self._memory.end_turn(turn)

    def _build_usage(self, turn: RehearsalTurn) -> Json:
        meta: Json = {} if turn.output is None else {"greenroom": {"output": turn.output}}
        if any(turn.tokens):
            counts = dict(zip(("input_tokens", "output_tokens"), turn.tokens, strict=True))
            meta["quota"] = {"token_count": counts, "model_usage": [{"model": self._model, "token_count": counts}]}
        return {"_meta": meta} if meta else {}
