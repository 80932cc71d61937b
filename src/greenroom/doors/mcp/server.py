"""What a caller may use and how it is run, for every transport, and the SDK's server built on that."""

import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

import anyio
import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from greenroom import __version__
from greenroom.doors.http.errors import record_refusal
from greenroom.doors.mcp.exchange import encode
from greenroom.doors.mcp.proxied_tools import ProxiedTool, ProxiedTools
from greenroom.doors.mcp.repeat_detector import RepeatDetector
from greenroom.doors.mcp.tool import Blocks, McpCall, McpCatalog, NoArgs, TextBlock, Tool, may_use
from greenroom.errors import Refused, Unavailable
from greenroom.sentences import build_sentence, list_wire_fields

if TYPE_CHECKING:
    from greenroom.rules.access.model import Principal
    from greenroom.services.hub import Hub

PRINCIPAL = "greenroom.principal"
TOKEN = "greenroom.token"  # noqa: S105 the name of a place, not a secret
PROGRESS_S = 15.0
"""How often a waiting client gets progress; the most impatient one gives up after 60 s."""
RESOURCE_NOT_FOUND = -32002
"""What 2025-11-25 and older call a resource that is not there."""
Context = ServerRequestContext[Any, Any]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller, and the language of the answer."""

    by: "Principal"
    language: str | None = None
    token: str = field(default="", repr=False)


def read_caller(scope: Any) -> Caller:
    """The caller of a request that the guard has let in."""
    query = scope["query_string"]
    language = parse_qs(query.decode("latin-1")).get("lang", [None])[-1] if query else None
    return Caller(scope[PRINCIPAL], language, scope.get(TOKEN, ""))


class ToolResult(msgspec.Struct, frozen=True, rename="camel"):
    """A tool's result as clients get it."""

    content: list[Any]
    is_error: bool = False
    structured_content: Any = msgspec.UNSET


class McpService:
    """Finds and runs what a caller may use."""

    def __init__(self, offer: McpCatalog, hub: "Hub", foreign: ProxiedTools | None = None) -> None:
        self.offer = offer
        self.hub = hub
        self.foreign = foreign
        self._repeats = RepeatDetector(hub)
        self._tools = {tool.name: tool for tool in offer.tools}
        if len(self._tools) < len(offer.tools):
            raise ValueError("two tools have the same name")

    def get_tool(self, by: "Principal", name: str) -> Tool[Any] | ProxiedTool | None:
        """The tool, unless it does not exist for this principal."""
        tool = self._tools.get(name)
        if tool is None and self.foreign is not None:
            return self.foreign.get_tool(by, name)
        return tool if tool is not None and may_use(by, tool.needs) else None

    async def call_tool(
        self,
        tool: Tool[Any] | ProxiedTool,
        caller: Caller,
        arguments: bytes,
        has_progress: bool = False,
        meta: Any = None,
    ) -> ToolResult:
        """The tool's result, which is compared with those of earlier calls."""
        began = time.monotonic()
        result = await self._answer(tool, caller, arguments, has_progress, meta)
        if isinstance(tool, Tool):
            waited_s = time.monotonic() - began if tool.waits else 0.0
            await self._repeats.record_call(caller.by, tool.name, arguments, result.content, waited_s)
        return result

    async def _answer(
        self, tool: Tool[Any] | ProxiedTool, caller: Caller, arguments: bytes, has_progress: bool, meta: Any
    ) -> ToolResult:
        """A refusal is a result as well: only what the caller can mend is marked an error."""
        try:
            args = tool.decode(arguments)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return _build_json_result(_describe_bad_arguments(error), is_error=True)
        try:
            value = await tool.run(
                McpCall(self.hub, caller.by, args, caller.language, has_progress, caller.token, meta)
            )
        except Refused as no:
            record_refusal(self.hub, caller.by, f"tools/call {tool.name}", no)
            return _build_json_result(
                {"error": no.code, "message": no.message} | list_wire_fields(no.said) | no.details
            )
        except Unavailable as no:
            said = {"error": no.code, "code": no.code, "message": no.message, "retry_after": no.retry_after_s}
            return _build_json_result(said | list_wire_fields(no.said))
        except Exception:
            log.exception("tool %s failed", tool.name)
            message = "The hub failed at this call; its log says why."
            return _build_json_result({"error": "InternalError", "message": message}, is_error=True)
        if not isinstance(value, Blocks):
            return _build_json_result(value)
        structured = _build_structured_content(value.blocks) if value.structured is None else value.structured
        return ToolResult(value.blocks, value.is_error, structured)

    def record_unknown_tool(self, by: "Principal", name: str) -> None:
        """A call of a tool that does not exist for this principal. The error names only tools of ours."""
        action = f"tools/call {name if name in self._tools else '*'}"
        record_refusal(self.hub, by, action, Refused("unknown_tool", "not_found", name=name[:100]))

    async def read_resource(self, caller: Caller, uri: str) -> tuple[str, str] | None:
        """The text at an address and its MIME type; None when nothing is there for this caller."""
        for resource in self.offer.resources:
            if resource.uri == uri and resource.needs in caller.by.rights:
                value = await resource.run(McpCall(self.hub, caller.by, NoArgs(), caller.language))
                return _encode_text(value), resource.mime_type
        for template in self.offer.templates:
            found = template.pattern.fullmatch(uri)
            if found and template.needs in caller.by.rights:
                args = msgspec.convert({k: unquote(v) for k, v in found.groupdict().items()}, template.args)
                value = await template.run(McpCall(self.hub, caller.by, args, caller.language))
                return _encode_text(value), template.mime_type
        return None


