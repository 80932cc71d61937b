"""A testbed for a runtime: a hub and a scripted model of its own, as processes that end with the check."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from greenroom.cli.client import HubClient
from greenroom.errors import Refused
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.node.launch_env import build_environment
from greenroom.runtimes.conformance_trial import MakeOpening
from greenroom.runtimes.contract import SessionOptions
from greenroom.runtimes.programs import write_private
from greenroom.runtimes.scripted_model import write_model_wiring

_READY_S = 30.0


@contextlib.asynccontextmanager
async def open_testbed(driver: str, definition: ProfileDefinition, folder: Path) -> AsyncIterator[MakeOpening]:
    """How to open sessions of a runtime for as long as this lasts. It has a home of its own in the folder."""
    home = folder / "home"
    for path in (home / "desk", folder / "scratch"):
        path.mkdir(mode=0o700, parents=True)
    model = [sys.executable, "-m", "greenroom.testing.fake_llm", "--port", "0"]
    hub = [sys.executable, "-m", "greenroom", "serve", "--data", str(folder / "hub"), "--port", "0"]
    async with _run_program(model) as model_says, _run_program(hub, GREENROOM_LOCAL_NODE="0") as hub_says:
        model_url, hub_url = model_says.split()[-1], hub_says.partition("ready at ")[2].split()[0]
        client = HubClient(hub_url, (folder / "hub" / "operator.token").read_text().strip())
        agent = await asyncio.to_thread(client.post, "agents", "register", body={"ide": driver, "model": "scripted"})
        wiring = write_model_wiring(driver, home, model_url)
        own = {name: value.replace("{model_url}", model_url) for name, value in definition.env.items()}
        env = {
            **build_environment(definition, dict(os.environ)),
            "HOME": str(home),
            **(wiring.env if wiring else {}),
            **own,
        }

        def make_opening(resume: str | None) -> SessionOptions:
            return SessionOptions(
                command=definition.command or (wiring.command if wiring else []),
                directory=home / "desk",
                scratch=folder / "scratch",
                env=env,
                hub_url=f"{hub_url}/mcp",
                token_file=write_private(folder / "scratch" / "token", agent["token"]),
                model=definition.model or (wiring.model if wiring else None),
                instructions=definition.instructions,
                resume=resume,
                options=definition.options or (wiring.options if wiring else {}),
            )

        yield make_opening


@contextlib.asynccontextmanager
async def _run_program(command: list[str], **env: str) -> AsyncIterator[str]:
    """A program of ours, from its first line until it is not needed any more."""
    null, pipe = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, **env}, stdin=null, stdout=pipe, stderr=null, start_new_session=True
    )
    try:
        assert process.stdout is not None  # noqa: S101 opened as a pipe
        async with asyncio.timeout(_READY_S):
            first = (await process.stdout.readline()).decode()
        if not first:
            raise Refused.in_words("no_stand", f"`{' '.join(command[1:4])}` did not start here.")
        yield first
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
