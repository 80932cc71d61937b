"""The asking side: Connect RPCs with which a program asks the people of its room and waits for their answer."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from connectrpc.code import Code
from connectrpc.compat import google_protobuf_codecs
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.request import RequestContext
from connectrpc.server import ConnectASGIApplication, Endpoint

from greenroom.doors.compat.assist import MOST_BYTES, SERVICE
from greenroom.doors.compat.assist import agentassist_pb2 as pb
from greenroom.doors.compat.assist.messages import REQUEST_ID, R, derive_ask_id, fill_error, fill_response
from greenroom.doors.http.credentials import CredentialRefused, Credentials
from greenroom.errors import Refused, Unavailable
from greenroom.link.ask_kinds import AskKind
from greenroom.log.model import Commit
from greenroom.log.signals import SignalKind
from greenroom.rules.access.model import CREDENTIALS, HUB, Principal
from greenroom.rules.asks.commands import RaiseAsk, TakeAnswer, WithdrawAsk
from greenroom.rules.asks.model import ASKS, Ask, AskOption, AskQuestion
from greenroom.sentences import build_sentence
from greenroom.services.hub import Hub

logger = logging.getLogger(__name__)
_TIMEOUT_S = 600
_MOST_S = 90 * 86_400
_GRACE_S = 5.0
_TITLE = 120
_LABEL = 1000
Asked = pb.AskQuestionRequest | pb.TaskFinishRequest | pb.WorkReportRequest
Info = pb.McpAskQuestionRequest | pb.McpTaskFinishRequest | pb.McpWorkReportRequest
Q = TypeVar("Q")
S = TypeVar("S")


class AssistService:
    """Asks for programs that hold a room's token. Each request id is one ask, however often it is sent."""

    def __init__(self, hub: Hub, credentials: Credentials) -> None:
        self._hub = hub
        self._credentials = credentials
        self._attached: Counter[str] = Counter()
        self._leaving: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._ended: dict[str, set[asyncio.Event]] = {}
        hub.log.subscribe(self._on_commit, CREDENTIALS)
        hub.signals.listen(self._on_signal)

    async def stop(self) -> None:
        """Withdraw nothing any more; asks that nobody waits for end at their deadline."""
        for task in self._leaving:
            task.cancel()
        await asyncio.gather(*self._leaving, return_exceptions=True)

    def _on_commit(self, commit: Commit) -> None:
        for change in commit.changes:
            if change.row is not None and change.row.revoked_at is not None:
                self._wake(change.key)

    def _on_signal(self, kind: SignalKind, payload: object) -> None:
        if kind == "hub.stopping":
            self._stopping = True
            for credential in tuple(self._ended):
                self._wake(credential)

    def _wake(self, credential: str) -> None:
        for ended in self._ended.get(credential, ()):
            ended.set()

    async def ask_question(
        self, request: pb.AskQuestionRequest, context: "RequestContext[pb.AskQuestionRequest, pb.AskQuestionResponse]"
    ) -> pb.AskQuestionResponse:
        by = self._prove(request.UserToken, context.client_address, request.ByteSize())
        info = request.Request
        response = pb.AskQuestionResponse(ID=request.ID)
        questions = cast("list[pb.Question]", info.Questions)  # its stub takes the field Question for the type
        words = info.Question or "\n".join(question.question for question in questions)
        return await self._ask_room(by, request, words, response, kind="question", family="", questions=questions)

    async def task_finish(
        self, request: pb.TaskFinishRequest, context: "RequestContext[pb.TaskFinishRequest, pb.TaskFinishResponse]"
    ) -> pb.TaskFinishResponse:
        by = self._prove(request.UserToken, context.client_address, request.ByteSize())
        response = pb.TaskFinishResponse(ID=request.ID)
        return await self._ask_room(by, request, request.Request.Summary, response, kind="report", family="task_finish")

    async def work_report(
        self, request: pb.WorkReportRequest, context: "RequestContext[pb.WorkReportRequest, pb.WorkReportResponse]"
    ) -> pb.WorkReportResponse:
        by = self._prove(request.UserToken, context.client_address, request.ByteSize())
        response = pb.WorkReportResponse(ID=request.ID)
        return await self._ask_room(by, request, request.Request.Summary, response, kind="report", family="work_report")

    async def send_mcp_client_info(
        self,
        request: pb.McpClientInfoRequest,
        context: "RequestContext[pb.McpClientInfoRequest, pb.McpClientInfoResponse]",
    ) -> pb.McpClientInfoResponse:
        """What a program says of itself proves nothing; each of its requests names it again."""
        self._prove(request.UserToken, context.client_address, request.ByteSize())
        return pb.McpClientInfoResponse(Success=True)

    def _prove(self, token: str, address: str | None, size: int) -> Principal:
        try:
            by = self._credentials.prove_token(token, (address or "").rpartition(":")[0])
            self._credentials.need_bytes(by, size)
        except CredentialRefused as no:
            code = Code.RESOURCE_EXHAUSTED if no.status == 429 else Code.UNAUTHENTICATED
            raise ConnectError(code, str(no)) from None
        if by.room is None or "ask" not in by.rights:
            raise ConnectError(
                Code.PERMISSION_DENIED, "UserToken is not one to ask a room with: see `greenroom token`."
            )
        return by

    async def _ask_room(
        self,
        by: Principal,
        request: Asked,
        words: str,
        response: R,
        kind: AskKind,
        family: str,
        questions: Iterable[pb.Question] = (),
    ) -> R:
        info = request.Request
        if not request.ID or len(request.ID) > 200 or not words.strip():
            return fill_error(
                response, "invalid_request", "ID (at most 200 characters) and the question or summary are needed."
            )
        timeout_s = min(info.Timeout, _MOST_S) if info.Timeout > 0 else _TIMEOUT_S
        command = RaiseAsk(
            by=by,
            ask_id=derive_ask_id(by.room or "", request.ID),
            kind=kind,
            title=words.strip().splitlines()[0][:_TITLE],
            text=words,
            questions=[_convert_question(question) for question in questions],
            labels=_build_labels(request.ID, family, info),
            timeout_s=timeout_s,
        )
        try:
            ask = await self._hub.asks.ask(command)
            over = await self._wait_for_answer(by, ask)
            await self._hub.asks.take(TakeAnswer(by=by, ask_id=ask.id))
        except Refused as no:
            return fill_error(response, "invalid_request", no.message)
        except Unavailable as no:
            raise ConnectError(Code.UNAVAILABLE, no.message) from None
        return fill_response(response, self._hub.blobs, over)

    async def _wait_for_answer(self, by: Principal, ask: Ask) -> Ask:
        """The ask once it is over; Unavailable when the wait ends before that, by the credential or by the hub."""
        key = by.credential or by.id
        ended = asyncio.Event()
        self._ended.setdefault(key, set()).add(ended)
        self._attached[ask.id] += 1
        tasks = {asyncio.create_task(self._hub.asks.wait(ask.id)), asyncio.create_task(ended.wait())}
        left_s = None if by.expires_at is None else max(0.0, (by.expires_at - self._hub.log.clock.now()) / 1000)
        try:
            await asyncio.wait(tasks, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if not self._stopping:
                self._schedule_withdrawal(ask.id)
            raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._attached[ask.id] -= 1
            if not self._attached[ask.id]:
                del self._attached[ask.id]
            self._ended[key].discard(ended)
            if not self._ended[key]:
                del self._ended[key]
        found = self._hub.rows.get(ASKS, ask.id)
        if found is None or found.state == "open":
            raise Unavailable("wait_ended")
        return found

    def _schedule_withdrawal(self, ask_id: str) -> None:
        """The asker has disconnected: withdraw its ask, unless it is back in a moment."""
        task = asyncio.create_task(self._withdraw(ask_id), name="assist withdrawal")
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _withdraw(self, ask_id: str) -> None:
        await asyncio.sleep(_GRACE_S)
        if self._attached[ask_id]:
            return
        try:
            await self._hub.log.do(WithdrawAsk(by=HUB, ask_id=ask_id, said=build_sentence("ask_reason.asker_gone")))
        except Unavailable as no:
            logger.warning("ask %s cannot be taken back just now: %s", ask_id, no)


def _convert_question(question: pb.Question) -> AskQuestion:
    options = [AskOption(label=option.label, description=option.description) for option in question.options]
    return AskQuestion(
        question=question.question,
        header=question.header,
        options=options,
        multiple=question.multiple,
        custom=question.custom or not options,
    )


def _build_labels(request_id: str, family: str, info: Info) -> dict[str, str]:
    given = {
        REQUEST_ID: request_id,
        "family": family,
        "project_directory": info.ProjectDirectory,
        "agent_name": info.AgentName,
        "reasoning_model_name": info.ReasoningModelName,
        "client": info.McpClientName,
    }
    return {name: value[:_LABEL] for name, value in given.items() if value}


class AssistApp(ConnectASGIApplication[AssistService]):
    """The service under its paths, in JSON and in protobuf."""

    def __init__(self, service: AssistService) -> None:
        super().__init__(
            service=service, endpoints=endpoints, read_max_bytes=MOST_BYTES, codecs=google_protobuf_codecs()
        )

    @property
    def path(self) -> str:
        return f"/{SERVICE}"


def _build_method_info(name: str, request: type[Q], response: type[S]) -> MethodInfo[Q, S]:
    return MethodInfo(
        name=name,
        service_name=SERVICE,
        input=request,
        output=response,
        idempotency_level=IdempotencyLevel.UNKNOWN,
        stream_type=StreamType.UNARY,
    )


def endpoints(service: AssistService) -> Mapping[str, Any]:
    """Every RPC by its path."""
    return {
        f"/{SERVICE}/AskQuestion": Endpoint.unary(
            _build_method_info("AskQuestion", pb.AskQuestionRequest, pb.AskQuestionResponse), service.ask_question
        ),
        f"/{SERVICE}/TaskFinish": Endpoint.unary(
            _build_method_info("TaskFinish", pb.TaskFinishRequest, pb.TaskFinishResponse), service.task_finish
        ),
        f"/{SERVICE}/WorkReport": Endpoint.unary(
            _build_method_info("WorkReport", pb.WorkReportRequest, pb.WorkReportResponse), service.work_report
        ),
        f"/{SERVICE}/SendMcpClientInfo": Endpoint.unary(
            _build_method_info("SendMcpClientInfo", pb.McpClientInfoRequest, pb.McpClientInfoResponse),
            service.send_mcp_client_info,
        ),
    }
