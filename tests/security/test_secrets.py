"""Where secrets are, and where they are not: AU-13 to AU-15, BO-09."""

import json
import os
import re
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from greenroom.link.tokens import new_token
from greenroom.testing.browser_login import parse_page_key
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.raw_http import open_socket, send_raw
from greenroom.testing.timeouts import WAIT_S
from tests.security.conftest import House

NOBODY = 65534
PYTHON_FOR_ALL = "/usr/bin/python3"


def test_guessing_is_slowed_down_and_holds_nobody_else_up(house: House) -> None:
    """AU-13"""
    statuses: list[int] = []
    admitted = 0

    def guess(_: int) -> None:
        head = f"GET /api/threads HTTP/1.1\r\nHost: 127.0.0.1:{house.hub.port}\r\n"
        for _ in range(100):
            said = f"{head}Authorization: Bearer {new_token('operator').text}\r\n\r\n"
            with open_socket(house.hub.url) as line:
                line.sendall(said.encode())
                statuses.append(int(line.recv(4096).split(b" ")[1]))

    with ThreadPoolExecutor(8) as guessers, house.client("operator") as client:
        guesses = [guessers.submit(guess, number) for number in range(8)]
        while not all(g.done() for g in guesses):
            assert client.get("/api/threads").status_code == 200, "a right token is never held up by wrong ones"
            admitted += 1
        for done in guesses:
            done.result()
    assert set(statuses) == {401, 429}
    assert statuses.count(401) < 100
    assert admitted >= 5, "it is answered all the while"
    # On a busy machine there is room for another guess by now, so that it takes a few more.
    refused = [house.call("revoked", "GET", "/api/threads") for _ in range(100)][-1]
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1


def test_guessing_a_login_code_is_slowed_down_too(house: House) -> None:
    """AU-13"""
    with house.client(None) as client:
        answers = [client.post("/login", data={"code": f"guess{n}"}).status_code for n in range(60)]
        assert set(answers) == {401, 429}
        code = house.call("operator", "POST", "/api/login-codes").json()["code"]
        assert client.post("/login", data={"code": code}).status_code == 303, "the right code still gets in"


def test_guessing_a_rooms_token_holds_up_nobody_who_has_it(house: House) -> None:
    """AU-13"""
    made = house.call("operator", "POST", "/api/credentials", json={"kind": "room", "name": "r", "room": "guessed"})
    with house.client(None) as client:
        answers = {client.post("/login", data={"code": f"guess{n}"}).status_code for n in range(60)}
        assert 429 in answers, "others have guessed before"
        assert answers <= {401, 429}
        entered = client.post("/login", data={"code": made.json()["token"]})
        assert (entered.status_code, entered.headers["location"][:6]) == (303, "/#key=")


def test_files_are_their_owners_alone_whatever_the_umask(own_data: Path) -> None:
    """AU-14"""
    own_data.mkdir(mode=0o777)
    own_data.chmod(0o777)
    before = os.umask(0)
    try:
        hub = HubProcess(own_data).start()
    finally:
        os.umask(before)
    with httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {hub.token}"}) as client:
        thread = client.post("/api/threads", json={"topic": "t"}).json()["id"]
        client.post(f"/api/threads/{thread}/messages", json={"content": "x" * 50_000})
    assert stat.S_IMODE(own_data.stat().st_mode) == 0o700
    for path in own_data.rglob("*"):
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.lstat().st_mode) == wanted, path
    hub.stop()


@pytest.mark.parametrize("name", ["operator.token", "greenroom.db", "lock", "head", "hub.json", "files"])
def test_a_link_that_was_planted_is_not_followed(own_data: Path, tmp_path: Path, name: str) -> None:
    """AU-14"""
    own_data.mkdir(mode=0o700)
    target = tmp_path / "victim"
    if name == "files":
        target.mkdir()
    else:
        target.write_text("precious")
    (own_data / name).symlink_to(target)
    code, said = HubProcess(own_data).start_refused()
    assert code == 1
    assert "is a link" in said
    assert len(said.strip().splitlines()) == 1, said
    assert (list(target.iterdir()) if name == "files" else target.read_text()) in ([], "precious")


def test_a_data_directory_that_is_a_link_or_anothers_is_refused(own_data: Path, tmp_path: Path) -> None:
    """AU-14"""
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    own_data.symlink_to(real)
    code, said = HubProcess(own_data).start_refused()
    assert code == 1
    assert "does not belong to you" in said
    if os.getuid() == 0:
        os.chown(real, NOBODY, NOBODY)
        code, said = HubProcess(real).start_refused()
        assert code == 1
        assert "does not belong to you" in said


