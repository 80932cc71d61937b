"""The how-to of panels, followed to the letter: the page builds, and has the new panel."""

import json
import re
import shutil
import subprocess
from pathlib import Path

from greenroom.testing.machine_requirements import need_program
from greenroom.testing.timeouts import WAIT_S
from tests import ROOT
from tests.page.browser_journey import MODULES, need_page

_FILE = re.compile(r"```\w+\n(?://|<!--) (web/\S+?)(?: -->)?\n(.*?)```", re.DOTALL)


def test_a_panel_made_by_the_how_to_is_found_by_itself(tmp_path: Path) -> None:
    need_page()
    need_program("node")
    told = dict(_FILE.findall((ROOT / "docs" / "how-to" / "add-a-panel.md").read_text()))
    assert len(told) == 4
    shutil.copytree(ROOT / "web", tmp_path / "web", ignore=shutil.ignore_patterns("node_modules"))
    (tmp_path / "web" / "node_modules").symlink_to(MODULES)
    sentences = Path("src", "greenroom", "sentences")
    shutil.copytree(ROOT / sentences, tmp_path / sentences)
    for path, text in told.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    for words in (["run", "--silent", "check"], ["run", "--silent", "build", "--", "--logLevel", "warn"]):
        done = subprocess.run(
            ["npm", *words], cwd=tmp_path / "web", capture_output=True, text=True, timeout=2 * WAIT_S, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "machines" in json.loads((tmp_path / "src" / "greenroom" / "page" / "panels.json").read_text())
