"""The scripted agent that ships with Greenroom, driven like any other over ACP."""

import sys
from pathlib import Path

from greenroom.link.profile_definition import ProfileDefinition
from greenroom.runtimes.acp_manifest import AcpManifest, ValueInjection
from greenroom.runtimes.agent_cli import AgentCli, DriverInfo, SamplePrompts
from greenroom.runtimes.model_script import ModelScript, ModelWiring
from greenroom.runtimes.prompt_text import DATA
from greenroom.sentences import build_sentence

MANIFEST = AcpManifest(
    name="rehearsal",
    command=[sys.executable, "-m", "greenroom.rehearsal"],
    libraries=(),
    model=ValueInjection(meta={"greenroom": {"model": "{value}"}}),
    temperature=ValueInjection(meta={"greenroom": {"temperature": "{value}"}}),
    instructions=ValueInjection(meta={"greenroom": {"instructions": "{value}"}}),
    second_prompt="queued",
    knows_tasks=True,
)
SCRIPT = ModelScript(
    say="SAY TEXT\nUSAGE 1000 50",
    command="SHELL COMMAND\nSAY TEXT",
    hub_tool="TOOL bus_get_config {}\nSAY TEXT",
    slow="SAY beginning\nSLEEP 30",
    tokens=(1000, 50),
)
SAMPLES = SamplePrompts(
    task=(
        "# {title}\nSAY {hello}\nSHELL echo hello > visited.txt && cat visited.txt\nASK {question}\nUSAGE 1200 90 0\n"
        "SAY {end}"
    ),
    reply="# {title}\nPOST {thread_id} {text}",
    say="SAY {text}",
)


def _wire_model(home: Path, model_url: str) -> ModelWiring:
    return ModelWiring(env={"GREENROOM_REHEARSAL_STATE": str(home / "state")})


REHEARSAL = AgentCli(
    name="rehearsal",
    display_name="Rehearsal",
    drivers=(
        DriverInfo(
            name=MANIFEST.name,
            manifest=MANIFEST,
            quoting=DATA,
            untold=frozenset(),
            samples=SAMPLES,
            script=SCRIPT,
            wire_model=_wire_model,
        ),
    ),
    profile=ProfileDefinition(
        driver="rehearsal",
        display_name="Rehearsal",
        description=build_sentence("profile_about.rehearsal"),
        type="builtin",
        max_depth=5,
    ),
    tools={"execute": "shell", "write": "edit write"},
)
