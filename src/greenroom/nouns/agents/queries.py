"""Which agents there are, and who may act for one."""

from greenroom.log.errors import Refused
from greenroom.log.model import Rows
from greenroom.nouns.access.model import Principal
from greenroom.nouns.agents.model import AGENTS, Agent

_THERE = ("", "starting", "busy", "idle")
"""What the process of an agent that is at work or waits is; one from outside has none of ours."""


def get_agent(rows: Rows, agent_id: str) -> Agent | None:
    return rows.get(AGENTS, agent_id)


def find_agents(rows: Rows, by: Principal) -> list[Agent]:
    """The agents that a principal may see, oldest first."""
    return [agent for agent in rows.find(AGENTS, {"state": "registered"}, order="_key") if may_see(rows, by, agent)]


def find_present(rows: Rows, by: Principal) -> list[Agent]:
    """As `find_agents`, without those that were made for a run that is over and are kept under no name."""
    there = [a for process in _THERE for a in rows.find(AGENTS, {"state": "registered", "process": process})]
    kept = rows.find(AGENTS, {"state": "registered", "process": "asleep"}, after=("kept_as", ""))
    return sorted((agent for agent in there + kept if may_see(rows, by, agent)), key=lambda agent: agent.id)


def need_agent(rows: Rows, by: Principal, wanted: str) -> Agent:
    """An agent by its id, or the name it is kept as; one that the principal may not see looks like none."""
    kept = [agent for agent in rows.find(AGENTS, {"kept_as": wanted}) if agent.state == "registered"]
    agent = rows.get(AGENTS, wanted) or (kept[-1] if kept else None)
    if agent is None or not may_see(rows, by, agent):
        raise Refused("agent_not_found", "There is no such agent: see `greenroom agent list`.", "not_found")
    return agent


def may_see(rows: Rows, by: Principal, agent: Agent) -> bool:
    """Whether a principal may know of an agent: who may not see all knows those whom the same credential enrolled."""
    if "all" in by.rights or agent.id == by.agent_id:
        return True
    own = rows.get(AGENTS, by.agent_id) if by.agent_id else None
    return agent.enrolled_by == (own.enrolled_by if own else by.credential)


def acts_for(by: Principal, agent: Agent) -> bool:
    """An agent is spoken for by its own credential or by the one that enrolled it, and by nobody else."""
    return by.agent_id == agent.id or (by.credential is not None and by.credential == agent.enrolled_by)


def need_own_agent(rows: Rows, by: Principal, agent_id: str | None) -> Agent:
    """The agent that the principal speaks for; what is not its own looks like what is not there."""
    wanted = agent_id or by.agent_id
    if wanted is None:
        raise Refused("agent_required", "Say which agent acts: agent_id is missing.")
    agent = rows.get(AGENTS, wanted)
    if agent is None or agent.state == "kicked" or not acts_for(by, agent):
        raise agent_not_found(wanted)
    return agent


def agent_not_found(agent_id: str) -> Refused:
    return Refused(
        "agent_not_found",
        f"There is no agent '{agent_id[:80]}' that you speak for: call agent_register, or see `greenroom agent list`.",
        "not_found",
    )
