"""A hub whose log is gone is not replaced by a new one without a word."""

import shutil
from pathlib import Path

import pytest

from greenroom.testing.hub_process import HubEnded, HubProcess
from greenroom.testing.postgres import postgres_server


def refusal(data: Path, env: dict[str, str] | None = None) -> str:
    with pytest.raises(HubEnded) as ended:
        HubProcess(data, env).start()
    assert ended.value.code == 1
    return str(ended.value)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data directory of a hub that has run."""
    with HubProcess(tmp_path / "data") as hub:
        assert hub.token
    return tmp_path / "data"


def test_a_directory_with_the_token_of_a_hub_and_no_database_is_refused(data: Path) -> None:
    for name in ("greenroom.db", "greenroom.db-wal", "greenroom.db-shm", "head"):
        (data / name).unlink(missing_ok=True)
    assert "operator.token of a hub, but its log is empty" in refusal(data)
    assert "greenroom restore" in refusal(data)
    with HubProcess(data, args=("--new",)) as hub:
        assert hub.token


def test_an_empty_directory_where_there_was_a_hub_is_refused(data: Path) -> None:
    shutil.rmtree(data)
    data.mkdir()
    said = refusal(data)
    assert "There was a hub in" in said
    assert "disk is mounted" in said
    with HubProcess(data, args=("--new",)):
        pass
    with HubProcess(data):
        pass


def test_a_removed_directory_where_there_was_a_hub_is_refused(data: Path) -> None:
    shutil.rmtree(data)
    assert "There was a hub in" in refusal(data)


def test_an_empty_database_beside_the_files_of_a_hub_is_refused(tmp_path: Path) -> None:
    with postgres_server() as server:
        with HubProcess(tmp_path / "data", {"GREENROOM_DATABASE": server.create_database()}) as hub:
            assert hub.token
        other = {"GREENROOM_DATABASE": server.create_database()}
        assert "another one is meant" in refusal(tmp_path / "data", other)


def test_a_directory_that_holds_only_settings_takes_a_new_hub(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "agents").mkdir(parents=True)
    (data / "greenroom.toml").write_text("posts_per_minute = 0\n")
    with HubProcess(data) as hub:
        assert hub.token
