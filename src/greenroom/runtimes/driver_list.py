"""All drivers by name, with what they take. Listing them loads none of them."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from greenroom import validation
from greenroom.json_types import UncheckedOptions
from greenroom.runtimes.agent_cli import DriverInfo
from greenroom.runtimes.agents import AGENTS
from greenroom.runtimes.driver_options import CommandOptions, McpOptions, OwnAcpOptions, PtyOptions
from greenroom.runtimes.model_script import ModelScript, ModelWiring
from greenroom.runtimes.prompt_text import DATA, PromptQuoting
from greenroom.sentences import Sentence

if TYPE_CHECKING:
    from greenroom.runtimes.contract import Driver

_OF_AGENTS = tuple(driver for agent in AGENTS for driver in agent.drivers)
_CLI_NAME = re.compile(
    rf"(?<![a-z])(?:{'|'.join(sorted(agent.program for agent in AGENTS if agent.program))})(?![a-z])", re.IGNORECASE
)
"""Names an agent CLI anywhere in a command: also what `env`, `timeout`, `npx` or a shell starts."""
_SWITCHED_OFF = {name: value for driver in _OF_AGENTS for name, value in driver.quoting.env.items()}
"""What keeps each known CLI from acting on words: any of them may be behind a program that is not known."""
_UNKNOWN = PromptQuoting(env=_SWITCHED_OFF, all_mentions=True, skills=True, keywords=True)
_CLI = msgspec.structs.replace(_UNKNOWN, commands=True)
_TYPED_CLI = msgspec.structs.replace(_CLI, pastes=True)
_NO_CONVERSATION = frozenset({"model", "system_prompt", "temperature"})


def _load_pty() -> "Driver":
    from greenroom.runtimes.drivers.pty.driver import PtyDriver

    return PtyDriver()


def _load_command() -> "Driver":
    from greenroom.runtimes.drivers.command.driver import CommandDriver

    return CommandDriver()


def _load_mcp() -> "Driver":
    from greenroom.runtimes.drivers.mcp.driver import McpDriver

    return McpDriver()


def _wire_mcp(home: Path, model_url: str) -> ModelWiring:
    command = [sys.executable, "-m", "greenroom.testing.scripted_tool"]
    return ModelWiring(env={}, command=command, options={"tool": "perform", "prompt_argument": "script"})


_GENERAL = (
    DriverInfo(name="acp", options=OwnAcpOptions, quoting=_UNKNOWN),
    DriverInfo(name="pty", load_own_driver=_load_pty, options=PtyOptions, quoting=_UNKNOWN, untold=_NO_CONVERSATION),
    DriverInfo(
        name="command",
        load_own_driver=_load_command,
        options=CommandOptions,
        quoting=msgspec.structs.replace(DATA, env=_SWITCHED_OFF),
        untold=_NO_CONVERSATION,
    ),
    DriverInfo(
        name="mcp",
        load_own_driver=_load_mcp,
        options=McpOptions,
        quoting=DATA,
        untold=_NO_CONVERSATION,
        script=ModelScript(command=None, hub_tool=None, slow="SLEEP 30", recall=None),
        wire_model=_wire_mcp,
    ),
)
DRIVER_INFOS: Mapping[str, DriverInfo] = {driver.name: driver for driver in (*_OF_AGENTS, *_GENERAL)}


def load_driver(name: str) -> "Driver":
    """One driver. The first time takes long: it imports the code that the driver needs."""
    return DRIVER_INFOS[name].load_driver()


def load_drivers() -> dict[str, "Driver"]:
    """All drivers."""
    return {name: driver.load_driver() for name, driver in DRIVER_INFOS.items()}


def choose_quoting(driver: str, command: list[str], options: Mapping[str, Any]) -> PromptQuoting:
    """How text gets into the runtime of a profile: an agent CLI is more than a program that reads data."""
    if driver in ("pty", "command") and any(map(_CLI_NAME.search, command)):
        return _TYPED_CLI if driver == "pty" else _CLI
    info = DRIVER_INFOS[driver]
    return info.attached_quoting if info.attached_quoting and options.get("attach") else info.quoting


def find_wrong_option(driver: str, options: UncheckedOptions) -> Sentence | None:
    """The first option that a driver does not take, with what to write instead. Nothing is known of other drivers."""
    info = DRIVER_INFOS.get(driver)
    if info is None:
        return None
    try:
        msgspec.convert(options, info.options)
    except msgspec.ValidationError as error:
        key, problem = validation.explain_error(error, info.options)
        return validation.build_named_problem(f"options.{key}" if key else "options", problem)
    return None
