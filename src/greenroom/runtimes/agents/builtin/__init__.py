"""A model with the hub's tools, as an ACP agent that ships with Greenroom."""

import sys
from pathlib import Path

import msgspec

from greenroom.runtimes.acp_manifest import AcpManifest, ValueInjection
from greenroom.runtimes.agent_cli import AgentCli, DriverInfo
from greenroom.runtimes.model_script import FAKE_SCRIPT, ModelWiring
from greenroom.runtimes.prompt_text import DATA

_MANIFEST = AcpManifest(
    name="builtin",
    command=[sys.executable, "-m", "greenroom.builtin"],
    libraries=("pydantic_ai",),
    model=ValueInjection(meta={"greenroom": {"model": "{value}"}}),
    temperature=ValueInjection(meta={"greenroom": {"temperature": "{value}"}}),
    instructions=ValueInjection(meta={"greenroom": {"instructions": "{value}"}}),
    second_prompt="queued",
)


def _wire_model(home: Path, model_url: str) -> ModelWiring:
    return ModelWiring(env={"OPENAI_BASE_URL": f"{model_url}/v1", "OPENAI_API_KEY": "fake"}, model="openai:fake-model")


BUILTIN = AgentCli(
    name="builtin",
    display_name="Greenroom",
    drivers=(
        DriverInfo(
            name=_MANIFEST.name,
            manifest=_MANIFEST,
            quoting=DATA,
            untold=frozenset(),
            script=msgspec.structs.replace(FAKE_SCRIPT, command=None),
            wire_model=_wire_model,
        ),
    ),
)
