"""A session of agent_backend's clients: a kept agent, a thread, and the events in them."""

import hashlib
import re
from collections.abc import Container, Iterator
from typing import Any

from greenroom.clock import format_iso
from greenroom.doors.compat.shown_asks import ShownAsks
from greenroom.errors import Refused
from greenroom.ids import new_id, new_secret
from greenroom.json_types import JsonObject
from greenroom.link.hub_tools import HUB_PREFIX, SERVER_SEPARATOR
from greenroom.log.model import Commit, Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import AGENTS, Agent
from greenroom.rules.agents.profiles import PROFILES
from greenroom.rules.asks.commands import AnswerAsk
from greenroom.rules.asks.events import AskAnswered, AskExpired, AskRaised, AskWithdrawn
from greenroom.rules.asks.model import ASKS, Ask
from greenroom.rules.runs.events import RunEnded, RunHeard
from greenroom.rules.runs.model import CALLS, ENDED, RUNS, AgentContext, Constraints, Run
from greenroom.rules.threads.commands import CreateThread
from greenroom.rules.threads.events import TokenIssued
from greenroom.services.hub import Hub
from greenroom.services.run_service import start_run

SESSION_EVENTS = (RunHeard, RunEnded, AskRaised, AskAnswered, AskExpired, AskWithdrawn)
"""What may concern a session."""
_ID = re.compile(r"[\x21-\x7e]{1,128}")
_ASKS = 100
_STATES = {
    "pending": "running",
    "running": "running",
    "waiting": "waiting_permission",
    "completed": "completed",
    "cancelled": "idle",
}


