"""The rules for editing messages and reacting to them."""

from greenroom.errors import Refused
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.model import Principal
from greenroom.rules.access.queries import need_right
from greenroom.rules.agents.model import AGENTS
from greenroom.rules.agents.queries import may_act_for
from greenroom.rules.threads.commands import EditMessage, React, Unreact
from greenroom.rules.threads.decide_post import need_content, need_post_author
from greenroom.rules.threads.events import (
    MessageEdited,
    ReactionAdded,
    ReactionRemoved,
)
from greenroom.rules.threads.model import (
    Message,
)
from greenroom.rules.threads.queries import need_message
from greenroom.rules.threads.uploads import need_own_uploads


def edit_message(rows: Rows, command: EditMessage, context: Context) -> list[Event]:
    by = need_principal(command)
    need_right(by, "chat")
    message = need_message(rows, by, command.message_id)
    editor = _need_editor(rows, by, message)
    need_content(command.content, command.size, context)
    need_own_uploads(rows, by, command.content)
    if message.content == command.content and message.body == command.body:
        return []
    return [
        copy_fields(
            command,
            MessageEdited,
            message_id=message.id,
            thread_id=message.thread_id,
            edited_by=editor,
            edit_version=message.edit_version + 1,
        )
    ]


def _need_editor(rows: Rows, by: Principal, message: Message) -> str:
    author = rows.get(AGENTS, message.author_id)
    if author is not None and may_act_for(by, author):
        return author.id
    if by.may_operate and message.author_id != "system":
        return by.name
    raise Refused("not_author", "forbidden")


def react(rows: Rows, command: React, context: Context) -> list[Event]:
    message, agent_id = _need_reaction_target(rows, command)
    if any(r.agent_id == agent_id and r.reaction == command.reaction for r in message.reactions):
        return []
    if len(message.reactions) >= 1000:
        raise Refused("too_many_reactions", "limited")
    thread_id, reaction = message.thread_id, command.reaction
    return [ReactionAdded(message_id=message.id, thread_id=thread_id, agent_id=agent_id, reaction=reaction)]


def unreact(rows: Rows, command: Unreact, context: Context) -> list[Event]:
    message, agent_id = _need_reaction_target(rows, command)
    if not any(r.agent_id == agent_id and r.reaction == command.reaction for r in message.reactions):
        return []
    thread_id, reaction = message.thread_id, command.reaction
    return [ReactionRemoved(message_id=message.id, thread_id=thread_id, agent_id=agent_id, reaction=reaction)]


def _need_reaction_target(rows: Rows, command: React | Unreact) -> tuple[Message, str]:
    by = need_principal(command)
    need_right(by, "chat")
    message = need_message(rows, by, command.message_id)
    if not 0 < len(command.reaction) <= 64 or not command.reaction.isprintable():
        raise Refused("bad_reaction")
    return message, need_post_author(rows, by, command.agent_id).id


DECIDE: dict[type[Command], Decide] = {
    EditMessage: edit_message,
    React: react,
    Unreact: unreact,
}
