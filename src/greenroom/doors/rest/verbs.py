"""The endpoints built from the tables of verbs."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple, get_type_hints

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest import shapes
from greenroom.doors.rest.wire import build_json_response, get_idempotency_key, read_body, read_query
from greenroom.ids import new_id
from greenroom.log.model import Command, Done
from greenroom.rules.access.model import Principal
from greenroom.rules.verb import Verb, build_input_type
from greenroom.services.hub import Hub


class VerbResult(NamedTuple):
    """A command that was carried out, for the functions that make its answer."""

    hub: Hub
    by: Principal
    id: str
    """What the path names, as the caller wrote it."""
    done: Done


BuildAnswer = Callable[[VerbResult], Any]
CarryOut = Callable[[Hub, Any], Awaitable[Any]]


def build_verb_endpoints(
    verbs: Iterable[Verb],
    answers: Mapping[type[Command], BuildAnswer] = {},
    handlers: Mapping[type[Command], CarryOut] = {},
) -> list[Endpoint]:
    """The endpoints of these verbs. `answers` has the functions of those whose answer is not simply the row or Ok.

    `handlers` has functions that carry the command out themselves, as they do more, and return the answer.
    """
    return [_build_endpoint(verb, answers.get(verb.command), handlers.get(verb.command)) for verb in verbs]


def _build_endpoint(verb: Verb, build_answer: BuildAnswer | None, carry_out: CarryOut | None) -> Endpoint:
    given, is_query = _build_given_type(verb), verb.method == "DELETE"

    async def run(hub: Hub, by: Principal, request: Request) -> Response:
        (named,) = request.path_params.values()
        fields: dict[str, Any] = {}
        if given is not None:
            said = read_query(request, given) if is_query else await read_body(request, given)
            fields = {verb.body: said} if verb.body else msgspec.structs.asdict(said)
        key = get_idempotency_key(request) if verb.is_keyed else None
        command = verb.build_command(by, key, named, fields, new_id)
        if carry_out is not None:
            return build_json_response(await carry_out(hub, command), verb.status)
        done = await hub.log.do(command)
        if build_answer is not None:
            return build_json_response(build_answer(VerbResult(hub, by, named, done)), verb.status)
        if verb.status == 204:
            return Response(status_code=204)
        return build_json_response(hub.rows.get(verb.answer, named) if verb.answer else shapes.Ok(), verb.status)

    return Endpoint(
        verb.method,
        verb.path,
        verb.right,
        run,
        verb.says,
        body=None if is_query else given,
        query=given if is_query else None,
        answer=_get_answer_type(verb, build_answer or carry_out),
        status=verb.status,
        keyed=verb.is_keyed,
    )


def _build_given_type(verb: Verb) -> Any:
    """What the caller gives beside the path."""
    if verb.body:
        return get_type_hints(verb.command)[verb.body]
    name = f"{verb.command.__name__}Body"
    return build_input_type(verb, name, verb.takes, is_strict=verb.is_strict) if verb.takes else None


def _get_answer_type(verb: Verb, build_answer: Callable[..., Any] | None) -> Any:
    if build_answer is not None:
        return get_type_hints(build_answer)["return"]
    if verb.status == 204:
        return None
    return verb.answer.row if verb.answer else shapes.Ok
