"""The fixtures of all tests: hubs, each checked on the way out, stages (a hub with a node), and a PostgreSQL server."""

import contextlib
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import psutil
import pytest

from greenroom.app import NOUNS
from greenroom.log.check_postgres import check_postgres
from greenroom.log.check_sqlite import check_sqlite
from greenroom.node.processes import ProcessSpawner, find_tree
from greenroom.testing.hub_process import HubProcess, wait_until
from greenroom.testing.postgres import PostgresServer, postgres_server
from greenroom.testing.timeouts import TEST_LIMIT_S, WAIT_S
from tests.stage import Stage


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # in the background of a script; children would ignore it too
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "one_stage: the tests of a module share a hub and its node")
    config.addinivalue_line("markers", "clis: needs what is in .clis/more, which `make test-clis` installs")
    config.addinivalue_line("markers", "anywhere: starts programs; CI runs it again from a clone with an awkward path")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(TEST_LIMIT_S))
    if "clis" in config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("clis") is not None]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item.get_closest_marker("clis") is None]


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubProcess]:
    """A fresh hub of its own for one test."""
    yield from checked(HubProcess(tmp_path / "data"))


@pytest.fixture(scope="module")
def shared_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """One hub for a whole module, for tests that do not disturb each other."""
    yield from checked(HubProcess(tmp_path_factory.mktemp("hub") / "data"))


def checked(hub: HubProcess) -> Iterator[HubProcess]:
    """Start a hub, and see on the way out that all is in order."""
    hub.start()
    try:
        yield hub
    finally:
        session = hub.pid if hub.is_running() else None
        code = hub.stop()
    assert_in_order(hub, code)
    assert session is None or not find_left(session)


def assert_in_order(hub: HubProcess, code: int = 0) -> None:
    """It ended well, logged no bug and no error of a reactor; and rows, seq, chain and files are as they must be."""
    assert code == 0, hub.stderr
    assert "Traceback" not in hub.stderr, hub.stderr
    database = hub.env.get("GREENROOM_DATABASE")
    checked = check_postgres(hub.data, database, NOUNS) if database else check_sqlite(hub.data, NOUNS)
    assert not checked.findings, checked.findings


def find_left(session: int) -> list[int]:
    """Processes of a hub's session that are still there."""
    left = []
    for pid in psutil.pids():
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            if os.getsid(pid) == session:
                left.append(pid)
    return left


@pytest.fixture
def api(hub: HubProcess) -> Iterator[httpx.Client]:
    """The operator's HTTP client of the hub."""
    with httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {hub.token}"}, timeout=WAIT_S) as client:
        yield client


@pytest.fixture
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """A hub with a node and rehearsal profiles: of its own, unless the module's tests share one."""
    if request.node.get_closest_marker("one_stage") is None:
        yield from staged(tmp_path)
        return
    stage: Stage = request.getfixturevalue("shared_stage")
    yield stage
    with Stage(stage.hub) as after:  # the hub may have been restarted
        after.tidy()


@pytest.fixture(scope="module")
def shared_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One for a whole module, for tests that do not disturb each other."""
    yield from staged(tmp_path_factory.mktemp("stage"))


def staged(folder: Path, awaits_node: bool = True) -> Iterator[Stage]:
    """A hub with a node that is connected. Afterwards no process of it is left."""
    hub = HubProcess(folder / "data", env={"GREENROOM_LOCAL_NODE": "1"})
    try:
        for running in checked(hub):
            with Stage(running) as stage:
                if awaits_node:
                    stage.until(stage.has_node, "the node of the hub")
                yield stage
    finally:
        end_node(hub.data)
    left = [p for p in psutil.process_iter(["cmdline"]) if str(folder) in " ".join(p.info["cmdline"] or [])]
    assert not left, left


def end_node(data: Path) -> None:
    """End the node of a data directory, if it runs or is just starting."""
    for process in psutil.process_iter(["cmdline"]):
        said = process.info["cmdline"] or []
        if "greenroom" in said and "node" in said and str(data) in said:
            with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
                os.kill(process.pid, signal.SIGTERM)
                wait_until(partial(_has_ended, process))


def _has_ended(process: psutil.Process) -> bool:
    """An init may take seconds to collect what has ended."""
    return bool(process.status() == psutil.STATUS_ZOMBIE)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A private server, for as long as the tests run."""
    with postgres_server() as server:
        yield server


@pytest.fixture
def spawner() -> Iterator[ProcessSpawner]:
    """The node's own; nothing that it started may outlive the test."""
    spawner = ProcessSpawner()
    yield spawner
    assert not find_tree(spawner.mark)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
