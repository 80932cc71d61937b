"""A call of a server's tool on its way through the gate: judged, asked about, and run once as approved."""

from typing import TYPE_CHECKING, Any

from greenroom.errors import Refused
from greenroom.ids import new_id
from greenroom.rules.access.model import HUB, Principal
from greenroom.rules.asks.ask_builder import NOT_TAKEN
from greenroom.rules.asks.commands import TakeAnswer
from greenroom.rules.asks.events import AskRaised
from greenroom.rules.asks.model import Ask
from greenroom.rules.asks.queries import get_waiting_ask
from greenroom.rules.policy.commands import JudgeCall
from greenroom.rules.policy.events import CallJudged
from greenroom.rules.policy.judge import is_refused_despite_approval, judge
from greenroom.rules.policy.model import Verdict
from greenroom.rules.runs.tool_calls import WantToolCall, build_call_request, hash_call_wish
from greenroom.rules.servers.model import McpServer, ServerTool
from greenroom.rules.servers.queries import get_offered
from greenroom.sentences import build_sentence
from greenroom.services.hub import Hub
from greenroom.services.tool_servers import ToolServers

if TYPE_CHECKING:
    from mcp.types import CallToolResult


async def call_gated_tool(
    hub: Hub, servers: ToolServers, by: Principal, name: str, arguments: dict[str, Any]
) -> "CallToolResult":
    """The tool's result. Waits for a person where the policy says so; raises Refused or Unavailable."""
    server, tool = _need_tool(hub, by, name)
    wanted = WantToolCall(by=by, judgement_id=new_id("jdg"), tool=name, arguments=arguments)
    done = await hub.log.do(wanted)
    kinds = {type(record.event): record.event for record in done.records}
    if AskRaised in kinds or not done.records:
        waiting = kinds[AskRaised].ask_id if AskRaised in kinds else _need_open_ask(hub, by, name, arguments).id
        arguments = await _take_approval(hub, by, waiting, arguments)
        server, tool = _need_tool(hub, by, name)
    else:
        verdict: Verdict = kinds[CallJudged].verdict
        if verdict.decision != "allow":
            raise Refused("refused_by_policy", "forbidden", why=verdict.why)
    return await servers.call(server.name, tool.name, arguments, server.definition.timeout_s)


async def _take_approval(hub: Hub, by: Principal, ask_id: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Wait for a person, and take the answer: of all that wait for it only one may run the call."""
    ask = await hub.asks.wait(ask_id)
    match await hub.asks.take(TakeAnswer(by=HUB, ask_id=ask_id)):
        case "lapsed":
            raise Refused("approval_lapsed", "conflict", reason=NOT_TAKEN)
        case "not_yours":
            raise Refused("already_taken.other_connection", "conflict")
    _need_approved(ask)
    assert ask.answer is not None and ask.subject is not None  # noqa: S101 a yes to a permission has both
    if ask.answer.arguments is not None:
        arguments = ask.answer.arguments
    server, tool = _need_tool(hub, by, ask.subject.tool)
    if ask.subject.files != {tool.offered_as: tool.seen.digest}:
        raise Refused("tool_changed.asked", "conflict")
    wanted = build_call_request(hub.rows, by, arguments, server, tool)
    verdict = judge(hub.rows, wanted, hub.log.clock.now())
    if is_refused_despite_approval(verdict):
        await hub.log.do(JudgeCall(by=HUB, judgement_id=new_id("jdg"), wanted=wanted))
        raise Refused("refused_by_policy.despite_approval", "forbidden", why=verdict.why)
    return arguments


def _need_approved(ask: Ask) -> None:
    if ask.state == "withdrawn":
        raise Refused("ask_withdrawn.call", "conflict", reason=ask.reason)
    if ask.state == "expired" or ask.answer is None:
        raise Refused("ask_expired.call", "conflict")
    if ask.answer.verdict != "approve":
        name = ask.answer.name or build_sentence("person")
        if ask.answer.text:
            raise Refused("denied.note", "forbidden", name=name, note=ask.answer.text)
        raise Refused("denied", "forbidden", name=name)


def _need_tool(hub: Hub, by: Principal, name: str) -> tuple[McpServer, ServerTool]:
    found = get_offered(hub.rows, by, name)
    if found is None:
        raise Refused("tool_not_found", "not_found", name=name[:100])
    return found


def _need_open_ask(hub: Hub, by: Principal, name: str, arguments: Any) -> Ask:
    found = get_waiting_ask(hub.rows, hash_call_wish(by, name, arguments), hub.log.clock.now())
    if found is None:
        raise Refused("already_taken", "conflict")
    return found
