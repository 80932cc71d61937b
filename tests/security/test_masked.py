"""Secrets in tool calls: masked wherever they are written down or shown, and whole in what runs."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from greenroom.rules.access.secrets import mask_secrets, mask_text
from greenroom.testing.hub_process import HubProcess
from tests.journeys.mcp_clients import connected
from tests.rules.asks.desk import Desk
from tests.rules.asks.test_mcp import asked

KEY = "sk-ant-api03-" + "k3y" * 12
SECRETS = [
    KEY,
    "sk-proj-" + "A1b2" * 10,
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2_" * 8,
    "glpat-" + "a1B2" * 6,
    "AKIA" + "ABCD" * 4,
    "xoxb-1234567890-abcdef",
    "npm_" + "a1B2" * 9,
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq\n",
]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret[:6])
def test_a_secret_of_a_known_form_is_masked_wherever_it_stands(secret: str) -> None:
    masked = mask_secrets({"command": f"x '{secret}' > out", "list": [{"deep": secret}], secret: 1, "n": 2**60})
    assert secret[8:] not in str(masked)
    assert masked["command"].startswith("x '") and masked["command"].endswith("' > out")
    assert masked["n"] == 2**60


@pytest.mark.parametrize("text", ["git commit -m 'sk-ip'", "https://example.org:8080/a", "basic tools", "eyJ", "a@b:c"])
def test_what_is_no_secret_is_left_as_it_is(text: str) -> None:
    assert mask_text(text) == text


def test_a_password_in_an_address_and_a_bearer_are_masked() -> None:
    said = mask_text("curl https://me:hunter2hunter2@host/ -H 'Authorization: Bearer abcdefgh12345678'")
    assert said == "curl https://me:MASKED@host/ -H 'Authorization: Bearer MASKED'"


@pytest.mark.anyio
async def test_a_token_of_the_hub_is_on_no_card_and_in_no_log_and_the_call_that_runs_has_it(hub: HubProcess) -> None:
    with Desk(hub) as desk:
        agent = desk.agent()
        command = f"curl -H 'Authorization: Bearer {hub.token}' -H 'x-api-key: {KEY}' http://127.0.0.1/api"
        wish: dict[str, Any] = {"tool_name": "Bash", "input": {"command": command}}
        async with connected(hub.url, agent.token) as talker:
            call = asyncio.ensure_future(talker.call("permission_request", **wish))
            ask = await asked(desk, agent.id)
            assert "MASKED" in ask["subject"]["arguments"]["command"]
            assert "masked" in ask["why"]
            changed = {"arguments": {"command": "true"}, "digest": ask["digest"]}
            assert desk.answer(ask["id"], verdict="approve", **changed).json()["code"] == "cannot_edit"
            assert desk.answer(ask["id"], verdict="approve", digest=ask["digest"]).status_code == 200
            assert await call == {"behavior": "allow", "updatedInput": wish["input"]}
        shown = desk.operator.get("/api/audit", params={"limit": 1000}).text + str(desk.show(ask["id"]))
    assert "curl -H" in shown
    hub.stop()
    for secret in (KEY, (hub.data / "operator.token").read_text().strip()):
        assert secret not in shown
        for file in sorted(Path(hub.data).glob("greenroom.db*")):
            assert secret.encode() not in file.read_bytes(), file
    hub.start()


def test_masking_long_texts_takes_no_longer_than_reading_them() -> None:
    """Not a time: the number of steps of a backtracking search would not end within the limit of a test."""
    for part in ("eyJ-", "sk-", "Bearer ", "://a:", "-----BEGIN A ", "ghp_", "AKIA"):
        assert isinstance(mask_text(part * 300_000), str)
