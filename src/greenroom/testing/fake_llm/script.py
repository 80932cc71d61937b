"""The script in a prompt, and its next line after the tool results so far."""

import re
import time
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field

from greenroom.testing.fake_llm.answer import Answer, Fail, QuotaReply, Say, UseTool
from greenroom.testing.fake_llm.request import Blocks, ModelRequest, get_running_session
from greenroom.testing.fake_llm.tools import get_tool_call, parse_forced_call
from greenroom.testing.fake_llm.values import NoValue, fill_template, has_field

_ASK_AGAIN = "write_stdin"
"""Codex's tool that waits for a command which takes longer than the call did."""
_OPS = "USE_TOOL|FORCE_TOOL|REPEAT|END|SAY|OUTPUT|SLOW|RECALL|TOOLS|SYSTEM|QUOTA|TOO_LONG|ERROR"
_LINE = re.compile(rf"^[ \t]*(?:Prompt: )?({_OPS})\b[ \t]*(.*?)[ \t]*$", re.M)


class BadScript(Exception):
    """The script cannot be played; the message says why."""


@dataclass(frozen=True, slots=True)
class ModelDirective:
    """One line."""

    op: str
    text: str


@dataclass(frozen=True, slots=True)
class RepeatLoop:
    """A REPEAT: so many rounds, or until so many results had a field `until`."""

    times: int
    until: str | None
    body: "list[ModelDirective | RepeatLoop]" = field(default_factory=list)


Lines = list[ModelDirective | RepeatLoop]
Played = Generator[tuple[ModelDirective, int], Blocks, list[Blocks]]


def answer_request(request: ModelRequest) -> Answer:
    """What the model says to a request; if the script is wrong, why."""
    try:
        step = _next_step(parse_script(request.prompt), request.results)
    except BadScript as error:
        return Say(f"FAKE: {error}")
    if step is None:
        return _answer_without_script(request)
    directive, round_number = step
    running = get_running_session(request.results[-1]) if request.results else None
    if running is not None and _ASK_AGAIN in request.tools:
        return UseTool(_ASK_AGAIN, {"session_id": running, "chars": ""})
    try:
        return _carry_out(request, directive, {"round": round_number})
    except (BadScript, NoValue, ValueError, re.error) as error:
        return Say(f"FAKE: {directive.op} {directive.text}: {error}")


def parse_script(prompt: str) -> Lines:
    """The script in a prompt."""
    outermost: Lines = []
    open_lines = [outermost]
    for op, text in _LINE.findall(prompt):
        if op == "REPEAT":
            loop = _parse_loop(text)
            open_lines[-1].append(loop)
            open_lines.append(loop.body)
        elif op == "END":
            if len(open_lines) == 1:
                raise BadScript("END without REPEAT")
            open_lines.pop()
        else:
            open_lines[-1].append(ModelDirective(op, text))
    if len(open_lines) > 1:
        raise BadScript("REPEAT without END")
    return outermost


def _parse_loop(text: str) -> RepeatLoop:
    times, _, until = text.partition(" ")
    if not times.isdigit():
        raise BadScript(f"REPEAT needs a number, not {text!r}")
    return RepeatLoop(int(times), until.strip() or None)


def _next_step(lines: Lines, results: Iterable[Blocks]) -> tuple[ModelDirective, int] | None:
    """The directive to carry out after these results, and its round; None when the script is used up."""
    playing = _play(lines, 1)
    try:
        step = next(playing)
        for blocks in results:
            step = playing.send(blocks)
    except StopIteration:
        return None
    return step


def _play(lines: Lines, round_number: int) -> Played:
    """Yield step by step, each answered by its result; returns all results."""
    results: list[Blocks] = []
    for line in lines:
        if isinstance(line, ModelDirective):
            results.append((yield line, round_number))
            continue
        done = 0
        while done < line.times and line.body:
            fresh = yield from _play(line.body, done + 1)
            done += 1 if line.until is None else sum(has_field(blocks, line.until) for blocks in fresh)
            results.extend(fresh)
    return results


def _carry_out(request: ModelRequest, directive: ModelDirective, given: Mapping[str, int]) -> Answer:
    text = directive.text
    match directive.op:
        case "USE_TOOL" | "FORCE_TOOL":
            call = get_tool_call(request, text) if directive.op == "USE_TOOL" else parse_forced_call(text)
            # A request without tools is a side request (a title, a summary), which must not be answered by a call.
            if call is None or not request.tools:
                raise BadScript(f"no such tool among {sorted(request.tools)}")
            return UseTool(call.name, fill_template(call.arguments, request.results, given))
        case "SAY":
            return Say(str(fill_template(text, request.results, given)))
        case "OUTPUT":
            return Say(text)  # what a rehearsal agent gives as structured output, a model says
        case "SLOW":
            count, _, delay_s = text.partition(" ")
            return Say(" ".join(f"w{i}" for i in range(int(count or 20))), float(delay_s or 0.2))
        case "RECALL":
            return Say(f"FAKE: {len(request.users)} user messages, first: {request.users[0][:80]!r}")
        case "TOOLS":
            return Say("FAKE tools: " + ", ".join(sorted(request.tools)))
        case "SYSTEM":
            found = re.search(text, request.system)
            return Say(f"FAKE system: {found[0] if found else None}")
        case "QUOTA":
            return QuotaReply(int(time.time()) + int(text or 3600))
        case "TOO_LONG":
            return Fail(400, is_too_long=True)
        case _:
            return Fail(int(text or 500))


def _answer_without_script(request: ModelRequest) -> Say:
    if request.results:
        last = " ".join(request.results[-1])[:300]
        return Say(f"FAKE: done after {len(request.results)} tool result(s), last: {last!r}")
    return Say(f"FAKE: {request.prompt[-120:]}")
