"""A model that OpenCode does not know is refused before anything is sent: it would take another, and ask that."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from greenroom.testing.fake_llm import FakeModel
from tests.cli.shell import greenroom
from tests.clis.hub_stage import install, run_stage
from tests.stage import Stage

pytestmark = pytest.mark.clis
SAID = "there is no model 'fake/fake-modle'"
MEANT = "did you mean 'fake/fake-model'?"
FILE = """\
name: reviewed
steps:
  - id: review
    agent_runtime: opencode
    agent_config:
      model: {model}
    prompt: SAY looks good
"""


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, model: FakeModel) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("stage")
    (folder / "home").mkdir()
    for stage in run_stage(folder):
        install(stage, "opencode", folder / "home", model)
        yield stage


@pytest.mark.parametrize("name", ["fake/fake-modle", "opencode/glm-4.7-free"])
def test_a_run_ends_before_the_model_is_asked(stage: Stage, model: FakeModel, name: str) -> None:
    run = stage.done("SAY hello", profile="opencode", model=name)
    assert run["status"] == "failed"
    assert f"there is no model '{name}'" in run["error"]
    assert "fake/fake-model" in run["error"]
    assert model.log == []


def test_profile_check_names_the_model_that_was_meant(stage: Stage) -> None:
    found = stage.api.get("/api/profile-check", params={"name": "opencode", "model": "fake/fake-modle"}).json()
    (checked,) = found["profiles"]
    assert not checked["ok"]
    (problem,) = checked["nodes"][0]["problems"]
    assert (SAID in problem, MEANT in problem) == (True, True), problem
    assert stage.api.get("/api/profile-check", params={"name": "opencode"}).json()["profiles"][0]["ok"]


def test_a_workflow_that_names_it_is_wrong_at_its_line(stage: Stage, tmp_path: Path) -> None:
    text = FILE.format(model="fake/fake-modle")
    checked = stage.api.post("/api/workflow-check", json={"text": text}).json()
    (problem,) = checked["problems"]
    assert (problem["code"], problem["line"], problem["step"]) == ("unknown_model", 6, "review")
    assert (problem["message"], problem["remedy"]) == (SAID, MEANT)
    file = tmp_path / "reviewed.yaml"
    file.write_text(text)
    told = greenroom(stage.hub.data, "dag", "validate", str(file))
    assert told.code == 1
    assert f"reviewed.yaml:6: step 'review': {SAID}; {MEANT}" in told.out
    file.write_text(FILE.format(model="fake/fake-model"))
    assert greenroom(stage.hub.data, "dag", "validate", str(file)).code == 0
