"""Starts and stops what is measured, each as a process of its own on a free loopback port."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter, sleep
from typing import NamedTuple

import psutil

from bench.buses import Kind, Target

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".bench"
PEER = WORK / "peer"
PEER_PACKAGES = ("agentchatbus==0.2.2", "mcp<2")  # it does not start with mcp 2
START_LIMIT_S = 60
STOP_LIMIT_S = 15
OURS = {**os.environ, "PYTHONPATH": str(ROOT)}  # a child runs in its data directory


class Missing(Exception):
    """Something the benchmark needs is not there; the text says what to do."""


class Started(NamedTuple):
    target: Target
    start_s: float


@contextmanager
def scratch(name: str) -> Iterator[Path]:
    """A data directory on the project's own disk, so that a commit really reaches one."""
    WORK.mkdir(exist_ok=True)
    path = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=WORK))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def run_greenroom(data: Path) -> Iterator[Started]:
    command = Path(sys.executable).parent / "greenroom"
    if not command.exists():
        raise Missing(f"{command} is not there: run `make setup`")
    ready = data / "hub.json"
    ready.unlink(missing_ok=True)
    env = {**os.environ, "GREENROOM_POSTS_PER_MINUTE": "0", "GREENROOM_LOCAL_NODE": "0"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed hub does not compile its modules at each start
    with child([str(command), "serve", "--data", str(data), "--port", "0"], env, data) as process:
        start = perf_counter()
        wait_until(process, data, lambda: ready.exists() and ready.stat().st_size > 0)
        hub = json.loads(ready.read_text())
        token = (data / "operator.token").read_text().strip()
        wait_until(process, data, lambda: answers(f"{hub['url']}/health"))
        yield Started(Target("greenroom", hub["url"], hub["pid"], token), perf_counter() - start)


@contextmanager
def run_peer(data: Path) -> Iterator[Started]:
    port = find_free_port()
    env = {
        **os.environ,
        "AGENTCHATBUS_DB": str(data / "bus.db"),
        "AGENTCHATBUS_PORT": str(port),
        "AGENTCHATBUS_RELOAD": "0",
        "AGENTCHATBUS_RATE_LIMIT": "0",
    }
    with run_on_port("peer", port, [str(PEER / "bin" / "agentchatbus")], data, "/health", env) as started:
        yield started


@contextmanager
def run_raw(data: Path) -> Iterator[Started]:
    port = find_free_port()
    argv = [sys.executable, "-m", "bench.raw_server", "--port", str(port), "--data", str(data)]
    with run_on_port("raw", port, argv, data, "/", OURS) as started:
        yield started


@contextmanager
def run_noop(data: Path) -> Iterator[Started]:
    port = find_free_port()
    argv = [sys.executable, "-m", "bench.noop_server", "--port", str(port)]
    with run_on_port("noop", port, argv, data, "/mcp", OURS) as started:
        yield started


@contextmanager
def run_on_port(
    kind: Kind, port: int, argv: list[str], data: Path, probe: str, env: Mapping[str, str]
) -> Iterator[Started]:
    url = f"http://127.0.0.1:{port}"
    with child(argv, env, data) as process:
        start = perf_counter()
        wait_until(process, data, lambda: answers(url + probe))
        yield Started(Target(kind, url, process.pid), perf_counter() - start)


@contextmanager
def child(argv: list[str], env: Mapping[str, str], data: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (data / "output.log").open("ab") as output:
        process = subprocess.Popen(argv, cwd=data, env=env, stdout=output, stderr=output, start_new_session=True)
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Stop a server and what it has started: a hub's node is made to outlive the hub, and would write on."""
    family = []
    with suppress(psutil.NoSuchProcess):
        family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for one in family:
        with suppress(psutil.NoSuchProcess):
            one.terminate()
    _, stubborn = psutil.wait_procs(family, STOP_LIMIT_S)
    for one in stubborn:
        one.kill()


def wait_until(process: subprocess.Popen[bytes], data: Path, is_ready: Callable[[], bool]) -> None:
    deadline = perf_counter() + START_LIMIT_S
    while not is_ready():
        if process.poll() is not None or perf_counter() > deadline:
            said = (data / "output.log").read_text(errors="replace")[-2000:]
            raise Missing(f"{process.args!r} did not start:\n{said}")
        sleep(0.005)


def answers(url: str) -> bool:
    """Any HTTP answer will do."""
    try:
        urllib.request.urlopen(url, timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def install_peer() -> None:
    """The peer lives in a virtual environment of its own; made on first use."""
    if (PEER / "bin" / "agentchatbus").exists():
        return
    WORK.mkdir(exist_ok=True)
    pip = [str(PEER / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for argv in ([sys.executable, "-m", "venv", str(PEER)], [*pip, *PEER_PACKAGES]):
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(PEER, ignore_errors=True)
            raise Missing(f"the peer could not be installed (or run with --no-peer):\n{done.stderr.strip()[-1500:]}")
