"""The operator's tools against a real hub, also while it is under load."""

import contextlib
import threading
from pathlib import Path

import apsw
import httpx

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import done, greenroom

_CLIENTS = 6


class Posters:
    """Clients that post as fast as they can; `acknowledged` grows as their posts are answered."""

    def __init__(self, hub: HubProcess) -> None:
        self._hub = hub
        self._stop = threading.Event()
        self.acknowledged: list[str] = []
        self._enough = threading.Semaphore(0)
        self._threads = [threading.Thread(target=self._post, args=(n,)) for n in range(_CLIENTS)]

    def _post(self, number: int) -> None:
        headers = {"Authorization": f"Bearer {self._hub.token}"}
        with httpx.Client(base_url=self._hub.url, headers=headers, timeout=WAIT_S) as http:
            thread_id = http.post("/api/threads", json={"topic": f"T{number}"}).json()["id"]
            count = 0
            while not self._stop.is_set():
                content = f"{number}-{count} " + "long " * (8000 if count % 20 == 0 else 1)
                answer = http.post(f"/api/threads/{thread_id}/messages", json={"content": content})
                assert answer.status_code == 201, answer.text
                self.acknowledged.append(answer.json()["id"])
                self._enough.release()
                count += 1

    def wait_for(self, posts: int) -> None:
        for _ in range(posts):
            assert self._enough.acquire(timeout=WAIT_S)

    def __enter__(self) -> "Posters":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(WAIT_S)


def test_a_backup_under_load_holds_what_was_acknowledged_and_a_hub_starts_from_it(
    hub: HubProcess, tmp_path: Path
) -> None:
    with Posters(hub) as posters:
        posters.wait_for(100)
        assert done(hub.data, "check", "--json").json["ok"]
        before = list(posters.acknowledged)
        made = done(hub.data, "backup", str(tmp_path / "saved.tar"), "--json").json
        posters.wait_for(20)
    assert made["files"] >= _CLIENTS
    restored = done(tmp_path / "copy", "restore", str(tmp_path / "saved.tar"))
    assert "new operator's token" in restored.out
    assert done(tmp_path / "copy", "check", "--json").json["findings"] == []
    assert hub.token not in (tmp_path / "saved.tar").read_bytes().decode("latin-1")
    with HubProcess(tmp_path / "copy") as copy:
        assert copy.token != hub.token
        held = set()
        threads = done(copy.data, "thread", "list", "--json").json["threads"]
        for thread in threads:
            held |= {m["id"] for m in done(copy.data, "thread", "show", thread["id"], "--json").json}
        assert set(before) <= held
        assert httpx.get(f"{copy.url}/api/threads", headers={"Authorization": f"Bearer {hub.token}"}).status_code == 401


def test_check_names_what_is_wrong_and_exits_1(hub: HubProcess) -> None:
    done(hub.data, "thread", "post", "Plan", "hello", "--new")
    assert "All is well" in done(hub.data, "check").out
    hub.stop()
    with contextlib.closing(apsw.Connection(str(hub.data / "greenroom.db"))) as connection:
        kept = connection.execute("SELECT data FROM row_thread").get
        connection.execute("UPDATE row_thread SET data = replace(data, 'Plan', 'Plot')")
    ran = greenroom(hub.data, "check")
    assert (ran.code, "rows_differ" in ran.out, "--rebuild" in ran.out) == (1, True, True)
    rebuilt = done(hub.data, "check", "--rebuild")
    assert "rows_outdated" in rebuilt.out
    hub.start()
    assert done(hub.data, "check", "--json").json["findings"] == []
    with contextlib.closing(apsw.Connection(str(hub.data / "greenroom.db"))) as connection:
        assert connection.execute("SELECT data FROM row_thread").get == kept


