"""How the scripted agent is started and given things."""

import sys

from greenroom.nouns.agents.acp_manifest import AcpManifest, ValueInjection

_PROGRAM = [sys.executable, "-m", "greenroom.rehearsal"]

REHEARSAL = AcpManifest(
    name="rehearsal",
    command=_PROGRAM,
    libraries=(),
    model=ValueInjection(meta={"greenroom": {"model": "{value}"}}),
    temperature=ValueInjection(meta={"greenroom": {"temperature": "{value}"}}),
    instructions=ValueInjection(meta={"greenroom": {"instructions": "{value}"}}),
    second_prompt="queued",
    knows_tasks=True,
)
