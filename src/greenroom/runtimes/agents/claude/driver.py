"""Opens sessions of Claude Code."""

import contextlib

from greenroom.json_types import JsonObject
from greenroom.runtimes.agents.claude import manifest
from greenroom.runtimes.agents.claude.launch import HOOKS, plan_launch
from greenroom.runtimes.agents.claude.session import ClaudeSession
from greenroom.runtimes.agents.claude.session_usage import read_totals
from greenroom.runtimes.agents.claude.terminal_session import ClaudeTerminalSession
from greenroom.runtimes.agents.claude.transcript_usage import TranscriptUsage, find_transcripts
from greenroom.runtimes.contract import InstalledRuntime, Opened, SessionOptions, Spawner
from greenroom.runtimes.drivers.pty.driver import COLUMNS, ROWS
from greenroom.runtimes.launch_error import build_early_end
from greenroom.runtimes.programs import find_program, write_private
from greenroom.runtimes.transports.pty import TerminalLine


class ClaudeDriver:
    """Drives Claude Code."""

    name = manifest.NAME

    async def find(self, env: dict[str, str]) -> InstalledRuntime | None:
        return await find_program(manifest.COMMAND[0], manifest.VERSION, env)

    async def open(self, opening: SessionOptions, spawner: Spawner) -> ClaudeSession | ClaudeTerminalSession:
        token = opening.token_file.read_text().strip() if opening.token_file else None
        launch = plan_launch(opening, token)
        for path, text in launch.files.items():
            write_private(path, text)
        if launch.options.attach:
            ledger = TranscriptUsage(find_transcripts(launch.env, launch.session))
            terminal = await spawner.spawn_terminal(launch.command, opening.directory, launch.env, ROWS, COLUMNS)
            return ClaudeTerminalSession(
                TerminalLine(terminal), launch.session, opening.scratch / HOOKS, ledger, opening.hub_asked
            )
        process = await spawner.spawn(launch.command, opening.directory, launch.env)
        session = ClaudeSession(process, gates_all=launch.options.gate == "all")
        try:
            hello = await session.initialize()
            if opening.resume:
                await _load_earlier_usage(session)
        except ConnectionError:
            await session.close()
            words = process.last_words().strip()
            raise build_early_end("Claude Code", words) from None
        except BaseException:
            await session.close()
            raise
        details: JsonObject = {
            "agent": {"name": "Claude Code", "version": hello.get("claude_code_version")},
            "hub": opening.hub_url is not None,
        }
        session.begin(Opened(launch.session, details))
        return session


async def _load_earlier_usage(session: ClaudeSession) -> None:
    """Learn what the session has used so far, which its results will count again."""
    before = None
    with contextlib.suppress(ValueError):  # an older version does not report it
        used = (await session.control("get_usage")).get("session")
        before = read_totals(used.get("model_usage"), used.get("total_cost_usd")) if isinstance(used, dict) else None
    session.account.resume_from(before)
