"""Which agents a principal may see."""

from greenroom.errors import Refused
from greenroom.log.model import Rows
from greenroom.rules.access.model import Principal
from greenroom.rules.agents.model import AGENTS, Agent
from greenroom.rules.threads.queries import get_member

_THERE = ("", "starting", "busy", "idle")
"""The state of a process that works or waits; an agent from outside has no process of ours."""


def find_agents(rows: Rows, by: Principal) -> list[Agent]:
    """The agents that a principal may see, oldest first."""
    found = rows.find(AGENTS, {"state": "registered"}, order="_key")
    return [agent for agent in found if may_see_agent(rows, by, agent)]


def find_present(rows: Rows, by: Principal) -> list[Agent]:
    """As `find_agents`, without those that were made for a run that is over and are kept under no name."""
    there = [a for process in _THERE for a in rows.find(AGENTS, {"state": "registered", "process": process})]
    kept = rows.find(AGENTS, {"state": "registered", "process": "asleep"}, after=("kept_as", ""))
    return sorted((agent for agent in there + kept if may_see_agent(rows, by, agent)), key=lambda agent: agent.id)


def need_agent(rows: Rows, by: Principal, wanted: str) -> Agent:
    """An agent by its id, or the name it is kept as; one that the principal may not see looks like none."""
    kept = [agent for agent in rows.find(AGENTS, {"kept_as": wanted}) if agent.state == "registered"]
    agent = rows.get(AGENTS, wanted) or (kept[-1] if kept else None)
    if agent is None or not may_see_agent(rows, by, agent):
        raise Refused("agent_not_found", "not_found")
    return agent


def may_see_agent(rows: Rows, by: Principal, agent: Agent) -> bool:
    """Whether a principal may know of an agent.

    Whoever may not see all knows the agents that the same credential enrolled. Whoever is confined to threads knows
    the agents of these threads too.
    """
    if agent.id == by.agent_id or ("all" in by.rights and not by.is_confined):
        return True
    own = rows.get(AGENTS, by.agent_id) if by.agent_id else None
    if agent.enrolled_by == (own.enrolled_by if own else by.credential):
        return True
    threads = by.threads or ()
    return agent.thread_id in threads or any(get_member(rows, thread_id, agent.id) for thread_id in threads)
