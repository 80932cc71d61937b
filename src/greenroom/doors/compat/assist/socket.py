"""The socket `/ws` through which people answer: binary frames, one message each, to and from their devices."""

import asyncio
import logging

from starlette.types import Receive, Send

from greenroom.buckets import Bucket
from greenroom.doors.compat.assist.agentassist_pb2 import (
    CheckMessageValidityResponse,
    GetOnlineUsersResponse,
    GetPendingMessagesResponse,
    McpResultContent,
    RequestCancelledNotification,
    WebsocketMessage,
)
from greenroom.doors.compat.assist.contents import extract_text, store_files
from greenroom.doors.compat.assist.frames import parse_frame, receive_frame
from greenroom.doors.compat.assist.login import LOGIN_REQUIRED, PATH, Logins
from greenroom.doors.compat.assist.messages import (
    APPROVAL_OPTIONS,
    build_answered_messages,
    build_ask_messages,
    build_pending_message,
    choose_message_type,
    choose_request_id,
    find_pending,
    get_ask,
    is_for,
)
from greenroom.doors.compat.assist.rooms import RoomDevice, Rooms
from greenroom.doors.compat.shown_asks import ShownAsks
from greenroom.doors.http.credentials import CredentialRefused, Credentials
from greenroom.doors.http.errors import record_refusal
from greenroom.errors import Refused, Unavailable
from greenroom.link.ask_kinds import ASK_KINDS, AnswerVerdict
from greenroom.log.model import Commit
from greenroom.log.signals import SignalKind
from greenroom.rules.access.model import CREDENTIALS, NOBODY, Principal
from greenroom.rules.asks.commands import AnswerAsk
from greenroom.rules.asks.events import AskAnswered, AskDelegated, AskExpired, AskRaised, AskWithdrawn
from greenroom.rules.asks.model import ASKS, Ask
from greenroom.rules.asks.queries import find_rooms
from greenroom.services.hub import Hub

logger = logging.getLogger(__name__)
_ASK_EVENTS = (AskRaised, AskDelegated, AskAnswered, AskExpired, AskWithdrawn)
_LOGIN_S = 10.0
_MOST_STRANGERS = 500
_MOST_FRAMES = 200
_FRAMES_PER_S = 20.0
_MOST_PENDING = 1_000
_MOST_IDS = 1_000
_CHAT_CHARS = 65_536
_CLOSE_REVOKED = (4401, "credential_ended")


