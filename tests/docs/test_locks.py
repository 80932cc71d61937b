"""What is installed is what was locked: every entry of every lock file has a digest, and none names a registry."""

import json
import subprocess
from pathlib import Path

from tests import ROOT


def find_locks(name: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", f"*{name}"], cwd=ROOT, capture_output=True, text=True, check=False)
    found = [ROOT / line for line in listed.stdout.splitlines()]
    return found or [
        path for path in ROOT.rglob(name) if "node_modules" not in path.parts and ".clis" not in path.parts
    ]


def test_every_package_of_the_page_and_of_the_test_clis_is_locked_by_its_digest() -> None:
    locks = find_locks("package-lock.json")
    assert len(locks) == 3
    for lock in locks:
        packages = {name: one for name, one in json.loads(lock.read_text())["packages"].items() if name}
        assert not [name for name, one in packages.items() if not str(one.get("integrity")).startswith("sha512-")], lock
        assert not [name for name, one in packages.items() if "resolved" in one or one.get("link")], lock


def test_every_python_package_is_locked_by_its_digest() -> None:
    text = (ROOT / "requirements.lock").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    assert lines
    assert not [line for line in lines if "==" not in line or "--hash=sha256:" not in line]
    assert "://" not in text
