"""Tools with which an agent asks a person: questions, reports of finished work, and permission for a call."""

import base64
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from greenroom.doors.mcp.exchange import encode
from greenroom.doors.mcp.tool import AudioBlock, Blocks, FileBlock, ImageBlock, McpCall, TextBlock, Tool
from greenroom.doors.mcp.tools.speaker import Speaker, get_speaker
from greenroom.errors import Refused
from greenroom.ids import new_id
from greenroom.link.ask_kinds import ASK_KINDS, AskKind
from greenroom.log.copied_fields import copy_fields
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.profiles import PROFILES
from greenroom.rules.asks.ask_builder import NOT_TAKEN
from greenroom.rules.asks.call_text import escape_invisible
from greenroom.rules.asks.commands import RaiseAsk, TakeAnswer
from greenroom.rules.asks.model import Ask, AskAnswer, AskOption, AskQuestion, Content
from greenroom.rules.asks.queries import get_by_wish
from greenroom.rules.policy.events import CallJudged
from greenroom.rules.runs.commands import FinishRun
from greenroom.rules.runs.model import Run
from greenroom.rules.runs.permission_requests import RequestPermission, hash_permission_wish
from greenroom.rules.runs.queries import get_current_run
from greenroom.rules.threads.queries import get_current_thread
from greenroom.services.ask_contents import read_content
from greenroom.services.hub import Hub

_TITLE = 300
_AGAIN_MS = 60_000
"""For this time an answer that was delivered is returned again to the same question, because it may have been lost.

After that, the same question is a new one.
"""
_KEY = "greenroom/key"
Directory = Annotated[str, Meta(description="Absolute path of the project that you work on.")]
Timeout = Annotated[int, Meta(ge=1, le=7_776_000, description="Seconds to wait for the person.")]
AgentName = Annotated[str, Meta(description="Your name.")]
Model = Annotated[str, Meta(description="The model that you are.")]
Key = Annotated[str | None, Meta(description="Your own id for this: a repeat finds the same ask.")]