def test_data_of_a_newer_hub_is_refused_by_every_tool_and_left_as_it_is(hub: HubProcess, tmp_path: Path) -> None:
    hub.stop()
    database = hub.data / "greenroom.db"
    with contextlib.closing(apsw.Connection(str(database))) as connection:
        connection.execute("PRAGMA user_version = 2; PRAGMA wal_checkpoint(TRUNCATE)")
    before = database.read_bytes()
    code, said = hub.start_refused()
    assert (code, "newer greenroom" in said, len(said.splitlines())) == (1, True, 1)
    assert "newer_schema" in greenroom(hub.data, "check").out
    assert greenroom(hub.data, "backup", str(tmp_path / "saved.tar")).code == 1
    assert database.read_bytes() == before
    with contextlib.closing(apsw.Connection(str(database))) as connection:
        connection.execute("PRAGMA user_version = 1")
    hub.start()


def test_a_damaged_database_is_told_in_one_line_by_every_tool(hub: HubProcess, tmp_path: Path) -> None:
    done(hub.data, "backup", str(tmp_path / "good.tar"))
    hub.stop()
    database = hub.data / "greenroom.db"
    database.write_bytes(database.read_bytes()[:8192])
    for command in (["audit", "verify"], ["backup", str(tmp_path / "bad.tar")], ["check", "--rebuild"]):
        ran = greenroom(hub.data, *command)
        assert (ran.code, len(ran.err.splitlines())) == (1, 1), ran
    assert "database_damaged" in greenroom(hub.data, "check").out
    done(hub.data, "restore", str(tmp_path / "good.tar"), "--force")
    hub.start()


def test_rebuild_and_restore_are_refused_while_the_hub_runs(hub: HubProcess, tmp_path: Path) -> None:
    done(hub.data, "backup", str(tmp_path / "saved.tar"))
    for command in (["check", "--rebuild"], ["restore", str(tmp_path / "saved.tar"), "--force"]):
        ran = greenroom(hub.data, *command)
        assert (ran.code, hub.url in ran.err) == (1, True)


def test_the_audit_lists_what_was_done_and_notices_a_change_and_a_cut(hub: HubProcess) -> None:
    made = done(hub.data, "token", "create", "--name", "eve", "--kind", "viewer", "--json").json
    done(hub.data, "token", "revoke", made["id"])
    events = done(hub.data, "audit", "list", "--json").json["events"]
    listed = [e for e in events if e["data"].get("credential_id") == made["id"]]
    assert [e["type"] for e in listed] == ["CredentialCreated", "CredentialRevoked"]
    assert made["token"] not in done(hub.data, "audit", "list").out
    first = done(hub.data, "audit", "list", "--limit", "1")
    assert ("--after 1" in first.err, len(first.out.splitlines())) == (True, 2)
    end = done(hub.data, "audit", "verify").out.split()[-1]
    assert done(hub.data, "audit", "verify", "--json", "--anchor", end).json["ok"]
    hub.stop()
    _tamper(hub, end, listed[0]["seq"], listed[1]["seq"])
    hub.start()


def _tamper(hub: HubProcess, end: str, created: int, revoked: int) -> None:
    """Cut the newest privileged event off, then change the one before; all is put back as it was."""
    with contextlib.closing(apsw.Connection(str(hub.data / "greenroom.db"))) as connection:
        (event,) = connection.execute("SELECT * FROM events WHERE seq = ?", (revoked,)).fetchall()
        (link,) = connection.execute("SELECT * FROM chain WHERE seq = ?", (revoked,)).fetchall()
        connection.execute("DELETE FROM events WHERE seq = ?", (revoked,))
        connection.execute("DELETE FROM chain WHERE seq = ?", (revoked,))
        assert greenroom(hub.data, "audit", "verify").code == 0
        cut = greenroom(hub.data, "audit", "verify", "--anchor", end)
        assert (cut.code, "anchor" in cut.err) == (1, True)
        connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", event)
        connection.execute("INSERT INTO chain VALUES (?, ?)", link)
        connection.execute("UPDATE events SET at = at + 1 WHERE seq = ?", (created,))
        changed = greenroom(hub.data, "audit", "verify", "--json")
        assert (changed.code, changed.json["ok"], f"Event {created}" in changed.json["fault"]) == (1, False, True)
        connection.execute("UPDATE events SET at = at - 1 WHERE seq = ?", (created,))
