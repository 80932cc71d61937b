"""Turns an error into an HTTP response, in one place for every door that speaks HTTP."""

import logging
import math
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from greenroom.errors import LOGGED, Refused, Unavailable
from greenroom.rules.access.model import Principal
from greenroom.sentences import Sentence, build_sentence, list_wire_fields
from greenroom.services.hub import Hub

logger = logging.getLogger(__name__)
STATUS: dict[str, int] = {
    "invalid": 400,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "too_large": 413,
    "limited": 429,
}
"""The status of each kind of refusal."""
_NAMES = {404: "not_found", 405: "method_not_allowed"}


class HttpRefused(Exception):
    """A refusal whose status or body is part of a protocol and not of the rules; `detail` may be a sentence."""

    def __init__(self, status: int, code: str, detail: Any, **fields: Any) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.detail = detail
        self.fields = fields


def record_refusal(hub: Hub, by: Principal, action: str, no: Refused) -> None:
    """Record refusals in the audit, for doors whose refusals the guard does not see: inside sockets and tools."""
    hub.refusals.note(by=by.id, peer="", action=action, code=no.code, status=STATUS[no.kind])


def build_error_response(error: Exception) -> Response:
    """The response to a call that failed. For a bug it is a general sentence; the log has the details, once."""
    match error:
        case Refused():
            when = {"retry_after": 1} if error.kind == "limited" else {}
            return build_refusal_response(STATUS[error.kind], error.code, error.said, when | error.details)
        case HttpRefused():
            return build_refusal_response(error.status, error.code, error.detail, error.fields)
        case Unavailable():
            status, retry_after = choose_unavailable_status(error)
            return build_refusal_response(status, error.code, error.said, {"retry_after": retry_after})
        case HTTPException():
            name = _NAMES.get(error.status_code)
            answer = build_refusal_response(
                error.status_code, name or "refused", build_sentence(name) if name else error.detail
            )
            answer.headers.update(error.headers or {})
            return answer
        case _:
            if LOGGED not in getattr(error, "__notes__", ()):
                logger.error("a call failed", exc_info=error)
            return build_refusal_response(500, "internal", build_sentence("internal"))


def choose_unavailable_status(no: Unavailable) -> tuple[int, int]:
    """The status of something that is not possible at the moment, and after how many seconds to try again."""
    return 507 if no.code == "storage_full" else 503, max(1, math.ceil(no.retry_after_s))


def build_refusal_response(status: int, code: str, detail: Any, fields: Mapping[str, Any] | None = None) -> Response:
    """A body that says what to do (`detail`) and what it is for programs (`code`); a wait becomes Retry-After."""
    if isinstance(detail, Sentence):
        fields = {**list_wire_fields(detail), **(fields or {})}
        detail = str(detail)
    content = {"detail": detail, "code": code, **(fields or {})}
    headers = {"retry-after": str(content["retry_after"])} if "retry_after" in content else None
    return Response(msgspec.json.encode(content), status, headers, "application/json")