class OptionArg(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    label: str
    description: str = ""


class QuestionArg(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    question: str
    header: str = ""
    options: list[OptionArg] = []
    multiple: bool = False
    custom: bool = True


class AskArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    project_directory: Directory
    question: Annotated[str, Meta(description="What you want to know; or use questions.")] = ""
    questions: Annotated[list[QuestionArg], Meta(max_length=20, description="Several, with choices.")] = []
    poll: Annotated[bool, Meta(description="Let several people vote on your one question until the timeout.")] = False
    timeout: Timeout = 3600
    agent_name: AgentName = ""
    reasoning_model_name: Model = ""
    key: Key = None


async def ask_question(call: McpCall[AskArgs]) -> Any:
    args = call.args
    questions = [
        copy_fields(
            one,
            AskQuestion,
            options=[copy_fields(option, AskOption) for option in one.options],
            custom=one.custom and not args.poll,
        )
        for one in args.questions
    ]
    text = args.question or "\n".join(one.question for one in questions)
    if not text.strip():
        raise Refused("bad_ask.question")
    ask = await _raise_ask(call, "poll" if args.poll else "question", text, questions)
    return await _build_answer(call.hub, ask)


class ReportArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    project_directory: Directory
    summary: Annotated[str, Meta(description="What you have done, in Markdown.")]
    timeout: Timeout = 3600
    agent_name: AgentName = ""
    reasoning_model_name: Model = ""
    key: Key = None


async def work_report(call: McpCall[ReportArgs]) -> Any:
    return await _report_work(call, "work_report")


async def task_finish(call: McpCall[ReportArgs]) -> Any:
    return await _report_work(call, "task_finish")


async def _report_work(call: McpCall[ReportArgs], family: str) -> Any:
    if not call.args.summary.strip():
        raise Refused("bad_ask.summary")
    by, run = _find_asker(call)
    if run is not None and _lives_in_terminal(call.hub, run):
        await _raise_ask(call, "report", call.args.summary, [], family, waits=False)
        await call.hub.log.do(FinishRun(by=by, run_id=run.id, order_id=new_id("ord"), output=call.args.summary))
        return Blocks([TextBlock("Reported. Your work here is done.")])
    return await _build_answer(call.hub, await _raise_ask(call, "report", call.args.summary, [], family))


def _lives_in_terminal(hub: Hub, run: Run) -> bool:
    profile = hub.rows.get(PROFILES, run.profile)
    return profile is not None and profile.definition.driver == "pty"


async def _raise_ask(
    call: McpCall[Any], kind: AskKind, text: str, questions: list[AskQuestion], family: str = "", *, waits: bool = True
) -> Ask:
    """Raise the ask, or find it again, and wait until it is over."""
    args, hub = call.args, call.hub
    by, run = _find_asker(call)
    key = (args.key or _get_meta_key(call.meta) or "")[:200]
    said = msgspec.to_builtins(args)
    said.pop("key", None)
    labels = {
        "project_directory": args.project_directory,
        "agent_name": args.agent_name,
        "reasoning_model_name": args.reasoning_model_name,
        "family": family,
    }
    ask = await hub.asks.ask(
        RaiseAsk(
            by=by,
            ask_id=new_id("ask"),
            kind=kind,
            title=_build_title(text),
            text=text,
            questions=questions,
            labels={name: value[:1000] for name, value in labels.items() if value},
            timeout_s=args.timeout,
            thread_id=(run.thread_id if run else None) or get_current_thread(hub.rows, by.agent_id),
            wish=f"key {key}" if key else f"{kind} {family} {msgspec.json.encode(said, order='sorted').decode()}",
            again_ms=None if key else _AGAIN_MS,
        )
    )
    if not waits:
        return ask
    over = await hub.asks.wait(ask.id)
    await hub.asks.take(TakeAnswer(by=by, ask_id=ask.id))
    return over


def _find_asker(call: McpCall[Any]) -> tuple[Principal, Run | None]:
    """The asker: the agent of the credential, or the only one that it can act for; else the credential."""
    try:
        speaker = get_speaker(call, "ask_question")
    except Refused:
        speaker = Speaker(call.by, None)
    by, agent = speaker
    if agent is None:
        return by, None
    if by.agent_id is None:
        by = msgspec.structs.replace(by, id=agent.id, agent_id=agent.id, name=agent.name)
    return by, get_current_run(call.hub.rows, agent.id)


def _get_meta_key(meta: Any) -> str | None:
    key = meta.get(_KEY) if isinstance(meta, dict) else None
    return key if isinstance(key, str) else None


def _build_title(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "").strip(" #*")
    shown = escape_invisible(first[: _TITLE + 1]) or "?"
    return shown if len(shown) <= _TITLE else shown[: _TITLE - 1] + "…"


async def _build_answer(hub: Hub, ask: Ask) -> Blocks:
    """What the agent is given: the words of the person, and what came with them."""
    if ask.answer is not None:
        return Blocks(await _build_blocks(hub, ask, ask.answer), is_error=False)
    if ask.state == "withdrawn":
        return Blocks([TextBlock(f"cancelled: {ask.reason}")], is_error=True)
    if ask.kind == "report":
        return Blocks([TextBlock("Your report was delivered. Nobody has answered it in time; that is all right.")])
    words = "timeout: nobody answered in time. That is not a no: go on with what is safe, or ask again later."
    return Blocks([TextBlock(words)], is_error=True)


async def _build_blocks(hub: Hub, ask: Ask, answer: AskAnswer) -> list[Any]:
    blocks: list[Any] = []
    if answer.verdict == "deny":
        blocks.append(TextBlock("The person does not want to answer this." if ask.kind == "question" else "Refused."))
    for question, chosen in zip(ask.questions, answer.options, strict=False):
        if chosen:
            blocks.append(TextBlock(f"{question.header or question.question}: {', '.join(chosen)}"))
    if ASK_KINDS[ask.kind].by_votes and not any(answer.options):
        blocks.append(TextBlock("The poll is tied: no option has the most votes. Nothing is decided."))
    if answer.text:
        blocks.append(TextBlock(answer.text))
    if answer.form is not None:
        blocks.append(TextBlock(msgspec.json.encode(answer.form).decode()))
    for content in answer.contents:
        blocks.append(await _build_block(hub, content))
    if not blocks:
        blocks.append(TextBlock("Confirmed: the person has nothing to add."))
    return blocks


async def _build_block(hub: Hub, content: Content) -> Any:
    if content.type == "text":
        return TextBlock(content.text)
    data = base64.b64encode(await read_content(hub.blobs, content)).decode()
    if content.type == "image":
        return ImageBlock(data, content.mime)
    if content.type == "audio":
        return AudioBlock(data, content.mime)
    uri = content.uri or f"greenroom://files/{content.file}/{content.name}"
    return FileBlock({"uri": uri, "mimeType": content.mime, "blob": data})


class PermissionArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    tool_name: Annotated[str, Meta(description="The tool that you want to use.")]
    input: Annotated[Any, Meta(description="The exact arguments.")] = None
    tool_use_id: Annotated[str | None, Meta(description="Your id of this call.")] = None


async def permission_request(call: McpCall[PermissionArgs]) -> Any:
    """In the words in which Claude Code asks such a tool: behavior allow with updatedInput, or deny with a message."""
    args, hub = call.args, call.hub
    by, _ = _find_asker(call)
    command = RequestPermission(
        by=by,
        ask_id=new_id("ask"),
        tool=args.tool_name,
        arguments=args.input,
        call_id=(args.tool_use_id or "")[:200] or None,
    )
    done = await hub.log.do(command)
    ask = get_by_wish(hub.rows, hash_permission_wish(command))
    if ask is None or (done.records and ask.id != command.ask_id):
        verdict = done.first(CallJudged).verdict
        return _build_permission_result(verdict.decision == "allow", args.input, verdict.why)
    over = await hub.asks.wait(ask.id)
    taken = await hub.asks.take(TakeAnswer(by=by, ask_id=ask.id))
    answer = over.answer
    if answer is None:
        return _build_permission_result(
            False, None, "Nobody has approved this in time, so it is refused. Nobody has said no to it."
        )
    if answer.verdict == "approve" and taken != "yours":
        why = NOT_TAKEN if taken == "lapsed" else "the approval was given to another connection of yours"
        return _build_permission_result(False, None, f"This call may not run: {why}. Ask for it again.")
    given = args.input if answer.arguments is None else answer.arguments
    return _build_permission_result(answer.verdict == "approve", given, answer.text or "The person has refused this.")


def _build_permission_result(is_given: bool, arguments: Any, words: str) -> Blocks:
    """One block of text, without `structuredContent`: Claude Code takes nothing else for an answer here."""
    said = {"behavior": "allow", "updatedInput": arguments} if is_given else {"behavior": "deny", "message": words}
    return Blocks([TextBlock(encode(said).decode())])


ASK_TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "ask_question",
        "Ask your person something and wait for the answer. It reaches them on every device. If the call is cut off or"
        " runs into your own time limit, make it again with the same arguments: you get the same question's answer.",
        AskArgs,
        "ask",
        ask_question,
        waits=True,
    ),
    Tool(
        "task_finish",
        "Tell your person that the task is done, and wait for what they say to it. Make the call again with the same"
        " arguments if it is cut off.",
        ReportArgs,
        "ask",
        task_finish,
        waits=True,
    ),
    Tool(
        "work_report",
        "Report finished work to your person, and wait for what they say to it. Make the call again with the same"
        " arguments if it is cut off.",
        ReportArgs,
        "ask",
        work_report,
        waits=True,
    ),
    Tool(
        "permission_request",
        "Ask for leave before you use a tool that can do harm. Answers behavior allow, with the arguments to use, or"
        " deny with a message.",
        PermissionArgs,
        "chat",
        permission_request,
        waits=True,
    ),
)
