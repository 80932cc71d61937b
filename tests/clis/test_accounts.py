"""What a run books is what the model was asked, to the token, with each of the five CLIs and however the run goes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.fake_llm.answer import TOKENS_IN, TOKENS_OUT
from tests.clis.five import FIVE
from tests.clis.hub_stage import install, run_stage
from tests.stage import Stage

pytestmark = pytest.mark.clis
TOLD_OF_CUT = {"claude": (TOKENS_IN, 1)}
"""What a CLI knows of a call that was cut off: this one's model tells the input first, others all of it at the end."""
WITH_TOOLS = "\n".join(
    [*(f'USE_TOOL msg_search {{"query": "{word}"}}' for word in ("one", "two", "three")), "SAY done"]
)
WAITING = 'REPEAT 9\nUSE_TOOL mail_wait {"timeout_ms": 3000}\nEND\nSAY done'
"""There is time to stop the agent before it asks the model again."""


class Books:
    """One CLI on a model of its own; all that its runs have booked, beside what the model has answered."""

    def __init__(self, name: str, stage: Stage, model: FakeModel) -> None:
        self.name = name
        self.stage = stage
        self.model = model
        self._runs: list[str] = []

    def start(self, prompt: str, **fields: Any) -> str:
        self._runs.append(self.stage.start(prompt, profile=self.name, **fields))
        return self._runs[-1]

    def done(self, prompt: str, **fields: Any) -> dict[str, Any]:
        return self._completed(self.start(prompt, **fields))

    def continued(self, run_id: str, prompt: str) -> dict[str, Any]:
        made = self.stage.api.post(f"/api/runs/{run_id}/continue", json={"prompt": prompt})
        assert made.status_code == 201, made.text
        self._runs.append(made.json()["id"])
        return self._completed(self._runs[-1])

    def booked(self) -> tuple[int, int]:
        runs = [self.stage.run(run_id) for run_id in self._runs]
        return sum(run.get("input_tokens", 0) for run in runs), sum(run.get("output_tokens", 0) for run in runs)

    def agree(self, cut: int = 0, *, may_be_stopped: bool = False) -> None:
        """Wait until both say the same: the model's last answer, and a cancelled run's account, come after the fact.

        A run that is stopped between two calls may not read the answer to the next: then it says that there is more.
        """
        told = TOLD_OF_CUT.get(self.name, (0, 0))

        def asked(unread: int = 0) -> tuple[int, int]:
            calls, lost = self.model.answered - unread, cut + unread
            return calls * TOKENS_IN + lost * told[0], calls * TOKENS_OUT + lost * told[1]

        def agree() -> bool:
            is_partial = any(self.stage.run(run_id).get("is_usage_partial") for run_id in self._runs)
            unread = (0, 1) if may_be_stopped and is_partial else (0,)
            return self.booked() in [asked(number) for number in unread]

        try:
            self.stage.until(agree, "the same")
        except AssertionError:
            raise AssertionError(f"booked {self.booked()}, asked {asked()}\n{self.model.tail(20)}") from None

    def _completed(self, run_id: str) -> dict[str, Any]:
        run = self.stage.end(run_id)
        assert run["status"] == "completed", (run, self.model.tail())
        return run


@pytest.fixture(scope="module")
def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    yield from run_stage(tmp_path_factory.mktemp("stage"))


@pytest.fixture(params=FIVE)
def books(request: pytest.FixtureRequest, shared_stage: Stage, tmp_path: Path) -> Iterator[Books]:
    with FakeModel() as model:
        install(shared_stage, str(request.param), tmp_path, model)
        yield Books(str(request.param), shared_stage, model)
        shared_stage.tidy()


def test_a_plain_answer(books: Books) -> None:
    run = books.done("SAY hello")
    books.agree()
    assert books.model.answered == 1, books.model.tail()
    assert not run.get("is_usage_partial")


def test_an_answer_with_tools(books: Books) -> None:
    run = books.done(WITH_TOOLS)
    books.agree()
    assert (books.model.answered, run["calls"]) == (4, 3), books.model.tail()
    assert not run.get("is_usage_partial")


@pytest.mark.parametrize("keep", [False, True], ids=["ended", "kept"])
def test_a_run_that_is_cancelled_while_the_model_answers(books: Books, keep: bool) -> None:
    run_id = books.start('USE_TOOL msg_search {"query": "one"}\nSLOW 900 0.2', keep=keep)
    books.stage.until(lambda: "said" in [item["kind"] for item in books.stage.items(run_id)], "its first words")
    assert books.stage.api.post(f"/api/runs/{run_id}/cancel", json={}).is_success
    books.agree(cut=1)
    books.stage.until(lambda: books.stage.run(run_id).get("is_usage_partial"), "it to be told that there was more")


def test_a_run_that_goes_on_in_a_new_process(books: Books) -> None:
    first = books.done(WITH_TOOLS)
    second = books.continued(first["id"], 'USE_TOOL msg_search {"query": "four"}\nSAY resumed')
    assert (second["output"], second["calls"], second["session"]) == ("resumed", 1, first["session"])
    said = "".join(item["data"]["text"] for item in books.stage.items(second["id"]) if item["kind"] == "said")
    assert said == "resumed"
    books.agree()
    if first.get("cost_usd") is not None:
        assert second["cost_usd"] == pytest.approx(first["cost_usd"] / 2)


def test_a_run_that_reaches_its_limit_is_stopped_there_and_goes_on_when_it_may(books: Books) -> None:
    run_id = books.start(WAITING, max_tokens=2 * TOKENS_IN)
    ask = books.stage.asked()
    assert "of 2000 tokens" in ask["why"], ask
    books.agree(may_be_stopped=True)
    assert books.model.answered in (2, 3), books.model.tail()
    assert books.stage.decide(ask["id"], "approve").is_success
    assert books.stage.end(run_id)["status"] == "completed", books.model.tail()
    books.agree(may_be_stopped=True)
