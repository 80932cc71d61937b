"""Which agent makes a call: that of the credential, or one that it names and may act for."""

from typing import Annotated, Any, NamedTuple

from msgspec import Meta

from greenroom.doors.mcp.tool import McpCall
from greenroom.errors import Refused
from greenroom.rules.access.model import Principal
from greenroom.rules.access.queries import get_principal, need_right
from greenroom.rules.agents.model import AGENTS, Agent
from greenroom.rules.agents.queries import need_own_agent
from greenroom.rules.asks.call_text import escape_invisible

AgentId = Annotated[
    str | None,
    Meta(description="Your agent_id. Not needed when you connect with a token of your own."),
]
AgentToken = Annotated[
    str | None,
    Meta(description="The token that agent_register or bus_connect gave you. Not needed when you connect with it."),
]


class Speaker(NamedTuple):
    """The principal of a command, and the agent that it acts for; a person acts for none."""

    by: Principal
    agent: Agent | None


def get_speaker(call: McpCall[Any], activity: str, agent_id: str | None = None, token: str | None = None) -> Speaker:
    """The agent that makes a call, which counts as online. Raises Refused if the named agent is not the caller's."""
    by = _prove_token(call, agent_id, token) if token else call.by
    wanted = agent_id or by.agent_id or _get_only_agent(call)
    if wanted is None:
        return Speaker(by, None)
    agent = need_own_agent(call.hub.rows, by, wanted)
    call.hub.presence.note_activity(agent.id, activity)
    return Speaker(by, agent)


def need_speaker(
    call: McpCall[Any], activity: str, agent_id: str | None = None, token: str | None = None
) -> tuple[Principal, Agent]:
    """The principal and the agent; a caller with several agents has to name one."""
    by, agent = get_speaker(call, activity, agent_id, token)
    if agent is None:
        raise _build_unnamed_refusal()
    return by, agent


def need_valid_token(call: McpCall[Any], agent_id: str | None, token: str | None) -> None:
    """Refuse when a token that was good at the beginning of a long call is not any more."""
    if token:
        _prove_token(call, agent_id, token)


def _prove_token(call: McpCall[Any], agent_id: str | None, token: str) -> Principal:
    """The principal of a token among the arguments: a credential like any other, and of that agent."""
    hub = call.hub
    found = get_principal(hub.rows, token, hub.log.clock.now())
    if (
        found is None
        or found.agent_id is None
        or any(named not in (None, "", found.agent_id) for named in (agent_id, call.by.agent_id))
    ):
        raise Refused("InvalidCredentials", "forbidden", details={"detail": "Invalid agent_id/token"})
    need_right(found, "read")
    return found


def get_author(call: McpCall[Any], named: str | None) -> str | None:
    """The author of a post: the named one, which the rules check, or the only possible one."""
    return named or call.by.agent_id or _get_only_agent(call)


def get_taint(call: McpCall[Any]) -> str:
    """Whose words an operator's token brings over MCP: a model speaks there, which may have read anything.

    Empty for any other caller: of an agent's own token the rules know whose words it passes on.
    """
    by = call.by
    if not by.may_operate or by.agent_id is not None:
        return ""
    mine = call.hub.rows.find(AGENTS, {"enrolled_by": by.credential, "state": "registered"}, limit=2)
    return f"the agent {escape_invisible(mine[0].display_name or mine[0].name)}" if len(mine) == 1 else "an MCP client"


def _get_only_agent(call: McpCall[Any]) -> str | None:
    """The agent of a credential that has enrolled exactly one; a person's credential never speaks by itself."""
    by = call.by
    if by.may_operate or "register" not in by.rights or by.credential is None:
        return None
    mine = call.hub.rows.find(AGENTS, {"enrolled_by": by.credential, "state": "registered"}, limit=2)
    if len(mine) > 1:
        raise _build_unnamed_refusal()
    return mine[0].id if mine else None


def _build_unnamed_refusal() -> Refused:
    return Refused("agent_required.speaker")
