"""What is wrong with what a person typed is said in a sentence, whatever the verb, and nothing is done by half."""

import asyncio
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from greenroom import Agent
from greenroom.errors import Refused
from greenroom.testing.hub_process import HubProcess
from tests.cli.shell import Ran, done, greenroom, refuse


def refused(ran: Ran) -> str:
    """What a command said that was refused: one sentence, and no trace."""
    assert (ran.code, ran.out) == (1, ""), ran
    assert ran.err.startswith("greenroom: "), ran
    assert "Traceback" not in ran.err, ran
    return ran.err


class NoHub(http.server.BaseHTTPRequestHandler):
    """A web server that is none of ours."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path.startswith("/api/threads") else 302)
        self.end_headers()
        self.wfile.write(b"<html>Welcome</html>")

    def log_message(self, *_: object) -> None:
        pass


class LaterHub(NoHub):
    """A hub of a time to come, whose answers have other fields."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"version": "99.1"}' if self.path == "/api/me" else b'[{"identity": 1}]')


@pytest.fixture
def stranger(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server that is not a hub as we know it."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), getattr(request, "param", NoHub))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("verb", ["thread", "agent"])
def test_another_server_is_not_taken_for_a_hub(
    tmp_path: Path, stranger: str, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    argv = [verb, "list", "--url", stranger, "--token", "gr_x"]
    assert f"What answers at {stranger} is no hub" in refused(greenroom(tmp_path, *argv))
    assert refuse(tmp_path, monkeypatch, argv) == "no_hub"


def test_a_program_that_chats_does_not_take_another_server_for_a_hub(stranger: str) -> None:
    with pytest.raises(Refused, match="is the address right") as no:
        asyncio.run(Agent.create("openai", url=stranger, token="gr_x"))
    assert no.value.code == "http_error"


@pytest.mark.parametrize("stranger", [LaterHub], indirect=True)
def test_a_hub_of_another_version_is_named_when_its_answer_is_not_understood(tmp_path: Path, stranger: str) -> None:
    said = refused(greenroom(tmp_path, "agent", "list", "--url", stranger, "--token", "gr_x"))
    assert "The hub is Greenroom 99.1, this command" in said


def test_what_is_no_text_is_not_posted(shared_hub: HubProcess) -> None:
    done(shared_hub.data, "thread", "post", "Bytes", "one", "--new")
    ran = greenroom(shared_hub.data, "thread", "post", "Bytes", "-", stdin="\udcff\udcfe")
    assert "no text in UTF-8" in refused(ran)
    assert len(done(shared_hub.data, "thread", "show", "Bytes", "--json").json) == 1


@pytest.mark.parametrize("verb", [["token", "create", "--name", "lost"], ["node", "add", "lost"]])
def test_no_token_is_made_for_a_file_that_cannot_be_written(shared_hub: HubProcess, verb: list[str]) -> None:
    out = shared_hub.data.parent / "nowhere" / "token"
    assert "cannot be written" in refused(greenroom(shared_hub.data, *verb, "--out", str(out)))
    assert "lost" not in done(shared_hub.data, "token", "list").out


@pytest.mark.parametrize("text", ["[1]", "3", "null"])
def test_a_file_that_holds_no_rule_and_no_profile_is_named(shared_hub: HubProcess, tmp_path: Path, text: str) -> None:
    file = tmp_path / "wrong.json"
    file.write_text(text)
    assert "holds no rule" in refused(greenroom(shared_hub.data, "policy", "add", "x", "--file", str(file)))
    assert "holds no profile" in refused(greenroom(shared_hub.data, "profile", "put", "x", str(file)))
    file.write_text(json.dumps({"profiles": 3}))
    assert "profiles" in refused(greenroom(shared_hub.data, "profile", "put", "x", str(file)))


def test_a_misspelt_driver_or_key_of_a_profile_is_answered_with_what_was_perhaps_meant(
    shared_hub: HubProcess, tmp_path: Path
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('driver = "rehearsal"\nsandbx = "none"\n')
    put = ("profile", "put", "mine", str(file))
    assert refused(greenroom(shared_hub.data, *put)).endswith("did you mean 'sandbox'?\n")
    file.write_text('driver = "codx"\n')
    assert "mine: no node has the driver 'codx': did you mean 'codex'?" in greenroom(shared_hub.data, *put).err


def test_a_wrong_port_in_agent_assistants_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "assistant.toml"
    file.write_text('agentassistant_server_port = "door"\n')
    assert str(file) in refused(greenroom(tmp_path / "data", "mcp", "--config", str(file)))


def test_a_program_forgets_a_hub_that_is_gone(hub: HubProcess) -> None:
    done(hub.data, "connect", "cursor")
    hub.stop()
    ran = greenroom(hub.data, "connect", "cursor", "--remove")
    assert (ran.code, "does not know the hub any more" in ran.out) == (0, True)
    assert "greenroom agent kick agt_" in ran.err
    assert not list((hub.data / "connections").glob("cursor.*"))
    hub.restart()


@pytest.mark.parametrize("verb", [["check"], ["audit", "verify"], ["serve", "--port", "0"]])
def test_a_database_that_is_away_is_not_called_damaged(tmp_path: Path, verb: list[str]) -> None:
    away = f"postgresql:///greenroom?host={tmp_path}"
    said = refused(greenroom(tmp_path / "data", *verb, GREENROOM_DATABASE=away))
    assert ("see that the server runs" in said, "\\x0a" in said) == (True, False)


def test_a_hub_that_cannot_be_started_says_why(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "greenroom.toml").write_text('port = "door"\n')
    assert "port" in refused(greenroom(data, "run", "rehearsal", "SAY hi"))


def test_as_many_of_the_newest_messages_are_shown_as_are_asked_for(shared_hub: HubProcess) -> None:
    thread_id = done(shared_hub.data, "thread", "post", "Long", "0", "--new", "--json").json["thread_id"]
    with httpx.Client(base_url=shared_hub.url, headers={"Authorization": f"Bearer {shared_hub.token}"}) as api:
        for number in range(1, 230):
            api.post(f"/api/threads/{thread_id}/messages", json={"content": str(number)}).raise_for_status()
    shown = done(shared_hub.data, "thread", "show", "Long", "--limit", "220", "--json").json
    assert [m["content"] for m in shown] == [str(number) for number in range(10, 230)]


@pytest.mark.parametrize(
    "args",
    [
        ["run", "rehearsal", "hi", "--timeout", "-3"],
        ["thread", "list", "--limit", "-3"],
        ["thread", "show", "Plan", "--limit", "0"],
        ["thread", "show", "Plan", "--after", "-1"],
        ["thread", "wait", "Plan", "--timeout", "nan"],
        ["audit", "list", "--limit", "x"],
        ["runs", "extend", "run_x", "--cost", "-1"],
        ["runs", "extend", "run_x", "--cost", "0"],
        ["driver", "check", "rehearsal", "--patience", "-1"],
        ["dag", "versions", "release", "--show", "-1"],
        ["node", "--join", "http://127.0.0.1:9", "--capacity", "0"],
    ],
)
def test_numbers_that_mean_nothing_are_refused_before_anybody_is_asked(tmp_path: Path, args: list[str]) -> None:
    ran = greenroom(tmp_path / "data", *args)
    assert (ran.code, "write a " in ran.err) == (2, True), ran


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["policy", "try", "nope"], "There is no rule 'nope'"),
        (["dag", "triggers", "nope"], "There is no workflow 'nope'"),
        (["tools", "add", "x", "--command", "ls", "--risk", "rm=huge"], "There is no risk 'huge'"),
        (["profile", "put", "x", "/nowhere.toml"], "cannot be read: No such file"),
        (["policy", "add", "x", "--file", "/nowhere.toml"], "cannot be read: No such file"),
    ],
)
def test_names_that_are_not_known_are_named(shared_hub: HubProcess, args: list[str], said: str) -> None:
    assert said in refused(greenroom(shared_hub.data, *args))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "Say which hub"),
        (["--join", "http://127.0.0.1:9", "--token-file", "/nowhere"], "/nowhere cannot be read"),
        (["--join", "https://127.0.0.1:9", "--token-file", "/dev/null", "--pin", "zz"], "no digest of a certificate"),
        (["--join", "http://127.0.0.1:9", "--token-file", "/dev/null", "--data", "/dev/null/x"], "cannot be used"),
    ],
)
def test_a_node_that_could_never_join_does_not_try(tmp_path: Path, more: list[str], said: str) -> None:
    assert said in refused(greenroom(tmp_path / "data", "node", *more))


@pytest.mark.parametrize("args", [["serve"], ["run", "rehearsal", "hello"], ["check"]])
def test_a_data_directory_that_cannot_be_used_is_told_of_in_a_sentence(tmp_path: Path, args: list[str]) -> None:
    (tmp_path / "file").touch()
    assert str(tmp_path / "file") in refused(greenroom(tmp_path / "file", *args))