class AssistSockets:
    """All connected devices. The guard has checked host and origin; the first frame of a device proves who it is."""

    def __init__(self, hub: Hub, credentials: Credentials) -> None:
        self._hub = hub
        self._credentials = credentials
        self._logins = Logins(hub, credentials)
        self._rooms = Rooms(hub.log.clock)
        self._shown = ShownAsks()
        self._strangers = 0
        hub.log.subscribe(self._on_commit, CREDENTIALS, *_ASK_EVENTS)
        hub.signals.listen(self._on_signal)

    async def serve(
        self,
        by: Principal,
        peer: str,
        receive: Receive,
        send: Send,
        first: bytes | None = None,
        *,
        is_text: bool = False,
    ) -> None:
        """Serve an accepted connection; `by` is authenticated by its head, `first` is a frame that has arrived."""
        if self._strangers >= _MOST_STRANGERS:
            await send({"type": "websocket.close", "code": 1013, "reason": "too many are coming in: try again"})
            return
        self._strangers += 1
        try:
            async with asyncio.timeout(_LOGIN_S):
                device = await self._logins.log_in_device(by, peer, receive, send, first, is_text=is_text)
        except TimeoutError:
            device = None
            await send({"type": "websocket.close", "code": 4401, "reason": LOGIN_REQUIRED})
        finally:
            self._strangers -= 1
        if device is not None:
            await self._serve_device(device, receive, send, is_counted=by is not NOBODY)

    def find_online_devices(self, by: Principal) -> dict[str, list[RoomDevice]]:
        """Who is online, by room: an operator sees all rooms, others their own."""
        found: dict[str, list[RoomDevice]] = {}
        for device in self._rooms.find_all_devices():
            if by.may_operate or device.by.room == by.room:
                found.setdefault(device.by.room or "", []).append(device)
        return found

    async def _serve_device(self, device: RoomDevice, receive: Receive, send: Send, *, is_counted: bool) -> None:
        expiry = None
        if device.by.expires_at is not None:
            left_s = max(0.0, (device.by.expires_at - self._hub.log.clock.now()) / 1000)
            expiry = asyncio.get_running_loop().call_later(left_s, device.line.close, *_CLOSE_REVOKED)
        device.send(device.welcome)
        self._rooms.join(device)
        for ask in find_pending(self._hub.rows, device.by, _MOST_PENDING):
            self._send_ask(device, ask)
        try:
            await device.line.serve(send, self._read(device, receive, is_counted))
        finally:
            if expiry is not None:
                expiry.cancel()
            self._rooms.leave(device)

    async def _read(self, device: RoomDevice, receive: Receive, is_counted: bool) -> None:
        """Take what a device sends. The guard has counted its frames if it has seen its credential."""
        frame_limit = Bucket(_MOST_FRAMES, _FRAMES_PER_S)
        while not device.line.ended:
            data = await receive_frame(receive)
            if data is None:
                device.line.end()
            elif not frame_limit.take():
                device.line.close(1008, "too many frames")
            elif not is_counted and not self._may_send(device, len(data)):
                device.line.close(1008, "too_many_bytes")
            elif (message := parse_frame(data, is_text=device.is_text)) is not None:
                await self._handle_message(device, message)
            else:
                logger.warning("a frame of %s is no message, and is passed over", device.by.id)

    def _may_send(self, device: RoomDevice, count: int) -> bool:
        try:
            self._credentials.need_bytes(device.by, count)
        except CredentialRefused:
            return False
        return True

    async def _handle_message(self, device: RoomDevice, message: WebsocketMessage) -> None:
        """Do what a message asks for. The protocol has no message for a refusal, so refusals are logged."""
        try:
            await self._run_command(device, message)
        except (Refused, Unavailable) as error:
            logger.info("%s of %s: %s", message.Cmd[:40], device.by.id, error)
            if isinstance(error, Refused):
                record_refusal(self._hub, device.by, f"WS {PATH} {message.Cmd}", error)

    async def _run_command(self, device: RoomDevice, message: WebsocketMessage) -> None:
        match message.Cmd:
            case "AskQuestionReply":
                response = message.AskQuestionResponse
                request_id = message.AskQuestionRequest.ID or response.ID
                await self._answer(device, request_id, list(response.contents), response.IsError)
            case "TaskFinishReply" | "WorkReportReply":
                device.family = message.Cmd.removesuffix("Reply")
                report = message.WorkReportResponse
                request_id = message.WorkReportRequest.ID or report.ID
                await self._answer(device, request_id, list(report.contents), report.IsError)
            case "CheckMessageValidity":
                asked = list(message.CheckMessageValidityRequest.request_ids)[:_MOST_IDS]
                validity = CheckMessageValidityResponse(validity={name: self._is_open(device, name) for name in asked})
                device.send(WebsocketMessage(Cmd=message.Cmd, CheckMessageValidityResponse=validity))
            case "GetPendingMessages":
                found = find_pending(self._hub.rows, device.by, _MOST_PENDING)
                for ask in found:
                    self._shown.note(device.id, ask)
                waiting = [build_pending_message(ask, device.family) for ask in found]
                listed = GetPendingMessagesResponse(pending_messages=waiting, total_count=len(waiting))
                device.send(WebsocketMessage(Cmd=message.Cmd, GetPendingMessagesResponse=listed))
            case "GetOnlineUsers":
                users = [other.user for other in self._rooms.find_devices(device.by.room) if other is not device]
                online = GetOnlineUsersResponse(online_users=users, total_count=len(users))
                device.send(WebsocketMessage(Cmd=message.Cmd, GetOnlineUsersResponse=online))
            case "SendChatMessage":
                request = message.SendChatMessageRequest
                if not self._rooms.chat(device, request.receiver_client_id, request.content[:_CHAT_CHARS]):
                    logger.info("%s writes to a device that is not there", device.by.id)
            case "UserLogin":
                self._rooms.rename(device, message.Nickname)
                device.send(device.welcome)
            case _:
                logger.warning("there is no command %r, sent by %s", message.Cmd[:40], device.by.id)

    def _is_open(self, device: RoomDevice, request_id: str) -> bool:
        """Whether what a device shows is still asked: it was sent that over an earlier connection."""
        ask = get_ask(self._hub.rows, device.by, request_id)
        if ask is None or ask.state != "open":
            return False
        self._shown.note(device.id, ask)
        return True

    async def _answer(
        self, device: RoomDevice, request_id: str, contents: list[McpResultContent], is_error: bool
    ) -> None:
        ask = get_ask(self._hub.rows, device.by, request_id)
        if ask is None:
            raise Refused("ask_not_found.question", "not_found")
        words = extract_text(contents)
        async with store_files(self._hub.blobs, contents) as files:
            await self._hub.asks.answer(
                AnswerAsk(
                    by=device.by,
                    ask_id=ask.id,
                    verdict=choose_verdict(ask, words, is_error),
                    text=words,
                    contents=files,
                    digest=self._shown.get_digest(device.id, ask.id),
                    name=device.nickname,
                    device=device.id,
                )
            )

    def _on_signal(self, kind: SignalKind, payload: object) -> None:
        if kind == "hub.stopping":
            for device in self._rooms.find_all_devices():
                device.line.close(1012, "the hub is stopping")

    def _on_commit(self, commit: Commit) -> None:
        """Queue for every device what concerns it; this must be quick."""
        for change in commit.changes:
            if change.row is not None and change.row.revoked_at is not None:
                for device in self._rooms.find_all_devices():
                    if device.by.credential == change.key:
                        device.line.close(*_CLOSE_REVOKED)
        for record in commit.records:
            ask = self._hub.rows.get(ASKS, record.event.ask_id)
            if ask is not None:
                self._announce_event(ask, record.event)

    def _send_ask(self, device: RoomDevice, ask: Ask) -> None:
        for message in build_ask_messages(ask, device.family):
            device.send(message)
        self._shown.note(device.id, ask)

    def _announce_event(self, ask: Ask, event: object) -> None:
        in_its_rooms = (device for room in find_rooms(ask) for device in self._rooms.find_devices(room))
        devices = [
            device
            for device in (self._rooms.find_all_devices() if ask.asked_of or ask.delegated_to else in_its_rooms)
            if is_for(self._hub.rows, device.by, ask)
        ]
        answerer = self._rooms.get(ask.room, event.device) if isinstance(event, AskAnswered) else None
        notices: dict[str | None, list[WebsocketMessage]] = {}
        for device in devices:
            match event:
                case AskRaised() | AskDelegated() if ask.state == "open":
                    self._send_ask(device, ask)
                case AskAnswered(device=device_id) if device.id != device_id:
                    if device.family not in notices:  # it may hold pictures: made once, not for every device
                        who, nickname = _describe_answerer(ask, device_id, answerer)
                        notices[device.family] = build_answered_messages(
                            self._hub.blobs, ask, device.family, who, nickname
                        )
                    for notice in notices[device.family]:
                        device.send(notice)
                case AskExpired() | AskWithdrawn():
                    device.send(_build_cancelled_message(ask, device.family))


def _describe_answerer(ask: Ask, device_id: str, device: RoomDevice | None) -> tuple[str, str]:
    """Who answered: the nickname of the device, or the name in the answer."""
    said = (ask.answer.rule or ask.answer.name) if ask.answer is not None else ""
    nickname = device.nickname if device is not None else said
    return (f"client {device_id} ({nickname})" if device_id else said), nickname


def _build_cancelled_message(ask: Ask, family: str | None) -> WebsocketMessage:
    reason, kind = "timeout" if ask.state == "expired" else str(ask.reason), choose_message_type(ask, family)
    notice = RequestCancelledNotification(request_id=choose_request_id(ask), reason=reason, message_type=kind)
    return WebsocketMessage(Cmd="RequestCancelled", RequestCancelledNotification=notice)


def choose_verdict(ask: Ask, words: str, is_error: bool) -> AnswerVerdict:
    """What a reply means. A call that waits for approval runs by one word alone; all other words refuse it."""
    if is_error:
        return "deny"
    if ASK_KINDS[ask.kind].in_words:
        return "answer"
    return "approve" if words.strip().lower() == APPROVAL_OPTIONS[0] else "deny"
