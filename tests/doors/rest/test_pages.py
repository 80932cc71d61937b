"""Every list that is read in pages: each row is there once, though many were made in the same millisecond."""

import asyncio
import itertools
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest

from docs.write_reference import endpoints
from tests.conftest import shared_stage as shared_stage
from tests.stage import ENDED, Stage

_ROWS = 24
_SIZES = (1, 2, 3, 7, _ROWS, 100)
_FAR = 2**52
Json = dict[str, Any]
_numbers = itertools.count(1)


class PagedList(NamedTuple):
    """How a list is read, and how a row of it is made."""

    route: str
    path: str
    rows: str
    """Where in the answer the rows are; empty if they are all of it."""
    place: str
    """The argument that says where to go on."""
    following: str
    """What it is given: of the answer, or of the last row if the answer is but rows."""
    make: Callable[[httpx.Client], httpx.Response]
    key: str = "id"
    made_at: str = ""
    query: Json = {}
    start: int | None = None

    def walk(self, api: httpx.Client, size: int) -> list[Json]:
        """All rows, page by page."""
        found: list[Json] = []
        at: Any = self.start
        while True:
            place = {} if at is None else {self.place: at}
            answer = api.get(self.path, params={"limit": size, **self.query, **place})
            assert answer.status_code == 200, answer.text
            page = answer.json()[self.rows] if self.rows else answer.json()
            assert len(page) <= size
            is_upward = self.place == "before_seq"  # a page of what was said is read from its beginning
            found = page + found if is_upward else found + page
            last = page[0 if is_upward else -1] if page else {}
            at = answer.json()[self.following] if self.rows else last.get(self.following)
            if at is None:
                return found


def post(path: str, **fields: str) -> Callable[[httpx.Client], httpx.Response]:
    """Make a row; `#` in a field stands for a number that no other has."""

    def make(api: httpx.Client) -> httpx.Response:
        number = str(next(_numbers))
        return api.post(path, json={name: one.replace("#", number) for name, one in fields.items()})

    return make


def start_workflow(api: httpx.Client) -> httpx.Response:
    waits = {"name": "waits", "steps": [{"id": "w", "wait": {"webhook": "never"}}]}
    return api.post("/api/workflow-runs", json={"definition": waits})


def save_workflow(api: httpx.Client) -> httpx.Response:
    """Save another version; who was quicker has made the newest."""
    steps = [{"id": "a", "set": {"n": str(next(_numbers))}}]
    body: Json = {"definition": {"name": "paged", "steps": steps}}
    while (answer := api.put("/api/workflows/paged", json=body)).status_code == 409:
        body["version"] = answer.json()["version"]
    return answer


@pytest.fixture(scope="module")
def lists(shared_stage: Stage) -> list[PagedList]:
    """Every list that takes a place to go on from, with something to fill it."""
    api = shared_stage.api
    thread = api.post("/api/threads", json={"topic": "pages"}).json()["id"]
    assert api.post("/api/nodes", json={"name": "ghost"}).status_code == 201
    shared_stage.profile("calls", approvals="never")
    talker = shared_stage.done("\n".join(f"THINK {number}" for number in range(_ROWS)), profile="calls")
    assert talker["status"] == "completed", talker
    say = post(f"/api/threads/{thread}/messages", content="word #")
    begin = post("/api/runs", profile="rehearsal", prompt="SAY #", node="ghost")
    call = post("/api/runs", profile="calls", prompt="SHELL true\nSHELL echo #")
    one = {"route": "/api/threads/{thread_id}/messages", "path": f"/api/threads/{thread}/messages", "rows": ""}
    items = f"/api/runs/{talker['id']}/items"
    judged = "/api/policy/judgements"
    versions = "/api/workflows/paged/versions"
    token = post("/api/credentials", kind="viewer", name="v#")
    ask = post("/api/asks", title="question #")
    at: Json = {"made_at": "created_at"}
    return [
        PagedList(
            *["/api/threads"] * 2, "threads", "before", "next_cursor", post("/api/threads", topic="paged #"), **at
        ),
        PagedList(**one, place="after_seq", following="seq", make=say, **at),
        PagedList(**one, place="before_seq", following="seq", make=say, start=_FAR),
        PagedList(*["/api/runs"] * 2, "", "before", "seq", begin, **at),
        PagedList(*["/api/runs"] * 2, "", "before", "seq", begin, query={"status": "pending"}),
        PagedList("/api/runs/{run_id}/items", items, "", "after", "number", begin, key="number"),
        PagedList(*["/api/workflow-runs"] * 2, "", "before", "seq", start_workflow, **at),
        PagedList("/api/workflows/{name}/versions", versions, "", "before", "version", save_workflow, key="version"),
        PagedList(judged, judged, "judgements", "before", "next_before", call),
        PagedList(*["/api/asks"] * 2, "asks", "after", "next", ask, made_at="asked_at"),
        PagedList(*["/api/asks"] * 2, "asks", "before", "next", ask, start=_FAR),
        PagedList(*["/api/audit"] * 2, "events", "after_seq", "next_after_seq", token, key="seq", made_at="at"),
    ]