async def send_progress_until_cancelled(tell: Callable[[float], Awaitable[None]], every_s: float) -> None:
    """Report at intervals for how many seconds a call has been waiting, until cancelled."""
    started = anyio.current_time()
    while True:
        await anyio.sleep(every_s)
        await tell(round(anyio.current_time() - started, 3))


class NotifyingServer(Server[Any]):
    """A server that declares list-changed notifications for tools, which the SDK expects the transport to declare."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *more: Any, **named: Any
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, *more, **named)


def build_server(service: McpService, listen: ListenHandler) -> Server[Any]:
    """The SDK's server for everything except tool calls, which no transport passes to it."""
    handlers = _Handlers(service)
    offer = service.offer
    return NotifyingServer(
        "Greenroom",
        version=__version__,
        instructions=offer.instructions,
        on_list_tools=handlers.list_tools,
        on_list_resources=handlers.list_resources if offer.resources or offer.templates else None,
        on_list_resource_templates=handlers.list_templates if offer.templates else None,
        on_read_resource=handlers.read_resource if offer.resources or offer.templates else None,
        on_list_prompts=handlers.list_prompts if offer.prompts else None,
        on_get_prompt=handlers.get_prompt if offer.prompts else None,
        on_subscriptions_listen=listen,
    )


@dataclass(frozen=True)
class _Handlers:
    """The service in the words of the SDK."""

    service: McpService

    async def list_tools(self, context: Context, params: Any) -> types.ListToolsResult:
        by = _read_caller(context).by
        tools = [
            types.Tool(
                name=tool.name,
                description=tool.description,
                input_schema=tool.schema,
                annotations=types.ToolAnnotations(read_only_hint=True) if tool.needs == "read" else None,
            )
            for tool in self.service.offer.tools
            if may_use(by, tool.needs)
        ]
        if self.service.foreign is not None:
            tools += self.service.foreign.find_tools(by)
        return types.ListToolsResult(tools=tools)

    async def list_resources(self, context: Context, params: Any) -> types.ListResourcesResult:
        rights = _read_caller(context).by.rights
        resources = [
            types.Resource(uri=r.uri, name=r.name, description=r.description, mime_type=r.mime_type)
            for r in self.service.offer.resources
            if r.needs in rights
        ]
        return types.ListResourcesResult(resources=resources)

    async def list_templates(self, context: Context, params: Any) -> types.ListResourceTemplatesResult:
        rights = _read_caller(context).by.rights
        templates = [
            types.ResourceTemplate(
                uri_template=t.uri_template, name=t.name, description=t.description, mime_type=t.mime_type
            )
            for t in self.service.offer.templates
            if t.needs in rights
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        with _Refusals():
            found = await self.service.read_resource(_read_caller(context), uri)
        if found is None:
            modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
            raise MCPError(types.INVALID_PARAMS if modern else RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri})
        text, mime_type = found
        contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, context: Context, params: Any) -> types.ListPromptsResult:
        rights = _read_caller(context).by.rights
        prompts = [
            types.Prompt(
                name=prompt.name,
                description=prompt.description,
                arguments=[
                    types.PromptArgument(
                        name=name,
                        description=field.get("description"),
                        required=name in prompt.schema.get("required", ()),
                    )
                    for name, field in prompt.schema["properties"].items()
                ],
            )
            for prompt in self.service.offer.prompts
            if prompt.needs in rights
        ]
        return types.ListPromptsResult(prompts=prompts)

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        caller = _read_caller(context)
        for prompt in self.service.offer.prompts:
            if prompt.name == params.name and prompt.needs in caller.by.rights:
                with _Refusals():
                    args = msgspec.convert(params.arguments or {}, prompt.args)
                    text = await prompt.run(McpCall(self.service.hub, caller.by, args, caller.language))
                message = types.PromptMessage(role="user", content=types.TextContent(text=text))
                return types.GetPromptResult(description=prompt.description, messages=[message])
        raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name[:100]}")


