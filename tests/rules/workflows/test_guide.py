"""The guide to workflows is true: every workflow in it is right, and every key is named."""

import re

import msgspec
import pytest

from greenroom.rules.workflows import definition as d
from greenroom.rules.workflows.checks.definition_check import KnownNames
from greenroom.rules.workflows.parser.loader import load_text
from tests import ROOT

GUIDE = (ROOT / "docs" / "users" / "workflows.md").read_text()
SHOWN = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize("text", SHOWN, ids=lambda text: text.split("\n")[0])
def test_every_workflow_in_the_guide_is_right(text: str) -> None:
    load_text(text, "guide", known=KnownNames(profiles=frozenset(("rehearsal",)), runtimes=frozenset(("claude",))))


@pytest.mark.parametrize("part", d.DefinitionPart.__subclasses__(), ids=lambda part: part.__name__)
def test_every_key_is_in_the_guide(part: type[d.DefinitionPart]) -> None:
    assert not [field for field in msgspec.structs.fields(part) if f"`{field.encode_name}`" not in GUIDE]
