"""How the built-in agent is started and given things."""

import sys

from greenroom.nouns.agents.acp_manifest import Given, Manifest

_PROGRAM = [sys.executable, "-m", "greenroom.builtin"]

BUILTIN = Manifest(
    name="builtin",
    command=_PROGRAM,
    libraries=("pydantic_ai",),
    model=Given(meta={"greenroom": {"model": "{value}"}}),
    temperature=Given(meta={"greenroom": {"temperature": "{value}"}}),
    instructions=Given(meta={"greenroom": {"instructions": "{value}"}}),
    second_prompt="queued",
)