class BackendSession:
    """One session by its client's id. All operators share it: who it is comes from the credential, not from the id."""

    def __init__(self, hub: Hub, shown: ShownAsks, session_id: str) -> None:
        if not _ID.fullmatch(session_id):
            raise Refused("bad_session.chat_id")
        self._hub = hub
        self._shown = shown
        self.id = session_id
        self.name = f"chat-{hashlib.sha256(session_id.encode()).hexdigest()[:16]}"

    @property
    def _rows(self) -> Rows:
        return self._hub.rows

    def get_agent(self) -> Agent | None:
        """The session's agent, once there is one."""
        found = self._rows.find(AGENTS, {"kept_as": self.name})
        return next((agent for agent in found if agent.state == "registered"), None)

    def get_run(self) -> Run | None:
        """The run that the session is at, or was last."""
        agent = self.get_agent()
        if agent is None:
            return None
        newest = self._rows.find(RUNS, {"agent_id": agent.id}, order="created_at", desc=True, limit=1)
        return newest[0] if newest else None

    async def say(self, by: Principal, message: str, tools: bool, profile: str | None = None) -> Run:
        """Start the agent with a message; it remembers the conversation."""
        agent = self.get_agent()
        known = agent.profile if agent is not None else None
        if known and profile and profile != known:
            raise Refused("session_of_another", "conflict", id=self.id, known=known)
        chosen = known or profile or self._choose_profile()
        kept = {"agent": self.name} if agent is not None else {"keep_as": self.name}
        thread_id = await self._open_thread(by)
        await self._hub.bus.post(by, thread_id, None, message, strict=False)
        context = None if tools else AgentContext(constraints=Constraints(allowed_tools=[]))
        return await start_run(
            self._hub.log, by, chosen, message, keep=True, thread_id=thread_id, context=context, **kept
        )

    def _choose_profile(self) -> str:
        wanted = self._hub.settings.backend_profile
        if wanted:
            return wanted
        for profile in self._rows.find(PROFILES, order="_key"):
            if profile.definition.driver == "builtin" and profile.definition.enabled:
                return profile.name
        raise Refused("no_chat_profile", "conflict")

    async def _open_thread(self, by: Principal) -> str:
        topic = f"Chat {self.id}"
        done = await self._hub.log.do(CreateThread(by=by, thread_id=new_id("thr"), topic=topic, nonce=new_secret(12)))
        issued: TokenIssued = done.first(TokenIssued)
        return issued.thread_id

    def find_open_asks(self) -> list[Ask]:
        """The calls that wait for approval, oldest first."""
        agent = self.get_agent()
        if agent is None:
            return []
        found = self._rows.find(ASKS, {"agent_id": agent.id, "state": "open"}, order="_key")
        return [ask for ask in found if ask.kind == "permission"]

    async def decide(self, by: Principal, ask_id: str, approved: bool, words: str = "") -> Ask:
        """Answer a call of this session that waits for approval; one of another is not there."""
        ask, agent = self._rows.get(ASKS, ask_id), self.get_agent()
        if ask is None or agent is None or ask.agent_id != agent.id or ask.kind != "permission":
            raise Refused("ask_not_found.session", "not_found")
        return await self._hub.asks.answer(
            AnswerAsk(
                by=by,
                ask_id=ask.id,
                verdict="approve" if approved else "deny",
                text=words,
                digest=self._shown.get_digest(self.id, ask.id),
            )
        )

    def build_status(self) -> JsonObject:
        """The session in the clients' words."""
        run = self.get_run()
        state = "idle" if run is None else _STATES.get(run.status, "error")
        waiting = [self.build_request(ask) for ask in self.find_open_asks()]
        if run is not None and run.status not in ENDED:  # an ask is there, and answered, before its run has moved
            state = "waiting_permission" if waiting else "paused" if self._is_asking(run) else "running"
        return {
            "session_id": self.id,
            "thread_id": run.thread_id if run else None,
            "execution_id": run.id if run else None,
            "state": state,
            "current_message": run.prompt if run else None,
            "pending_tools": waiting,
            "error_message": str(run.error or run.status) if run and state == "error" else None,
            "created_at": format_iso(run.created_at) if run else None,
            "updated_at": format_iso(run.ended_at or run.started_at or run.created_at) if run else None,
        }

    def _is_asking(self, run: Run) -> bool:
        return bool(self._rows.find(ASKS, {"agent_id": run.agent_id, "state": "open"}, limit=1))

    def get_ask(self, run_id: str, call_id: str, but: Container[str] = ()) -> Ask | None:
        """The newest ask for permission for a call of a run, except those whose ids are in `but`.

        For tools of MCP servers the hub asks, without the runtime's id of the call: tool and arguments identify it.
        """
        agent = self.get_agent()
        found = self._rows.find(ASKS, {"agent_id": agent.id}, order="_key", desc=True, limit=_ASKS) if agent else []
        asks = [ask for ask in found if ask.subject and ask.asker.run_id == run_id and ask.id not in but]
        named = next((ask for ask in asks if ask.asker.call_id == call_id), None)
        call = self._rows.get(CALLS, run_id, call_id)
        if named is not None or call is None:
            return named
        wanted = (None, shorten_tool_name(call.tool), call.input)
        return next((ask for ask in asks if _read_permission(ask) == wanted), None)

    def build_request(self, ask: Ask) -> JsonObject:
        """A call that waits for approval, for a client that is now sent it."""
        self._shown.note(self.id, ask)
        return build_permission_request(self.id, ask)

    def find_events(self, commit: Commit) -> Iterator[tuple[object, Run | Ask]]:
        """The events of a commit that concern this session: those of its runs and of the asks that they wait for."""
        agent: Agent | None = None
        for record in commit.records:
            event = record.event
            found: Run | Ask | None
            if isinstance(event, RunHeard | RunEnded):
                found = self._rows.get(RUNS, event.run_id)
            else:
                found = self._rows.get(ASKS, event.ask_id)
            agent = agent or self.get_agent()
            if found is not None and agent is not None and found.agent_id == agent.id:
                yield event, found

    def find_tool_name(self, run_id: str, call_id: str) -> str:
        call = self._rows.get(CALLS, run_id, call_id)
        return shorten_tool_name(call.tool) if call is not None else ""


def shorten_tool_name(tool: str) -> str:
    """What people know a tool by: that of an MCP server by server__tool, without the hub through which it is called."""
    bare = tool.removeprefix(HUB_PREFIX)
    return bare if SERVER_SEPARATOR in bare else tool


def _read_permission(ask: Ask) -> tuple[str | None, str, Any]:
    return (ask.asker.call_id, ask.subject.tool, ask.subject.arguments) if ask.subject else (None, "", None)


def build_permission_request(session_id: str, ask: Ask) -> JsonObject:
    """A call that waits for approval; the hub's own words come first, from the bytes that will run."""
    subject = ask.subject
    return {
        "session_id": session_id,
        "execution_id": ask.id,
        "tool_name": subject.tool if subject else "",
        "parameters": subject.arguments if subject else None,
        "risk_level": ask.risk,
        "message": str(ask.title),
    }


def describe_outcome(ask: Ask) -> tuple[bool, str]:
    """Whether a call may run, and what became of the asking: approved, rejected, expired or cancelled."""
    if ask.answer is not None:
        approved = ask.answer.verdict == "approve"
        return approved, "approved" if approved else "rejected"
    return False, "expired" if ask.state == "expired" else "cancelled"
