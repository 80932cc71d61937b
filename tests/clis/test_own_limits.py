"""A limit that is not Greenroom's, of a CLI or of its model's API: the run ends as failed and says which one it was."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from greenroom.runtimes.scripted_model import write_model_wiring
from greenroom.testing.fake_llm import FakeModel
from tests.clis.five import FIVE
from tests.clis.hub_stage import install, run_stage
from tests.stage import Stage

pytestmark = pytest.mark.clis
SEARCHES = "\n".join(f'USE_TOOL msg_search {{"query": "{word}"}}' for word in ("one", "two", "three", "four"))
TOO_LONG = {
    "claude": "Prompt is too long",
    "codex": "ran out of room in the model's context window",
    "copilot": "maximum context length is 128000 tokens",
    "opencode": "maximum context length is 128000 tokens",
    "gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
}
REFUSED = {
    429: {
        "claude": "Request rejected (429) · fake rate limit reached",
        "codex": "429 Too Many Requests",
        "copilot": "429 fake rate limit reached",
        "opencode": "fake rate limit reached",
        "gemini": "fake rate limit reached",
    },
    529: {
        "claude": "529 the fake model is overloaded",
        "codex": "529",
        "copilot": "529 the fake model is overloaded",
        "opencode": "the fake model is overloaded",
        "gemini": "the fake model is overloaded",
    },
}
FEW_TRIES = {"claude": {"CLAUDE_CODE_MAX_RETRIES": "1"}}
"""By itself Claude Code tries for three minutes."""


@pytest.fixture(scope="module")
def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    yield from run_stage(tmp_path_factory.mktemp("stage"))


@pytest.fixture
def stage(shared_stage: Stage) -> Iterator[Stage]:
    yield shared_stage
    shared_stage.tidy()


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


def set_gemini(home: Path, **settings: Any) -> None:
    path = home / ".gemini" / "settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **settings}))


def fail(stage: Stage, name: str, prompt: str, model: FakeModel) -> str:
    """Start a run that fails, and return what it says of that."""
    run = stage.end(stage.start(prompt, profile=name))
    assert run["status"] == "failed", (run, model.tail())
    return str(run["error"])


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--max-turns", "2"], "Reached maximum number of turns (2)"),
        (["--max-budget-usd", "0.004"], "Reached maximum budget ($0.004)"),
    ],
    ids=["turns", "budget"],
)
def test_claude_code_reaches_a_limit_of_its_own(
    stage: Stage, model: FakeModel, tmp_path: Path, args: list[str], says: str
) -> None:
    install(stage, "claude", tmp_path, model, args)
    assert fail(stage, "claude", SEARCHES, model) == says


def test_gemini_reaches_its_limit_of_requests(stage: Stage, model: FakeModel, tmp_path: Path) -> None:
    install(stage, "gemini", tmp_path, model)
    set_gemini(tmp_path, model={"maxSessionTurns": 2})
    said = fail(stage, "gemini", SEARCHES, model)
    assert said == "the agent's runtime reached its limit of requests for one turn"


def test_opencode_reaches_its_limit_of_steps(stage: Stage, model: FakeModel, tmp_path: Path) -> None:
    wiring = write_model_wiring("opencode", tmp_path, model.url)
    assert wiring is not None
    config = {**json.loads(wiring.env["OPENCODE_CONFIG_CONTENT"]), "agent": {"build": {"steps": 2}}}
    install(stage, "opencode", tmp_path, model, env={"OPENCODE_CONFIG_CONTENT": json.dumps(config)})
    assert fail(stage, "opencode", SEARCHES, model) == "OpenCode reached its limit of 2 steps for one turn"


@pytest.mark.parametrize("name", FIVE)
def test_a_conversation_becomes_longer_than_the_model_can_read(
    stage: Stage, model: FakeModel, tmp_path: Path, name: str
) -> None:
    """Claude Code sums up a longer conversation, and goes on."""
    install(stage, name, tmp_path, model)
    prompt = "TOO_LONG" if name == "claude" else 'USE_TOOL msg_search {"query": "one"}\nTOO_LONG'
    assert TOO_LONG[name] in fail(stage, name, prompt, model)


@pytest.mark.parametrize("status", REFUSED)
@pytest.mark.parametrize("name", FIVE)
def test_the_models_api_says_no_for_longer_than_the_cli_tries(
    stage: Stage, model: FakeModel, tmp_path: Path, name: str, status: int
) -> None:
    install(stage, name, tmp_path, model, env=FEW_TRIES.get(name, {}))
    if name == "gemini":
        set_gemini(tmp_path, general={"maxAttempts": 2})
    assert REFUSED[status][name] in fail(stage, name, f"ERROR {status}", model)
