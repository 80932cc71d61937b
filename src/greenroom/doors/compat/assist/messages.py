"""Translates asks into Agent Assistant's messages, with the ids that its clients use."""

import json
from typing import TypeVar

import msgspec

from greenroom.doors.compat.assist.agentassist_pb2 import (
    AskQuestionRequest,
    AskQuestionResponse,
    McpAskQuestionRequest,
    McpWorkReportRequest,
    Option,
    PendingMessage,
    Question,
    TaskFinishResponse,
    WebsocketMessage,
    WorkReportRequest,
    WorkReportResponse,
)
from greenroom.doors.compat.assist.contents import build_contents, build_text_content
from greenroom.link.ask_kinds import ASK_KINDS
from greenroom.link.call_digest import hash_wish
from greenroom.log.blobs import Blobs
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.asks.model import ASKS, Ask
from greenroom.rules.asks.queries import find_asks, find_rooms, is_named, may_see_ask

R = TypeVar("R", AskQuestionResponse, TaskFinishResponse, WorkReportResponse)
REQUEST_ID = "request_id"
"""The label that holds the asking program's own id."""
FAMILIES = ("WorkReport", "TaskFinish")
APPROVAL_OPTIONS = ("approve", "deny")


def derive_ask_id(room: str, request_id: str) -> str:
    """The ask that a request of this id, in this room, is."""
    return f"ask_{hash_wish('assist', room, request_id)[:26]}"


def choose_request_id(ask: Ask) -> str:
    """The id under which clients know an ask: the asking program's own, where it asked through this door."""
    given = ask.labels.get(REQUEST_ID)
    return given if given is not None and ask.room and derive_ask_id(ask.room, given) == ask.id else ask.id


def get_ask(rows: Rows, by: Principal, request_id: str) -> Ask | None:
    """The ask that a person of a room names, if it is there for them."""
    for key in (derive_ask_id(by.room or "", request_id), request_id):
        ask = rows.get(ASKS, key)
        if ask is not None and is_for(rows, by, ask):
            return ask
    return None


def is_for(rows: Rows, by: Principal, ask: Ask) -> bool:
    """Whether the people of a room are asked. Who shares their token with an agent is not asked for permission."""
    if by.room is None or not (by.room in find_rooms(ask) or is_named(by, ask)):
        return False
    return may_see_ask(rows, by, ask) and (ASK_KINDS[ask.kind].in_words or "ask" not in by.rights)


def find_pending(rows: Rows, by: Principal, limit: int) -> list[Ask]:
    """What waits for the people of a room, oldest first."""
    found = find_asks(rows, by, {"state": "open"}, limit=limit)
    return sorted((ask for ask in found if is_for(rows, by, ask)), key=lambda ask: ask.asked_at)


def choose_message_type(ask: Ask, family: str | None) -> str:
    """What a client calls an ask: a report by the family that it knows."""
    return (family or FAMILIES[0]) if ask.kind == "report" else "AskQuestion"


def choose_families(known: str | None) -> tuple[str, ...]:
    """The commands for a report: the one that the client knows, or both until it has shown which. A client passes over
    a command that it does not know."""
    return (known,) if known else FAMILIES


def build_ask_messages(ask: Ask, family: str | None) -> list[WebsocketMessage]:
    """The messages with which a device gets an ask."""
    if ask.kind == "report":
        return [
            WebsocketMessage(Cmd=cmd, WorkReportRequest=build_report_request(ask)) for cmd in choose_families(family)
        ]
    return [WebsocketMessage(Cmd="AskQuestion", AskQuestionRequest=build_question_request(ask))]


