"""What goes over a network is encrypted, to the hub that one was let in by; anything else has to be meant."""

import datetime
import http.server
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.cli.shell import greenroom
from tests.conftest import end_node
from tests.far_node import FarNode
from tests.stage import Stage

OTHER_PIN = "0" * 64


def certify(folder: Path) -> None:
    """A certificate that nobody has signed but its owner, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hub")])
    now = datetime.datetime.now(datetime.UTC)
    there = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(there, critical=False)
        .sign(key, hashes.SHA256())
    )
    no_password = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, no_password))
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))


class TlsStage(Stage):
    """A stage whose hub shows its own certificate."""

    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.hub.token}"}
        trusted = ssl.create_default_context(cafile=self.hub.env["GREENROOM_TLS_CERT"])
        return httpx.Client(base_url=self.hub.url, headers=headers, timeout=WAIT_S, verify=trusted)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[TlsStage]:
    certify(tmp_path)
    env = {"GREENROOM_TLS_CERT": str(tmp_path / "cert.pem"), "GREENROOM_TLS_KEY": str(tmp_path / "key.pem")}
    with HubProcess(tmp_path / "data", env) as hub, TlsStage(hub) as stage:
        yield stage


def test_a_node_knows_its_hub_by_the_certificate_it_had_when_it_was_let_in(stage: TlsStage, tmp_path: Path) -> None:
    """NF-08"""
    node = FarNode(stage, tmp_path, "pinned")
    node.args = ("--pin", node.pin)
    try:
        node.start(stage.hub.url).wait_for("connected")
        called = stage.done("TOOL bus_get_config {}\nSAY safe")
        assert called["output"] == "safe"
        assert [call["ok"] for call in stage.api.get(f"/api/runs/{called['id']}/calls").json()] == [True]
        port = stage.hub.port
        stage.hub.stop()
        certify(tmp_path)
        stage.hub.start(port)
        stage.until(lambda: "shows another certificate" in node.log, "the node to see it")
        with TlsStage(stage.hub) as again:
            assert [n.get("state") for n in again.api.get("/api/nodes").json()] == ["unreachable"]
    finally:
        node.stop()


def test_the_node_beside_a_hub_knows_it_by_its_own_certificate(tmp_path: Path) -> None:
    certify(tmp_path)
    env = {"GREENROOM_TLS_CERT": str(tmp_path / "cert.pem"), "GREENROOM_TLS_KEY": str(tmp_path / "key.pem")}
    try:
        with HubProcess(tmp_path / "data", {**env, "GREENROOM_LOCAL_NODE": "1"}) as hub, TlsStage(hub) as stage:
            called = stage.done("TOOL bus_get_config {}\nSAY safe")
            assert [call["ok"] for call in stage.api.get(f"/api/runs/{called['id']}/calls").json()] == [True]
    finally:
        end_node(tmp_path / "data")


@pytest.mark.parametrize(
    ("args", "why"), [((), "shows on the hub's machine by --pin"), (("--pin", OTHER_PIN), "give it by --pin")]
)
def test_a_node_does_not_talk_to_a_hub_with_a_wrong_certificate(
    stage: TlsStage, tmp_path: Path, args: tuple[str, ...], why: str
) -> None:
    """NF-08"""
    node = FarNode(stage, tmp_path, "wary", *args).start(stage.hub.url)
    try:
        stage.until(lambda: why in node.log, "the node to refuse")
        assert node.state == "new"
    finally:
        node.stop()


def test_a_command_does_not_talk_to_a_hub_with_a_wrong_certificate(stage: TlsStage, tmp_path: Path) -> None:
    """NF-08"""
    ran = greenroom(tmp_path / "mine", "thread", "list", "--url", stage.hub.url, "--token", stage.hub.token)
    assert (ran.code, "certificate" in ran.err.lower()) == (3, True), ran


def test_a_node_that_is_sent_elsewhere_does_not_take_its_credential_there(stage: TlsStage, tmp_path: Path) -> None:
    """NF-08"""
    heard: list[str] = []

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            self.send_response(307)
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_address[1]}/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        node = FarNode(stage, tmp_path, "sent").start(f"http://127.0.0.1:{server.server_address[1]}")
        try:
            stage.until(lambda: len(heard) > 1, "the node to try again")
            assert set(heard) == {"/node"}
        finally:
            node.stop()
            server.shutdown()


@pytest.mark.parametrize("verb", [["thread", "list"], ["runs", "list"], ["mcp"]])
def test_a_command_does_not_send_a_credential_over_the_network_in_the_clear(tmp_path: Path, verb: list[str]) -> None:
    """NF-08"""
    ran = greenroom(tmp_path, *verb, "--url", "http://hub.example:39765", "--token", "gr_operator_x")
    assert (ran.code, "is not encrypted" in ran.err, "--insecure" in ran.err) == (1, True, True), ran


@pytest.mark.parametrize(
    ("host", "allowed", "exposed"), [("127.0.0.1", "", False), ("127.0.0.1", "true", False), ("0.0.0.0", "true", True)]
)
def test_the_page_is_told_when_the_hub_is_open_to_a_network(
    tmp_path: Path, host: str, allowed: str, exposed: bool
) -> None:
    """NF-08"""
    env = {"GREENROOM_ALLOW_PLAINTEXT": allowed} if allowed else {}
    with HubProcess(tmp_path / "data", env, ("--host", host)) as hub:
        me = httpx.get(f"{hub.url}/api/me", headers={"Authorization": f"Bearer {hub.token}"}).json()
        assert me["insecure"] is exposed
