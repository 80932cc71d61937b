"""What an HTTP endpoint declares: where it is, who may use it, and how large a body it takes."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from greenroom.rules.access.model import Principal
from greenroom.services.hub import Hub

PUBLIC = "public"
PRINCIPAL = "greenroom.principal"
PLACE = "greenroom.place"
TOKEN = "greenroom.token"  # noqa: S105 the name of a place, not a secret
Handler = Callable[[Hub, Principal, Request], Awaitable[Response]]


@dataclass(frozen=True)
class Endpoint:
    """One method on one path. `needs` is the right a principal must have, or PUBLIC.

    `path` uses `{name}` for one segment. A new endpoint without a row in the matrix of rights fails the tests.
    """

    method: str
    path: str
    needs: str
    run: Handler
    summary: str
    body: Any = None
    """The msgspec type of the body, for the description of the API; or how OpenAPI describes it."""
    answer: Any = None
    """The msgspec type of the answer; or the name of its media type."""
    max_bytes: int | None = None
    """A larger or smaller limit of the body than the setting max_body_bytes."""
    query: Any = None
    """The msgspec type of the query string."""
    status: int = 200
    """The status of success."""
    keyed: bool = False
    """Whether an Idempotency-Key makes a repeat return the first answer."""
