"""The profiles that ship with Greenroom: one for each known agent that needs no further settings."""

from greenroom.link.profile_definition import ProfileDefinition
from greenroom.runtimes.agents import AGENTS

SHIPPED: dict[str, ProfileDefinition] = {agent.name: agent.profile for agent in AGENTS if agent.profile}