class _Refusals:
    """Inside it, what goes wrong becomes an error of the protocol: resources and prompts know no other."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        match error:
            case Refused():
                raise MCPError(types.INVALID_PARAMS, error.message, {"error": error.code} | error.details) from error
            case Unavailable():
                data = {"error": error.code, "retry_after": error.retry_after_s}
                raise MCPError(types.INTERNAL_ERROR, error.message, data) from error
            case msgspec.ValidationError():
                raise MCPError(types.INVALID_PARAMS, str(error)) from error
            case MCPError() | None:
                return
            case Exception():
                log.error("a resource or prompt failed", exc_info=error)
                raise MCPError(types.INTERNAL_ERROR, "The hub failed; its log says why.") from error


def _read_caller(context: Context) -> Caller:
    if context.request is None:
        raise RuntimeError("the transport did not hand over its request")
    return read_caller(context.request.scope)


def describe_unknown_tool(name: str) -> str:
    """The error for a tool that does not exist for the caller."""
    return str(build_sentence("unknown_tool", name=name[:100]))


def _encode_text(value: Any) -> str:
    return value if isinstance(value, str) else encode(value).decode()


def _build_json_result(value: Any, is_error: bool = False) -> ToolResult:
    text = encode(value)
    return ToolResult([TextBlock(text.decode())], is_error, _wrap_in_object(text))


def _wrap_in_object(text: bytes) -> msgspec.Raw:
    """JSON as `structuredContent`, which must be an object: anything else becomes its field `result`."""
    return msgspec.Raw(text if text.startswith(b"{") else b'{"result":' + text + b"}")


def _build_structured_content(blocks: list[Any]) -> Any:
    """What a first block of JSON that is no object becomes; nothing for all else.

    Gemini CLI copies the first text into `structuredContent` if it is JSON, and then refuses what is no object.
    """
    first = blocks[0] if blocks else None
    text = first.text if isinstance(first, TextBlock) else first.get("text") if isinstance(first, dict) else None
    if not isinstance(text, str):
        return msgspec.UNSET
    try:
        is_object = isinstance(msgspec.json.decode(text), dict)
    except msgspec.DecodeError:
        return msgspec.UNSET
    return msgspec.UNSET if is_object else _wrap_in_object(text.strip().encode())


def _describe_bad_arguments(error: Exception) -> dict[str, Any]:
    found = re.search(r" - at `(.+)`$", str(error))
    return {"error": f"Input validation error: {error}", "path": found[1] if found else "$"}
