"""`greenroom node`: what it dials, and what it does not."""

from pathlib import Path

import pytest

from tests.cli.shell import greenroom


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
