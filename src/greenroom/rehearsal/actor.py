"""Carries a script out: every directive is a method, and what it does is told to the client as a real agent would."""

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from greenroom.rehearsal.hub import Hub
from greenroom.rehearsal.memory import Memory
from greenroom.rehearsal.script import fill, parse, unfold
from greenroom.rehearsal.shell import run
from greenroom.rehearsal.wire import Failed, Json, Wire

_OPTIONS = [
    {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "no", "name": "Refuse", "kind": "reject_once"},
]
_LOOK_S = 0.05
_CRASHED = 70


class Cancelled(Exception):
    """The client has cancelled the turn."""


class Actor:
    """Plays the prompts of one session."""

    def __init__(self, wire: Wire, session: str, params: Json, memory: Memory, can_ask: bool) -> None:
        self.cancelled = threading.Event()
        self._wire = wire
        self._session = session
        self._directory = Path(str(params.get("cwd") or "."))
        self._hub = _hub(params)
        self._model = str(((params.get("_meta") or {}).get("greenroom") or {}).get("model") or "script")
        self._memory = memory
        self._can_ask = can_ask
        self._calls = 0
        self._cost_usd = 0.0
        self._begin("")

    def _begin(self, prompt: str) -> None:
        self._prompt = prompt
        self._said: list[str] = []
        self._results: list[Any] = []
        self._output: Any = None
        self._tokens = (0, 0)

    def play(self, prompt: str) -> Json:
        """Carry a prompt out. What goes into the answer to it; raises Cancelled or Failed."""
        self._begin(prompt)
        try:
            for op, text in parse(prompt):
                if self.cancelled.is_set() and op != "HANG":
                    raise Cancelled
                _DIRECTIVES[op](self, fill(text, self._results))
        finally:
            self._memory.add(prompt, "\n".join(self._said))
        return self._account()

    def _account(self) -> Json:
        meta: Json = {} if self._output is None else {"greenroom": {"output": self._output}}
        if not any(self._tokens):
            return {"_meta": meta} if meta else {}
        counts = dict(zip(("input_tokens", "output_tokens"), self._tokens, strict=True))
        meta["quota"] = {"token_count": counts, "model_usage": [{"model": self._model, "token_count": counts}]}
        return {"_meta": meta}

    def say(self, text: str) -> None:
        text = unfold(text)
        self._told("agent_message_chunk", "\n" + text if self._said else text)
        self._said.append(text)

    def think(self, text: str) -> None:
        self._told("agent_thought_chunk", unfold(text))

    def sleep(self, text: str) -> None:
        if self.cancelled.wait(_number(text)):
            raise Cancelled

    def shell(self, text: str) -> None:
        call = self._announce("shell", "execute", text, {"command": text})
        if not self._may(call, text, "execute", {"command": text}):
            return
        output, code = run(text, self._directory, self.cancelled)
        self._results.append({"output": output.strip(), "code": code})
        self._finish(call, code == 0, output if code == 0 else f"{output}\nexit code {code}")
        if self.cancelled.is_set():
            raise Cancelled

    def write(self, text: str) -> None:
        name, _, content = text.partition(" ")
        content = unfold(content)
        self._change("write", name, {"content": content}, lambda path: content)

    def edit(self, text: str) -> None:
        name, _, change = text.partition(" ")
        old, _, new = (unfold(part) for part in change.partition(" => "))

        def edited(path: Path) -> str:
            before = path.read_text()
            if old not in before:
                raise LookupError(f"{name} does not have this text: {old[:80]}")
            return before.replace(old, new, 1)

        self._change("edit", name, {"old_string": old, "new_string": new}, edited)

    def _change(self, tool: str, name: str, given: Json, content: Callable[[Path], str]) -> None:
        """Write a file, if that is allowed."""
        path = self._directory / name
        title = f"{tool.capitalize()} {name}"
        call = self._announce(tool, "edit", title, {"path": str(path), **given})
        if not self._may(call, title, "edit", {"path": str(path), **given}):
            return
        try:
            text = content(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        except (OSError, LookupError) as error:
            self._finish(call, False, str(error))
        else:
            self._finish(call, True, f"wrote {len(text)} characters")

    def tool(self, text: str) -> None:
        name, _, given = text.partition(" ")
        self._call(name, _json(given or "{}"), lambda hub, arguments: hub.call(name, arguments))

    def ask(self, text: str) -> None:
        question = unfold(text)
        if self._hub is not None and "ask_question" in self._hub.tools():
            asked = {"question": question, "project_directory": str(self._directory)}
            self._call("ask_question", asked, lambda hub, given: {"answer": hub.call("ask_question", given)})
            return
        if not self._can_ask:
            raise Failed("there is nobody to ask")
        schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
        params = {"sessionId": self._session, "mode": "form", "message": question, "requestedSchema": schema}
        answered = self._wire.request("elicitation/create", params)
        if answered.get("action") == "cancel":
            raise Cancelled
        self._results.append({"answer": (answered.get("content") or {}).get("answer", "")})

    def post(self, text: str) -> None:
        thread, _, content = text.partition(" ")
        given = {"thread": thread, "content": unfold(content)}
        self._call("msg_post", given, lambda hub, _: hub.post(thread, given["content"]))

    def spawn(self, text: str) -> None:
        profile, _, prompt = text.partition(" ")
        given = {"profile": profile, "prompt": unfold(prompt)}
        self._call("spawn_agent", given, lambda hub, _: hub.spawn(**given))

    def output(self, text: str) -> None:
        self._output = _json(text)

    def usage(self, text: str) -> None:
        """Tokens in, tokens out, and what they cost in dollars."""
        given, taken, cost = (*text.split(), "0", "0")[:3] if text.strip() else ("", "0", "0")
        self._tokens = (self._tokens[0] + int(_number(given)), self._tokens[1] + int(_number(taken)))
        if _number(cost):
            self._cost_usd += _number(cost)
            spent = {"amount": round(self._cost_usd, 6), "currency": "USD"}
            self._update({"sessionUpdate": "usage_update", "used": sum(self._tokens), "size": 200_000, "cost": spent})

    def recall(self, text: str) -> None:
        self.say(self._memory.recall(self._prompt))

    def quota(self, text: str) -> NoReturn:
        resets_at = int((time.time() + _number(text)) * 1000)
        raise Failed("the account is used up for now", data={"greenroom": {"resets_at": resets_at}})

    def fail(self, text: str) -> NoReturn:
        raise Failed(text or "the script says so")

    def crash(self, text: str) -> NoReturn:
        sys.stderr.write(f"rehearsal: crashed as the script says {text}\n")
        sys.stderr.flush()
        os._exit(_CRASHED)

    def hang(self, text: str) -> None:
        threading.Event().wait()

    def _call(self, name: str, given: Json, work: Callable[[Hub, Json], Any]) -> None:
        """Call a tool of the hub, and tell of it."""
        call = self._announce(f"mcp__greenroom__{name}", "other", f"greenroom_{name}", given)
        try:
            if self._hub is None:
                raise Failed("this session has no hub")
            result = self._wait_for(partial(work, self._hub, given))
        except Failed as error:
            self._finish(call, False, str(error))
            self.say(f"{name} failed: {error}")
            return
        self._results.append(result)
        self._finish(call, True, result if isinstance(result, str) else json.dumps(result, ensure_ascii=False))

    def _wait_for(self, work: Callable[[], Any]) -> Any:
        """Do something that may take long; a cancel does not wait for it."""
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def worker() -> None:
            try:
                done.put(work())
            except Failed as error:
                done.put(error)
            except (LookupError, TypeError, ValueError) as error:
                done.put(Failed(f"what the hub has answered makes no sense: {error!r}"))

        threading.Thread(target=worker, daemon=True).start()
        while True:
            try:
                result = done.get(timeout=_LOOK_S)
            except queue.Empty:
                if self.cancelled.is_set():
                    raise Cancelled from None
                continue
            if isinstance(result, Failed):
                raise result
            return result

    def _may(self, call: str, title: str, kind: str, given: Json) -> bool:
        told = {"toolCallId": call, "title": title, "kind": kind, "status": "pending", "rawInput": given}
        params = {"sessionId": self._session, "toolCall": told, "options": _OPTIONS}
        outcome = self._wire.request("session/request_permission", params).get("outcome") or {}
        if outcome.get("outcome") != "selected":
            raise Cancelled
        if outcome.get("optionId") == "no":
            self._finish(call, False, "refused")
            return False
        return True

    def _announce(self, name: str, kind: str, title: str, given: Json) -> str:
        self._calls += 1
        call = f"call_{os.urandom(4).hex()}_{self._calls}"
        told = {"toolCallId": call, "name": name, "kind": kind, "title": title, "rawInput": given}
        self._update({"sessionUpdate": "tool_call", "status": "pending", **told})
        return call

    def _finish(self, call: str, ok: bool, output: str) -> None:
        content = [{"type": "content", "content": {"type": "text", "text": output}}]
        status = "completed" if ok else "failed"
        self._update({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status, "content": content})

    def _told(self, kind: str, text: str) -> None:
        self._update({"sessionUpdate": kind, "content": {"type": "text", "text": text}})

    def _update(self, update: Json) -> None:
        self._wire.notify("session/update", {"sessionId": self._session, "update": update})


def _hub(params: Json) -> Hub | None:
    for server in params.get("mcpServers") or []:
        if server.get("type") == "http" and server.get("name") == "greenroom":
            headers = {header["name"]: header["value"] for header in server.get("headers") or []}
            return Hub(server["url"], headers)
    return None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise Failed(f"this is not JSON: {text[:80]} ({error})") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Failed(f"this is not a number: {text[:80]}") from None


_DIRECTIVES: dict[str, Callable[[Actor, str], None]] = {
    "SAY": Actor.say,
    "THINK": Actor.think,
    "SLEEP": Actor.sleep,
    "SHELL": Actor.shell,
    "WRITE": Actor.write,
    "EDIT": Actor.edit,
    "TOOL": Actor.tool,
    "ASK": Actor.ask,
    "POST": Actor.post,
    "SPAWN": Actor.spawn,
    "OUTPUT": Actor.output,
    "USAGE": Actor.usage,
    "RECALL": Actor.recall,
    "QUOTA": Actor.quota,
    "FAIL": Actor.fail,
    "CRASH": Actor.crash,
    "HANG": Actor.hang,
}
