"""Words of others make no CLI read a file or run a command, from whichever place they come."""

import contextlib
from collections.abc import Iterator

import pytest

from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.machine_requirements import skip_or_fail
from greenroom.testing.timeouts import TEST_LIMIT_S
from tests.conftest import checked, end_node
from tests.runtimes.acp_rig import CLIS, MORE
from tests.security.foreign_words import PLACES
from tests.security.word_room import SECRET, Room, Unread

pytestmark = pytest.mark.timeout(2 * TEST_LIMIT_S)
EVERYDAY = ("claude",)
INSTALLED = ("claude", "claude attach", "codex", "copilot")
REAL = (*INSTALLED, "opencode", "opencode attach", "gemini", "qwen", "claude-agent-acp", "codex-acp")


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=[] if name in EVERYDAY else pytest.mark.clis, id=name) for name in REAL],
)
def room(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    name: str = request.param
    if not ((CLIS if name in INSTALLED else MORE) / "ready").exists():
        skip_or_fail(f"{name} is not installed: run `make test-clis`")
    folder = tmp_path_factory.mktemp("room")
    (folder / "bodies").mkdir()
    hub = HubProcess(folder / "data", env={"GREENROOM_LOCAL_NODE": "1"})
    try:
        with FakeModel(bodies=folder / "bodies") as model:
            for running in checked(hub):
                with Room(running, model, folder / "bodies", name) as room:
                    yield room
                    room.tidy()
    finally:
        end_node(hub.data)


@pytest.mark.parametrize("place", PLACES)
def test_words_of_others_are_words_only(room: Room, place: str) -> None:
    tag = f"TAG-{list(PLACES).index(place)}-"
    room.look_from_here()
    with contextlib.suppress(Unread):
        PLACES[place](room, tag)
        room.reached(tag)
    seen = room.seen()
    assert SECRET not in seen
    assert "COMMAND-TEXT" not in seen
    assert not [folder for folder in (room.desk, room.desk.parent) if (folder / "made").exists()]
    assert not room.api.get("/api/asks").json()["asks"]
