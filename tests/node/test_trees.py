"""Trees of processes: found and ended as a whole, many of them with little more work than one."""

import asyncio
import os
import time
from pathlib import Path

import psutil
import pytest

from greenroom.node.processes import Child, ProcessSpawner, find_tree

pytestmark = pytest.mark.anyio
_MANY = 60
_SCRIPT = "sleep 600 & (trap '' TERM; sleep 600) & echo there; sleep 600"


async def start(folder: Path, count: int) -> list[tuple[ProcessSpawner, Child]]:
    """Trees of several processes each, some of which do not end when they are asked to."""
    spawners = [ProcessSpawner() for _ in range(count)]
    env = {"PATH": os.environ["PATH"]}
    children = [await one.spawn(["sh", "-c", _SCRIPT], folder, env) for one in spawners]
    for child in children:
        assert await child.read_line() == b"there\n"
    return list(zip(spawners, children, strict=True))


async def end(trees: list[tuple[ProcessSpawner, Child]]) -> float:
    """How much of the processor it takes to end them."""
    pids = [pid for spawner, _ in trees for pid in find_tree(spawner.mark)]
    before = time.process_time()
    await asyncio.gather(*(child.end(0.2) for _, child in trees))
    spent = time.process_time() - before
    assert not any(find_tree(spawner.mark) for spawner, _ in trees)
    assert not [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]
    return spent


async def test_many_trees_are_ended_with_little_more_work_than_one(tmp_path: Path) -> None:
    trees = await start(tmp_path, _MANY)
    alone = max([await end([tree]) for tree in trees[:3]])
    assert await end(trees[3:]) < alone * _MANY / 4
