"""A stage with a real agent CLI on the scripted model, in a folder where words could reach secrets and commands."""

from pathlib import Path
from typing import Any

from greenroom.runtimes.scripted_model import write_model_wiring
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.rules.workflows.plays import Play
from tests.runtimes.acp_rig import CACHE, COMMANDS
from tests.runtimes.native_rig import PROGRAMS
from tests.runtimes.test_claude_attach import KEY, known_home
from tests.stage import ENDED, Stage

SECRET = "what nobody may see"
OWN = {
    "secret.txt": SECRET,
    ".claude/commands/own.md": "---\ndescription: d\n---\nCOMMAND-TEXT $ARGUMENTS",
    ".agents/skills/own/SKILL.md": "---\nname: own\ndescription: d\n---\nCOMMAND-TEXT",
    ".github/skills/own/SKILL.md": "---\nname: own\ndescription: d\n---\nCOMMAND-TEXT",
    ".opencode/command/own.md": "COMMAND-TEXT $ARGUMENTS !`touch made` @secret.txt",
    ".gemini/commands/own.toml": 'prompt = "COMMAND-TEXT {{args}} !{touch made} @{secret.txt}"',
    ".qwen/commands/own.md": "COMMAND-TEXT {{args}} !{touch made} @{secret.txt}",
}
"""What the agent's folder has that such words could reach."""
FIRST = {"claude attach": "!touch made", "codex": "$own", "codex-acp": "$own"}
"""What each CLI would act on at the beginning of a prompt; `/own` with all others."""


class Unread(Exception):
    """The CLI has read nothing at all."""


_WAKES = ["mention", "handoff", "mail"]


class Room(Stage):
    """A stage with one real CLI on the scripted model, in a folder with a secret."""

    def __init__(self, hub: HubProcess, model: FakeModel, bodies: Path, name: str) -> None:
        super().__init__(hub)
        self.name, self._bodies = name, bodies
        self._before: set[Path] = set()
        driver, _, attach = name.partition(" ")
        folder = hub.data.parent
        home, self.desk = folder / "home", folder / "home" / "desk"
        self.outside = folder / "outside.txt"
        self.outside.write_text(SECRET)
        wiring = write_model_wiring(driver, home, model.url)
        assert wiring is not None
        for path, text in OWN.items():
            (self.desk / path).parent.mkdir(parents=True, exist_ok=True)
            (self.desk / path).write_text(text)
        env = {**wiring.env, **CACHE.get(driver, {}), "HOME": str(home)}
        if name == "claude attach":
            known_home(home, self.desk)
            env["ANTHROPIC_API_KEY"] = KEY
        command = [str(PROGRAMS[driver])] if driver in PROGRAMS else COMMANDS[driver]
        self._made: dict[str, Any] = {"driver": driver, "command": command, "env": env, "model": wiring.model}
        self._made |= {"directory": str(self.desk), "wake_on": _WAKES, "start_timeout_s": int(WAIT_S)}
        self._made |= {"options": {"attach": True}} if attach else {}
        self.make("cli")
        self.until(lambda: self.api.get("/api/nodes").json()[0].get("drivers"), "the node")

    def make(self, profile: str, **fields: Any) -> str:
        self.profile(profile, **{**self._made, **fields})
        return profile

    def words(self, tag: str) -> str:
        """One line with every form that a CLI could act on."""
        first, out = FIRST.get(self.name, "/own"), self.outside
        names = f'@{out} @"{out}" @secret.txt @./secret.txt @~/desk/secret.txt @{{{out}}} @file:{out} #{out}'
        return f"{first} {tag} {names} /own $own [$own](skill://own) !`touch made` !{{touch made}}"

    def seen(self) -> str:
        """All that the model was asked since this began to be looked at."""
        return "".join(path.read_text() for path in sorted(self._bodies.iterdir()) if path not in self._before)

    def look_from_here(self) -> None:
        self._before = set(self._bodies.iterdir())

    def reached(self, tag: str) -> None:
        self.until(lambda: tag in self.seen(), f"{tag} to reach the model")
        self.until(lambda: all(run["status"] in ENDED for run in self._runs()), "all runs to be over")

    def _runs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.api.get("/api/runs", params={"limit": 200}).json()
        return found

    def thread(self, topic: str) -> str:
        return str(self.need(self.api.post("/api/threads", json={"topic": topic}))["id"])

    def stranger(self, **fields: Any) -> dict[str, str]:
        """The headers of an agent from outside."""
        body = {"ide": "Outside", "model": "M", **fields}
        return {"Authorization": f"Bearer {self.need(self.api.post('/api/agents/register', json=body))['token']}"}

    def sleeper(self, thread: str, profile: str = "cli") -> str:
        """An agent of the CLI that was invited into a thread, and sleeps."""
        path = f"/api/threads/{thread}/invite"
        told = self.need(self.api.post(path, json={"agent_name": profile, "prompt": "SAY here"}))
        return str(self.end(told["run_id"])["agent_id"])

    def say(self, thread: str, content: str, by: dict[str, str], **fields: Any) -> None:
        self.need(self.api.post(f"/api/threads/{thread}/messages", json={"content": content, **fields}, headers=by))

    def finish(self, steps: list[dict[str, Any]], takes: dict[str, Any], inputs: dict[str, Any]) -> None:
        run, found = Play(self).done(*steps, takes=takes, inputs=inputs)
        assert run["status"] == "completed", (run, found)

    @staticmethod
    def need(answer: Any) -> Any:
        assert answer.status_code < 300, answer.text
        return answer.json()