def test_no_token_is_found_in_anything_that_is_kept(own_data: Path, tmp_path: Path) -> None:
    """AU-14, BO-09"""
    hub = HubProcess(own_data).start()
    tokens = [hub.token, hub.login_code]
    with httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {hub.token}"}) as client:
        for number in range(5):
            made = client.post("/api/credentials", json={"kind": "viewer", "name": f"guest {number}"}).json()
            tokens.append(made["token"])
            assert client.get("/api/threads", headers={"Authorization": f"Bearer {made['token']}"}).status_code == 200
        agent = client.post("/api/agents/register", json={"ide": "agent", "model": "m"}).json()
        tokens.append(agent["token"])
        entered = client.post("/login", data={"code": hub.login_code})
        tokens.append(entered.headers["set-cookie"].partition("=")[2].partition(";")[0])
        tokens.append(parse_page_key(entered.headers["location"]))
        client.get("/api/threads", params={"token": tokens[2]})
        for token in tokens:
            client.get(f"/api/{token}")
            client.get("/api/threads", headers={"Authorization": f"Bearer {token}x"})
            client.post("/mcp", content=f"{{{token}", headers={"content-type": "application/json"})
        listed = client.get("/api/credentials").text + client.get("/api/audit").text + client.get("/api/agents").text
    backup = tmp_path / "backup.tar"
    argv = [sys.executable, "-m", "greenroom", "backup", str(backup), "--data", str(own_data)]
    subprocess.run(argv, check=True, capture_output=True, timeout=WAIT_S)
    kept = {path: path.read_bytes() for path in own_data.rglob("*") if path.is_file() and path.name != "operator.token"}
    kept |= {
        backup: backup.read_bytes(),
        hub.stderr_path: hub.stderr_path.read_bytes(),
        Path("answers"): listed.encode(),
    }
    kept[Path("cmdline")] = Path(f"/proc/{hub.pid}/cmdline").read_bytes()
    kept[Path("environ")] = Path(f"/proc/{hub.pid}/environ").read_bytes()
    assert {path.name for path in kept} >= {"greenroom.db", "greenroom.db-wal", "greenroom.db-shm", "backup.tar"}
    for path, content in kept.items():
        for number, token in enumerate(tokens):
            secret = token.split("_")[3] if token.startswith("gr_") else token
            assert secret.encode() not in content, (path, number)
    hub.stop()


def test_a_login_link_works_once_and_leaves_nothing_to_reuse(own_data: Path) -> None:
    """BO-09"""
    with HubProcess(own_data) as hub, httpx.Client(base_url=hub.url) as client:
        shown = client.get("/login", params={"code": hub.login_code})
        assert shown.status_code == 200
        assert shown.headers["referrer-policy"] == "same-origin", "with none the form has no origin"
        assert shown.headers["cache-control"] == "no-store"
        entered = client.post("/login", data={"code": hub.login_code})
        cookie = entered.headers["set-cookie"]
        assert re.fullmatch(r"/#key=[0-9a-z]{52}", entered.headers["location"]), "behind # no server is told"
        assert all(word in cookie.lower() for word in ("httponly", "samesite=strict", "path=/", "max-age="))
        assert httpx.post(f"{hub.url}/login", data={"code": hub.login_code}).status_code == 401
        for path in ("/sync", "/events", "/api/threads"):
            for name in ("token", "access_token", "code"):
                query = f"GET {path}?{name}={hub.token} HTTP/1.1\r\nHost: 127.0.0.1:{hub.port}\r\n\r\n"
                assert send_raw(hub.url, query.encode(), once=True)[0].status == 401


@pytest.mark.skipif(os.getuid() != 0, reason="it takes root to become another user")
@pytest.mark.skipif(not Path(PYTHON_FOR_ALL).exists(), reason="another user has no python here")
def test_another_user_of_this_machine_gets_nothing(own_data: Path) -> None:
    """AU-15"""
    own_data.parent.chmod(0o755)
    script = """
import json, os, sys, urllib.request, urllib.error
data, url, pid = sys.argv[1:]
out = {}
try:
    urllib.request.urlopen(url + "/api/threads")
except urllib.error.HTTPError as error:
    out["call"] = error.code
for name in ("operator.token", "greenroom.db", "hub.json", "lock"):
    try:
        open(os.path.join(data, name)).close()
        out[name] = "readable"
    except OSError as error:
        out[name] = type(error).__name__
try:
    out["list"] = os.listdir(data)
except OSError as error:
    out["list"] = type(error).__name__
try:
    open(f"/proc/{pid}/environ").read()
    out["environ"] = "readable"
except OSError as error:
    out["environ"] = type(error).__name__
out["cmdline"] = open(f"/proc/{pid}/cmdline").read()
print(json.dumps(out))
"""
    with HubProcess(own_data) as hub:
        become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        argv = [*become, PYTHON_FOR_ALL, "-I", "-c", script, str(own_data), hub.url, str(hub.pid)]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=WAIT_S)
        assert done.returncode == 0, done.stderr
        seen = json.loads(done.stdout)
        assert hub.token not in seen.pop("cmdline")
        assert seen.pop("call") == 401
        assert set(seen.values()) == {"PermissionError"}, seen