@contextmanager
def being_added(listed: PagedList, stage: Stage) -> Iterator[None]:
    """Rows are made meanwhile."""
    over = threading.Event()

    def add() -> None:
        with Stage(stage.hub) as other:
            while not over.wait(0.05):
                assert listed.make(other.api).status_code in (200, 201)

    with ThreadPoolExecutor() as pool:
        adding = pool.submit(add)
        try:
            yield
        finally:
            over.set()
        adding.result(60)


def test_every_list_with_pages_is_looked_at_here(lists: list[PagedList]) -> None:
    """A list with a `limit` and a place to go on from."""
    found = set()
    for one in asyncio.run(endpoints()):
        fields = {field.name for field in msgspec.structs.fields(one.query)} if one.query else set()
        if one.method == "GET" and "limit" in fields and fields & {"before", "after", "before_seq", "after_seq"}:
            found.add(one.path)
    others = {"/api/threads/{thread_id}/wait", "/api/threads/{thread_id}/transcript"}  # one waits, one reads messages
    assert found - others == {listed.route for listed in lists}


def test_no_page_loses_or_repeats_a_row_also_while_rows_are_added(lists: list[PagedList], shared_stage: Stage) -> None:
    api = shared_stage.api
    for listed in lists:
        with ThreadPoolExecutor(_ROWS) as pool:
            made = [pool.submit(listed.make, api) for _ in range(_ROWS)]
        refused = [one.result().text for one in made if one.result().status_code not in (200, 201)]
        assert not refused, (listed.route, refused)
        shared_stage.until(lambda: not busy(api), "the agents to be done")
        before = [row[listed.key] for row in listed.walk(api, 500)]
        assert len(before) >= _ROWS
        if listed.made_at:
            times = Counter(row[listed.made_at] for row in listed.walk(api, 500))
            assert max(times.values()) > 1, f"no two rows of {listed.route} are of the same millisecond"
        for size in _SIZES:
            found = [row[listed.key] for row in listed.walk(api, size)]
            assert found == before, (listed.route, listed.place, size)
        with being_added(listed, shared_stage):
            for size in (2, 7):
                found = [row[listed.key] for row in listed.walk(api, size)]
                assert len(found) == len(set(found)), (listed.route, listed.place, size)
                assert set(before) <= set(found), (listed.route, listed.place, size)


def busy(api: httpx.Client) -> bool:
    """Whether agents are at work that do more than wait for a node."""
    newest = api.get("/api/runs", params={"limit": 200}).json()
    return any(run["profile"] == "calls" and run["status"] not in ENDED for run in newest)


def test_a_time_is_still_a_place_to_go_on_from(lists: list[PagedList], shared_stage: Stage) -> None:
    api = shared_stage.api
    for _ in range(3):
        assert start_workflow(api).status_code == 201
    for path in ("/api/runs", "/api/workflow-runs"):
        rows = api.get(path).json()
        older = api.get(path, params={"before": rows[0]["created_at"]}).json()
        expected = [row for row in rows if row["created_at"] < rows[0]["created_at"]]
        assert older[: len(expected)] == expected  # it may go on further than the first page did
        assert api.get(path, params={"before": rows[0]["created_at"] + 1}).json()[0]["id"] == rows[0]["id"]


_WALK = """
import json, os, urllib.request
at, found = "", []
while True:
    address = f"{os.environ['GREENROOM_URL']}/api/runs?limit=1{at}"
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {os.environ['GREENROOM_TOKEN']}"})
    page = json.load(urllib.request.urlopen(request))
    if not page:
        break
    found += [page[0]["id"]]
    at = f"&before={page[0]['seq']}"
print(*found)
"""


def test_an_agent_walks_through_its_own_runs_among_many_of_others(
    lists: list[PagedList], shared_stage: Stage, tmp_path: Path
) -> None:
    stage = shared_stage
    (tmp_path / "walk.py").write_text(_WALK)
    command = [sys.executable, str(tmp_path / "walk.py")]
    assert stage.api.put("/api/profiles/walker", json={"driver": "command", "command": command}).status_code == 200
    own = []
    for number in range(3):
        agent = {"agent": own[0]["agent_id"]} if own else {}
        own.append(stage.done("walk", profile="walker", keep=True, **agent))
        assert own[-1]["status"] == "completed", own[-1]
        stage.start(f"SAY {number}", node="ghost")
    assert own[-1]["output"].split() == [run["id"] for run in reversed(own)]