def build_answered_messages(
    blobs: Blobs, ask: Ask, family: str | None, who: str, nickname: str
) -> list[WebsocketMessage]:
    """The messages with which a device learns that somebody else answered first."""
    request_id = choose_request_id(ask)
    if ask.kind == "report":
        return [
            WebsocketMessage(
                Cmd=f"{cmd}ReplyNotification",
                WorkReportRequest=build_report_request(ask),
                WorkReportResponse=fill_response(WorkReportResponse(ID=request_id), blobs, ask),
                StrParam=f"Task completion confirmed by {who}",
                Nickname=nickname,
            )
            for cmd in choose_families(family)
        ]
    notice = WebsocketMessage(
        Cmd="AskQuestionReplyNotification",
        AskQuestionRequest=build_question_request(ask),
        AskQuestionResponse=fill_response(AskQuestionResponse(ID=request_id), blobs, ask),
        StrParam=f"Response received from {who}",
        Nickname=nickname,
    )
    return [notice]


def build_pending_message(ask: Ask, family: str | None) -> PendingMessage:
    kind = choose_message_type(ask, family)
    message = PendingMessage(message_type=kind, created_at=ask.asked_at, timeout=_timeout_s(ask))
    if ask.kind == "report":
        message.work_report_request.CopyFrom(build_report_request(ask))
    else:
        message.ask_question_request.CopyFrom(build_question_request(ask))
    return message


def build_question_request(ask: Ask) -> AskQuestionRequest:
    labels = ask.labels
    request = McpAskQuestionRequest(
        ProjectDirectory=labels.get("project_directory", ""),
        Question=_build_question_text(ask),
        Timeout=_timeout_s(ask),
        AgentName=labels.get("agent_name", "") or ask.asker.name,
        ReasoningModelName=labels.get("reasoning_model_name", ""),
        McpClientName=labels.get("client", ""),
        Questions=_build_questions(ask),
    )
    return AskQuestionRequest(ID=choose_request_id(ask), Request=request, Timestamp=ask.asked_at)


def build_report_request(ask: Ask) -> WorkReportRequest:
    labels = ask.labels
    request = McpWorkReportRequest(
        ProjectDirectory=labels.get("project_directory", ""),
        Summary=str(ask.text or ask.title),
        Timeout=_timeout_s(ask),
        AgentName=labels.get("agent_name", "") or ask.asker.name,
        ReasoningModelName=labels.get("reasoning_model_name", ""),
        McpClientName=labels.get("client", ""),
    )
    return WorkReportRequest(ID=choose_request_id(ask), Request=request, Timestamp=ask.asked_at)


def _build_question_text(ask: Ask) -> str:
    """The question; for a call that waits for approval, every byte of it."""
    words = str(ask.text or ask.title)
    if ask.subject is None:
        return words
    call = json.dumps(msgspec.to_builtins(ask.subject), ensure_ascii=False, indent=2)
    return f"{words}\n\n{call}" if words else call


def _build_questions(ask: Ask) -> list[Question]:
    if not ASK_KINDS[ask.kind].in_words and not ask.questions:
        return [
            Question(question=str(ask.title), options=[Option(label=word) for word in APPROVAL_OPTIONS], custom=True)
        ]
    return [
        Question(
            question=question.question,
            header=question.header,
            options=[Option(label=option.label, description=option.description) for option in question.options],
            multiple=question.multiple,
            custom=question.custom,
        )
        for question in ask.questions
    ]


def _timeout_s(ask: Ask) -> int:
    return round((ask.deadline - ask.asked_at) / 1000) if ask.deadline else 0


def fill_response(response: R, blobs: Blobs, ask: Ask) -> R:
    """A response with the outcome of an ask that is over."""
    answer = ask.answer
    if ask.state == "answered" and answer is not None:
        response.contents.extend(build_contents(blobs, ask, answer))
        return response if answer.verdict != "deny" else fill_error(response, "cancelled")
    if ask.state == "expired":
        return fill_error(response, "timeout", "Nobody has answered in time. That is no answer: go on without one.")
    return fill_error(response, "cancelled", f"The question was taken back{': ' * bool(ask.reason)}{ask.reason}.")


def fill_error(response: R, error: str, words: str = "") -> R:
    """An error response; `Meta` says which error."""
    response.IsError = True
    response.Meta["error"] = error
    if words:
        response.contents.append(build_text_content(words))
    return response
