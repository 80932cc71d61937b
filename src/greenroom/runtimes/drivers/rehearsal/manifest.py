"""How the scripted agent is started and given things."""

import sys

from greenroom.nouns.agents.acp_manifest import Given, Manifest

_PROGRAM = [sys.executable, "-m", "greenroom.rehearsal"]

REHEARSAL = Manifest(
    name="rehearsal",
    command=_PROGRAM,
    libraries=(),
    model=Given(meta={"greenroom": {"model": "{value}"}}),
    temperature=Given(meta={"greenroom": {"temperature": "{value}"}}),
    instructions=Given(meta={"greenroom": {"instructions": "{value}"}}),
    second_prompt="queued",
    knows_tasks=True,
)
