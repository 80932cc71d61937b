"""Templates for new threads, over REST."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.clock import format_iso
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest.verbs import build_verb_endpoints
from greenroom.doors.rest.wire import build_json_response, get_idempotency_key, need_same_request, read_body
from greenroom.json_types import Metadata
from greenroom.log.copied_fields import copy_fields
from greenroom.rules.access.model import Principal
from greenroom.rules.threads import model as threads
from greenroom.rules.threads.commands import CreateTemplate
from greenroom.rules.threads.events import TemplateCreated
from greenroom.rules.threads.queries import find_templates, need_template
from greenroom.rules.threads.verbs import TEMPLATE_VERBS
from greenroom.services.hub import Hub


class ListedTemplate(msgspec.Struct):
    id: str
    name: str
    description: str
    is_builtin: bool
    created_at: str


class RestTemplate(ListedTemplate):
    system_prompt: str
    default_metadata: Metadata | None


class NewTemplate(msgspec.Struct, frozen=True):
    id: str
    name: str
    system_prompt: str = ""
    description: str | None = None
    default_metadata: Metadata | None = None


class MadeTemplate(msgspec.Struct):
    id: str
    name: str
    description: str | None
    is_builtin: bool = False


async def list_templates(hub: Hub, by: Principal, request: Request) -> Response:
    return build_json_response([ListedTemplate(*_pick_fields(template)) for template in find_templates(hub.rows, by)])


async def show_template(hub: Hub, by: Principal, request: Request) -> Response:
    template = need_template(hub.rows, by, request.path_params["template_id"])
    return build_json_response(RestTemplate(*_pick_fields(template), template.system_prompt, template.default_metadata))


def _pick_fields(template: threads.ThreadTemplate) -> tuple[str, str, str, bool, str]:
    return template.id, template.name, template.description, template.builtin, format_iso(template.created_at)


async def create_template(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, NewTemplate)
    done = await hub.log.do(
        copy_fields(
            body,
            CreateTemplate,
            by=by,
            key=get_idempotency_key(request),
            template_id=body.id,
            description=body.description or "",
        )
    )
    made: TemplateCreated = done.first(TemplateCreated)
    need_same_request(done, (made.template_id, made.name) == (body.id.strip(), body.name.strip()))
    return build_json_response(MadeTemplate(made.template_id, made.name, made.description or None), 201)


_ONE = "/api/templates/{template_id}"
ENDPOINTS = [
    Endpoint("GET", "/api/templates", "read", list_templates, "All templates", answer=list[ListedTemplate]),
    Endpoint(
        "POST",
        "/api/templates",
        "chat",
        create_template,
        "Store a template",
        body=NewTemplate,
        answer=MadeTemplate,
        status=201,
        keyed=True,
    ),
    Endpoint("GET", _ONE, "read", show_template, "One template", answer=RestTemplate),
    *build_verb_endpoints(TEMPLATE_VERBS),
]
