"""Carries out directives: each is a method, and the client sees what it does as from a real agent."""

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal, NoReturn

from greenroom.rehearsal.hub_client import HubMcpClient, get_hub_client
from greenroom.rehearsal.json_rpc import Json, JsonRpcConnection, RpcError
from greenroom.rehearsal.memory import KINDS, RehearsalTurn, SessionMemory
from greenroom.rehearsal.script import read_json, read_number, unescape_newlines
from greenroom.rehearsal.shell import run_command

_OPTIONS = [
    {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "no", "name": "Refuse", "kind": "reject_once"},
]
_LOOK_S = 0.05
_CRASHED = 70


class Cancelled(Exception):
    """The client has cancelled the turn."""


class QuotaExhausted(RpcError):
    """The account has reached its limit: the turn continues with the next line when it is resumed."""


class DirectiveRunner:
    """What the agent can do in one session."""

    def __init__(
        self, wire: JsonRpcConnection, session: str, params: Json, memory: SessionMemory, can_ask: bool
    ) -> None:
        self.cancelled = threading.Event()
        self.turn = RehearsalTurn("")
        """The prompt that is played; the player sets it."""
        self.replies_in: str | None = None
        """The thread in which the turn is answered, if the script does not post there itself; the player sets it."""
        self._wire = wire
        self._session = session
        self._directory = Path(str(params.get("cwd") or "."))
        self._hub = get_hub_client(params)
        self._memory = memory
        self._can_ask = can_ask
        self._calls = 0
        self._cost_usd = 0.0

    def run_directive(self, op: str, text: str) -> None:
        """Carry one line out; raises Cancelled or Failed."""
        _DIRECTIVES[op](self, text)

    def resume_turn(self) -> None:
        """Resume the turn: report again what it reported so far, except for the line in progress."""
        self.turn.forget_line()
        if self.turn.said[self.turn.answer_from :] and self.replies_in is None:
            self._send_text("agent_message_chunk", self.turn.join_answer())
        self._add_cost(self.turn.cost_usd)

    def say(self, text: str) -> None:
        text = unescape_newlines(text)
        if self.replies_in is None:
            self._send_text("agent_message_chunk", "\n" + text if self.turn.said else text)
        self.turn.said.append(text)

    def reply(self) -> None:
        """Post the text in the thread that the agent is invited into; then say it, for it is the turn's answer."""
        if self.replies_in is not None and self.turn.said:
            self._post(self.replies_in, "\n".join(self.turn.said))
            self._send_text("agent_message_chunk", "\n".join(self.turn.said))

    def think(self, text: str) -> None:
        self._send_text("agent_thought_chunk", unescape_newlines(text))

    def sleep(self, text: str) -> None:
        if self.cancelled.wait(read_number(text)):
            raise Cancelled

    def shell(self, text: str) -> None:
        call = self._announce_call("shell", "execute", text, {"command": text})
        if not self._ask_permission(call, text, "execute", {"command": text}):
            return
        output_file, code_file = (self._memory.build_line_path(self.turn, kind) for kind in KINDS)
        output, code = run_command(text, self._directory, self.cancelled, output_file, code_file)
        self.turn.results.append({"output": output.strip(), "code": code})
        self._finish_call(call, code == 0, output if code == 0 else f"{output}\nexit code {code}")
        if self.cancelled.is_set():
            raise Cancelled

    def write(self, text: str) -> None:
        name, _, content = text.partition(" ")
        content = unescape_newlines(content)
        self._change_file("write", name, {"content": content}, lambda path: content)

    def edit(self, text: str) -> None:
        name, _, change = text.partition(" ")
        old, _, new = (unescape_newlines(part) for part in change.partition(" => "))

        def edited(path: Path) -> str:
            before = path.read_text()
            if old not in before:
                raise LookupError(f"{name} does not have this text: {old[:80]}")
            return before.replace(old, new, 1)

        self._change_file("edit", name, {"old_string": old, "new_string": new}, edited)

    def _change_file(self, tool: str, name: str, given: Json, content: Callable[[Path], str]) -> None:
        """Write a file, if that is allowed."""
        path = self._directory / name
        title = f"{tool.capitalize()} {name}"
        call = self._announce_call(tool, "edit", title, {"path": str(path), **given})
        if not self._ask_permission(call, title, "edit", {"path": str(path), **given}):
            return
        try:
            text = self.turn.note.get("content")
            if text is None:  # settled once: a text that is half replaced cannot be edited again
                text = content(path)
                self._memory.note(self.turn, {"content": text})
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        except (OSError, LookupError) as error:
            self._finish_call(call, False, str(error))
        else:
            self._finish_call(call, True, f"wrote {len(text)} characters")

    def tool(self, text: str) -> None:
        name, _, given = text.partition(" ")
        self._call_tool(name, read_json(given or "{}"), lambda hub, arguments: hub.call(name, arguments))

    def ask(self, text: str) -> None:
        question = unescape_newlines(text)
        if self._hub is not None and "ask_question" in self._hub.find_tools():
            asked = {"question": question, "project_directory": str(self._directory)}
            self._call_tool("ask_question", asked, lambda hub, given: {"answer": hub.call("ask_question", given)})
            return
        if not self._can_ask:
            raise RpcError("there is nobody to ask")
        schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
        params = {"sessionId": self._session, "mode": "form", "message": question, "requestedSchema": schema}
        answered = self._wire.request("elicitation/create", params)
        if answered.get("action") == "cancel":
            raise Cancelled
        self.turn.results.append({"answer": (answered.get("content") or {}).get("answer", "")})

    def post(self, text: str) -> None:
        thread, _, content = text.partition(" ")
        self._post(thread, unescape_newlines(content))

    def _post(self, thread: str, content: str) -> None:
        given = {"thread": thread, "content": content}
        self._call_tool("msg_post", given, lambda hub, _: hub.post(thread, content, self._build_key()))

    def spawn(self, text: str) -> None:
        profile, _, prompt = text.partition(" ")
        given = {"profile": profile, "prompt": unescape_newlines(prompt)}
        self._call_tool("spawn_agent", given, lambda hub, _: hub.spawn(**given, key=self._build_key()))

    def _build_key(self) -> str | None:
        """A name for what the line does: the hub does it once, however often it is asked to under this name."""
        place = f"{self._memory.turns.index(self.turn)}.{self.turn.done}"
        return f"{self.turn.task}.{place}" if self.turn.task else None

    def output(self, text: str) -> None:
        self.turn.output = read_json(text)

    def usage(self, text: str) -> None:
        """Tokens in, tokens out, and what they cost in dollars."""
        given, taken, cost = (*text.split(), "0", "0")[:3] if text.strip() else ("", "0", "0")
        tokens = self.turn.tokens
        self.turn.tokens = (tokens[0] + int(read_number(given)), tokens[1] + int(read_number(taken)))
        self.turn.cost_usd += read_number(cost)
        self._add_cost(read_number(cost))

    def tell_cost(self) -> None:
        """Report what this process has cost so far."""
        spent = {"amount": round(self._cost_usd, 6), "currency": "USD"}
        used = sum(self.turn.tokens)
        self._send_update({"sessionUpdate": "usage_update", "used": used, "size": 200_000, "cost": spent})

    def _add_cost(self, more_usd: float) -> None:
        if more_usd:
            self._cost_usd += more_usd
            self.tell_cost()

    def recall(self, text: str) -> None:
        self.say(self._memory.recall())

    def quota(self, text: str) -> NoReturn:
        resets_at = int((time.time() + read_number(text)) * 1000)
        raise QuotaExhausted("the account is used up for now", data={"greenroom": {"resets_at": resets_at}})

    def fail(self, text: str) -> NoReturn:
        raise RpcError(text or "the script says so")

    def crash(self, text: str) -> NoReturn:
        sys.stderr.write(f"rehearsal: crashed as the script says {text}\n")
        sys.stderr.flush()
        os._exit(_CRASHED)

    def hang(self, text: str) -> None:
        threading.Event().wait()

    def _call_tool(self, name: str, given: Json, work: Callable[[HubMcpClient, Json], Any]) -> None:
        """Call a tool of the hub, and report it."""
        call = self._announce_call(f"mcp__greenroom__{name}", "other", f"greenroom_{name}", given)
        try:
            if self._hub is None:
                raise RpcError("this session has no hub")
            result = self._wait_for(partial(work, self._hub, given))
        except RpcError as error:
            self._finish_call(call, False, str(error))
            self.say(f"{name} failed: {error}")
            return
        self.turn.results.append(result)
        self._finish_call(call, True, result if isinstance(result, str) else json.dumps(result, ensure_ascii=False))

    def _wait_for(self, work: Callable[[], Any]) -> Any:
        """Do something that may take long; a cancel does not wait for it."""
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def worker() -> None:
            try:
                done.put(work())
            except RpcError as error:
                done.put(error)
            except (LookupError, TypeError, ValueError) as error:
                done.put(RpcError(f"what the hub has answered makes no sense: {error!r}"))

        threading.Thread(target=worker, daemon=True).start()
        while True:
            try:
                result = done.get(timeout=_LOOK_S)
            except queue.Empty:
                if self.cancelled.is_set():
                    raise Cancelled from None
                continue
            if isinstance(result, RpcError):
                raise result
            return result

    def _ask_permission(self, call: str, title: str, kind: Literal["execute", "edit"], given: Json) -> bool:
        told = {"toolCallId": call, "title": title, "kind": kind, "status": "pending", "rawInput": given}
        params = {"sessionId": self._session, "toolCall": told, "options": _OPTIONS}
        outcome = self._wire.request("session/request_permission", params).get("outcome") or {}
        if outcome.get("outcome") != "selected":
            raise Cancelled
        if outcome.get("optionId") == "no":
            self._finish_call(call, False, "refused")
            return False
        return True

    def _announce_call(self, name: str, kind: Literal["execute", "edit", "other"], title: str, given: Json) -> str:
        self._calls += 1
        self.turn.answer_from = len(self.turn.said)
        call = f"call_{os.urandom(4).hex()}_{self._calls}"
        told = {"toolCallId": call, "name": name, "kind": kind, "title": title, "rawInput": given}
        self._send_update({"sessionUpdate": "tool_call", "status": "pending", **told})
        return call

    def _finish_call(self, call: str, ok: bool, output: str) -> None:
        content = [{"type": "content", "content": {"type": "text", "text": output}}]
        status = "completed" if ok else "failed"
        self._send_update(
            {"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status, "content": content}
        )

    def _send_text(self, kind: Literal["agent_message_chunk", "agent_thought_chunk"], text: str) -> None:
        self._send_update({"sessionUpdate": kind, "content": {"type": "text", "text": text}})

    def _send_update(self, update: Json) -> None:
        self._wire.notify("session/update", {"sessionId": self._session, "update": update})


_DIRECTIVES: dict[str, Callable[[DirectiveRunner, str], None]] = {
    "SAY": DirectiveRunner.say,
    "THINK": DirectiveRunner.think,
    "SLEEP": DirectiveRunner.sleep,
    "SHELL": DirectiveRunner.shell,
    "WRITE": DirectiveRunner.write,
    "EDIT": DirectiveRunner.edit,
    "TOOL": DirectiveRunner.tool,
    "ASK": DirectiveRunner.ask,
    "POST": DirectiveRunner.post,
    "SPAWN": DirectiveRunner.spawn,
    "OUTPUT": DirectiveRunner.output,
    "USAGE": DirectiveRunner.usage,
    "RECALL": DirectiveRunner.recall,
    "QUOTA": DirectiveRunner.quota,
    "FAIL": DirectiveRunner.fail,
    "CRASH": DirectiveRunner.crash,
    "HANG": DirectiveRunner.hang,
}
