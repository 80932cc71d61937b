"""Each agent that Greenroom knows has a folder, and the folders do not contradict each other."""

from collections import defaultdict
from pathlib import Path

import pytest

from greenroom.runtimes import agents
from greenroom.runtimes.agent_cli import AgentCli
from greenroom.runtimes.agents import AGENTS
from greenroom.runtimes.driver_list import DRIVER_INFOS, find_wrong_option
from greenroom.runtimes.tool_kinds import get_tool_kind

FOLDERS = {path.parent.name for path in Path(agents.__file__).parent.glob("*/__init__.py")}


def test_every_folder_is_an_agent_of_that_name_and_in_the_list() -> None:
    assert sorted(agent.name for agent in AGENTS) == sorted(FOLDERS)


def test_no_two_agents_mean_different_things_by_the_name_of_a_tool() -> None:
    meant: dict[str, set[str]] = defaultdict(set)
    for agent in AGENTS:
        for kind, tools in agent.tools.items():
            for tool in tools.split():
                meant[tool] |= {kind, get_tool_kind(tool)}
    assert not {tool: kinds for tool, kinds in meant.items() if len(kinds) > 1}


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_what_ships_of_an_agent_fits_together(agent: AgentCli) -> None:
    for driver in agent.drivers:
        assert DRIVER_INFOS[driver.name] is driver
        assert driver.manifest is None or driver.manifest.name == driver.name
    if agent.profile is not None:
        assert agent.profile.driver in {driver.name for driver in agent.drivers}
        assert find_wrong_option(agent.profile.driver, agent.profile.options) is None
