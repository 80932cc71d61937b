"""Tools for mail: messages to one agent, which it can read at any time."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from greenroom.doors.mcp.tool import McpCall, Tool
from greenroom.doors.mcp.tools.messages import Attachments, Format, Key, Patience, Seq, build_wait_result, limit_wait_ms
from greenroom.doors.mcp.tools.speaker import AgentId, AgentToken, get_author, need_speaker, need_valid_token
from greenroom.services.agent_activity import describe_activity


class SendArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    agent_id: Annotated[str, Meta(description="The agent that shall get it: see agent_list.")]
    content: Annotated[str, Meta(description="What you say, in Markdown.")]
    author: Annotated[
        str | None, Meta(description="Your agent_id. Not needed when you connect with a token of your own.")
    ] = None
    priority: Annotated[
        Literal["normal", "urgent"],
        Meta(description="urgent interrupts an agent at work, where mail may wake it at all."),
    ] = "normal"
    key: Annotated[
        Key | None, Meta(description="A name of your own for this mail: a repeat with it sends nothing twice.")
    ] = None


async def mail_send(call: McpCall[SendArgs]) -> Any:
    args = call.args
    author = get_author(call, args.author)
    hub = call.hub
    posted = await hub.bus.post_mail(call.by, args.agent_id, args.content, author, key=args.key, priority=args.priority)
    return {
        "msg_id": posted.event.message_id,
        "seq": posted.seq,
        "thread_id": posted.event.thread_id,
        "recipient": str(describe_activity(hub.rows, hub.presence, call.by, args.agent_id, hub.log.clock.now())),
    }


class MailWaitArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    after_seq: Annotated[
        Seq | None,
        Meta(description="The newest seq that you have read. Leave it out to go on after what you were last given."),
    ] = None
    timeout_ms: Patience = 300_000
    return_format: Format = "blocks"
    agent_id: AgentId = None
    token: AgentToken = None
    include_attachments: Attachments = True


async def mail_wait(call: McpCall[MailWaitArgs]) -> Any:
    args, bus = call.args, call.hub.bus
    by, agent = need_speaker(call, "mail_wait", args.agent_id, args.token)
    mailbox = await bus.open_mailbox(by, agent.id)
    waited = await bus.wait(by, mailbox, args.after_seq, limit_wait_ms(args.timeout_ms), agent_id=agent.id)
    need_valid_token(call, args.agent_id, args.token)
    return await build_wait_result(call, mailbox, waited, args.return_format, args.include_attachments, people=False)


MAIL_TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "mail_send",
        "Send a message to one agent, also when it is not there: it finds it in its mailbox. Nobody else sees it but"
        " the operator. Watch it with msg_receipts.",
        SendArgs,
        "chat",
        mail_send,
    ),
    Tool(
        "mail_wait",
        "Wait for mail to you; at once if there is some. Answer with mail_send. When it returns none, call it again.",
        MailWaitArgs,
        "chat",
        mail_wait,
        waits=True,
    ),
)
