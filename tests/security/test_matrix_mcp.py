"""AU-02 and PR-11 over MCP: who sees which tool is what the table says, and what is hidden does not exist."""

from collections.abc import Iterator

import httpx
import pytest

from greenroom.doors.mcp.tools import TOOLS
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests.conftest import checked
from tests.security.matrix_mcp import COLUMNS, MATRIX
from tests.security.rig import Mcp

ORDER = [tool.name for tool in TOOLS]


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Mcp]]:
    """A client of each kind of principal."""
    data = tmp_path_factory.mktemp("matrix") / "data"
    for hub in checked(HubProcess(data, env={"GREENROOM_ALLOW_ANONYMOUS_LOCAL": "true"})):
        opened = [_client(hub, None)]
        clients = {"anonymous": Mcp(opened[0])}
        for kind, token in _tokens(hub).items():
            opened.append(_client(hub, token))
            clients[kind] = Mcp(opened[-1])
        yield clients
        for client in opened:
            client.close()


def _tokens(hub: HubProcess) -> dict[str, str]:
    wanted = {
        "viewer": {"kind": "viewer"},
        "agent": {"kind": "agent"},
        "enroller": {"kind": "agent", "rights": ["read", "all", "chat", "register"]},
        "node": {"kind": "node"},
        "webhook": {"kind": "webhook"},
    }
    with _client(hub, hub.token) as operator:
        given = {
            kind: operator.post("/api/credentials", json={"name": kind, **fields}).json()["token"]
            for kind, fields in wanted.items()
        }
    return {"operator": hub.token, **given}


def _client(hub: HubProcess, token: str | None) -> httpx.Client:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    return httpx.Client(base_url=hub.url, headers=headers, timeout=WAIT_S)


def test_every_tool_has_a_row() -> None:
    assert sorted(MATRIX) == sorted(ORDER)
    assert all(len(row) == len(COLUMNS) and set(row) <= {"+", "-"} for row in MATRIX.values())


@pytest.mark.parametrize("who", COLUMNS)
def test_a_principal_is_shown_what_the_table_says_in_the_order_of_the_list(clients: dict[str, Mcp], who: str) -> None:
    column = COLUMNS.index(who)
    expected = [name for name in ORDER if MATRIX[name][column] == "+"]
    assert [tool["name"] for tool in clients[who].tools()] == expected
    assert [tool["name"] for tool in clients[who].tools()] == expected


@pytest.mark.parametrize("who", COLUMNS)
def test_a_hidden_tool_is_answered_like_one_that_does_not_exist(clients: dict[str, Mcp], who: str) -> None:
    column = COLUMNS.index(who)
    for name in ORDER:
        hidden = MATRIX[name][column] == "-"
        for spelling in (name, name.upper(), f"greenroom.{name}", f"mcp__greenroom__{name}", f" {name}"):
            said = clients[who].call(spelling, nonsense=1)
            unknown = {"error": f"Unknown tool: {spelling}", "code": -32602}
            assert (said == unknown) is (hidden or spelling != name), (who, spelling, said)
