"""`greenroom node`: what it dials and what it does not, and which nodes there are."""

import stat
from pathlib import Path

import pytest

from greenroom.testing.hub_process import HubProcess
from tests.cli.shell import done, greenroom


@pytest.mark.parametrize(
    "url",
    ["http://192.0.2.1:39765", "http://hub.example:39765", "http://[2001:db8::1]:39765", "http://127.0.0.1.example:1"],
)
def test_a_credential_does_not_go_over_the_network_in_the_clear(tmp_path: Path, url: str) -> None:
    ran = greenroom(tmp_path, "node", "--join", url, "--token-file", str(tmp_path / "none"))
    assert (ran.code, "is not encrypted" in ran.err, "--insecure" in ran.err) == (1, True, True), ran


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "127.0.0.1:39765", "http://"])
def test_what_is_no_address_is_refused(tmp_path: Path, url: str) -> None:
    ran = greenroom(tmp_path, "node", "--join", url, "--token-file", str(tmp_path / "none"))
    assert (ran.code, "is no address of a hub" in ran.err) == (1, True), ran


def test_a_node_is_let_in_taken_out_of_use_and_put_out(shared_hub: HubProcess, tmp_path: Path) -> None:
    data, file = shared_hub.data, tmp_path / "node.token"
    assert str(file) in done(data, "node", "add", "desk-two", "--out", str(file)).out
    assert (stat.S_IMODE(file.stat().st_mode), file.read_text()[:8]) == (0o600, "gr_node_")
    assert "already" in greenroom(data, "node", "add", "desk-two").err
    assert "gets no others" in done(data, "node", "drain", "desk-two").out
    (row,) = [row for row in done(data, "node", "list").out.splitlines() if "desk-two" in row]
    assert "new, draining" in row
    assert done(data, "node", "undrain", "desk-two", "--json").json.get("draining") is None
    assert done(data, "node", "remove", "desk-two", "--json").json == {"removed": "desk-two"}
    assert "desk-two" not in done(data, "node", "list", "--json").out
    gone = greenroom(data, "node", "drain", "desk-two")
    assert (gone.code, "greenroom node list" in gone.err) == (1, True)
