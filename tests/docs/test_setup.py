"""`make setup` shows how far it is, and says what pip said when it fails."""

import subprocess
import sys
from pathlib import Path

from greenroom.testing.timeouts import WAIT_S
from tests import ROOT

SCRIPT = ROOT / "scripts" / "pip_install.py"
FAKE_PIP = """
import sys, time
print("WARNING: a place is ignored")
print("Ignoring elsewhere: markers do not match")
print("Collecting first==1.0 (from -r requirements)", flush=True)
time.sleep(float(sys.argv[-1]))
print("Installing collected packages: first")
sys.exit("no room is left" if sys.argv[-2] == "fails" else 0)
"""


def install(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run the script with a pip that says what it is told to, and goes on for some seconds."""
    (folder / "pip").mkdir(exist_ok=True)
    (folder / "pip" / "__init__.py").touch()
    (folder / "pip" / "__main__.py").write_text(FAKE_PIP)
    (folder / "wanted").write_text("first==1.0 \\\n    --hash=x\nelsewhere==2\n")
    command = [sys.executable, str(SCRIPT), "-r", str(folder / "wanted"), *words]
    env = {"PYTHONPATH": str(folder)}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=WAIT_S, check=False)


def test_a_pip_that_says_nothing_for_long_is_still_shown_to_be_at_work(tmp_path: Path) -> None:
    ran = install(tmp_path, "works", "6")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "1 of 1: first" in ran.stdout
    assert "WARNING" not in ran.stdout


def test_what_pip_said_is_shown_when_it_fails(tmp_path: Path) -> None:
    ran = install(tmp_path, "fails", "0")
    assert ran.returncode == 1
    assert "no room is left" in ran.stderr
