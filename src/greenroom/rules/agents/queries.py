"""Lists agents, and finds who may act for one."""

from greenroom.errors import Refused
from greenroom.log.model import Rows
from greenroom.rules.access.model import CREDENTIALS, Principal
from greenroom.rules.agents.model import AGENTS, Agent
from greenroom.rules.nodes.model import NODES


def get_agent(rows: Rows, agent_id: str) -> Agent | None:
    return rows.get(AGENTS, agent_id)


def get_known_name(rows: Rows, principal_id: str) -> str:
    """The name by which people know an agent, a person or a node; the id itself where there is none."""
    if (agent := rows.get(AGENTS, principal_id)) is not None:
        return agent.display_name or agent.name
    if (credential := rows.get(CREDENTIALS, principal_id)) is not None:
        return credential.person or credential.name
    node = rows.get(NODES, principal_id)
    return principal_id if node is None else node.name


def may_act_for(by: Principal, agent: Agent) -> bool:
    """Only an agent's own credential, and the one that enrolled it, can act for it."""
    return by.agent_id == agent.id or (by.credential is not None and by.credential == agent.enrolled_by)


def need_own_agent(rows: Rows, by: Principal, agent_id: str | None) -> Agent:
    """The agent that the principal acts for; other agents look like agents that do not exist."""
    wanted = agent_id or by.agent_id
    if wanted is None:
        raise Refused("agent_required")
    agent = rows.get(AGENTS, wanted)
    if agent is None or agent.state == "kicked" or not may_act_for(by, agent):
        raise agent_not_found(wanted)
    return agent


def agent_not_found(agent_id: str) -> Refused:
    return Refused("agent_not_found.speaker", "not_found", agent_id=agent_id[:80])
