"""Tools for templates of new threads."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from greenroom.clock import format_iso
from greenroom.doors.mcp.tool import McpCall, NoArgs, Tool
from greenroom.json_types import Metadata
from greenroom.log.copied_fields import copy_fields
from greenroom.rules.threads.commands import CreateTemplate
from greenroom.rules.threads.model import ThreadTemplate
from greenroom.rules.threads.queries import find_templates, need_template


async def template_list(call: McpCall[NoArgs]) -> Any:
    return [_build_brief(template) for template in find_templates(call.hub.rows, call.by)]


class GetArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    template_id: Annotated[str, Meta(description="The template's id: see template_list.")]


async def template_get(call: McpCall[GetArgs]) -> Any:
    template = need_template(call.hub.rows, call.by, call.args.template_id)
    return {
        **msgspec.structs.asdict(_build_brief(template)),
        "system_prompt": template.system_prompt,
        "default_metadata": template.default_metadata,
    }


class TemplateCreateArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: Annotated[str, Meta(description="A short name of letters, digits, '-' and '_'.")]
    name: Annotated[str, Meta(description="How it is shown.")]
    description: Annotated[str | None, Meta(description="What it is good for.")] = None
    system_prompt: Annotated[str | None, Meta(description="How to work together in threads made from it.")] = None
    default_metadata: Annotated[Metadata | None, Meta(description="What such threads are kept with.")] = None


async def template_create(call: McpCall[TemplateCreateArgs]) -> Any:
    args, hub = call.args, call.hub
    await hub.log.do(
        copy_fields(
            args,
            CreateTemplate,
            by=call.by,
            template_id=args.id,
            system_prompt=args.system_prompt or "",
            description=args.description or "",
        )
    )
    return _build_brief(need_template(hub.rows, call.by, args.id.strip()))


class TemplateBrief(msgspec.Struct):
    """A template in a list."""

    id: str
    name: str
    description: str
    is_builtin: bool
    created_at: str


def _build_brief(template: ThreadTemplate) -> TemplateBrief:
    created_at = format_iso(template.created_at)
    return TemplateBrief(template.id, template.name, template.description, template.builtin, created_at)


TEMPLATE_TOOLS: tuple[Tool[Any], ...] = (
    Tool("template_list", "See which templates a new thread may start from.", NoArgs, "read", template_list),
    Tool("template_get", "Look at one template with its system prompt.", GetArgs, "read", template_get),
    Tool(
        "template_create",
        "Keep a system prompt as a template, for threads of a kind that will be opened again.",
        TemplateCreateArgs,
        "chat",
        template_create,
    ),
)
