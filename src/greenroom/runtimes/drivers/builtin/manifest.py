"""How the built-in agent is started and given things."""

import sys

from greenroom.nouns.agents.acp_manifest import AcpManifest, ValueInjection

_PROGRAM = [sys.executable, "-m", "greenroom.builtin"]

BUILTIN = AcpManifest(
    name="builtin",
    command=_PROGRAM,
    libraries=("pydantic_ai",),
    model=ValueInjection(meta={"greenroom": {"model": "{value}"}}),
    temperature=ValueInjection(meta={"greenroom": {"temperature": "{value}"}}),
    instructions=ValueInjection(meta={"greenroom": {"instructions": "{value}"}}),
    second_prompt="queued",
)
