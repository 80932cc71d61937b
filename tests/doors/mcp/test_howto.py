"""The how-to says what is true: its example is served, called and refused."""

import re
import textwrap
from typing import Any

import pytest

from greenroom.doors.mcp.tool import McpCatalog
from greenroom.sentences import CATALOGUE
from tests import ROOT
from tests.doors.mcp.mcp_rig import NEW, serving, text_of

pytestmark = pytest.mark.anyio
HOW_TO = ROOT / "docs" / "how-to" / "add-a-tool.md"


async def test_the_example_of_the_how_to_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CATALOGUE, "OddDie", "A die has an even number of sides.")
    found = re.search(r"```python\n(.*?)```", HOW_TO.read_text(), re.DOTALL)
    assert found is not None
    names: dict[str, Any] = {}
    exec(textwrap.dedent(found[1]), names)  # noqa: S102 our own text
    async with serving(McpCatalog(tools=(names["ROLL"],))) as rig, rig.client(NEW) as client:
        assert text_of(await client.call_tool("die_roll", {})) == {"rolled": 3, "by": "ann"}
        refused = text_of(await client.call_tool("die_roll", {"sides": 7}))
        message = "A die has an even number of sides."
        assert refused == {"error": "OddDie", "message": message, "key": "OddDie", "params": {}, "sides": 7}
        assert (await client.call_tool("die_roll", {"sides": 1})).is_error
