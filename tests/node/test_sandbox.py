"""What an agent in the sandbox finds: its own directory, and no way to what runs or is kept outside."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from greenroom.node.sandbox import Sandbox, make_sandbox
from greenroom.testing.machine_requirements import need_program
from greenroom.testing.timeouts import WAIT_S

pytestmark = pytest.mark.anywhere
LOOK = """
import json, os, pathlib, sys
home, out = pathlib.Path(sys.argv[1]), {}
out["run"] = sorted(os.listdir("/run"))
out["folders"] = {n: os.listdir(home / n) for n in (".ssh", ".aws", ".config/gh")}
def text(name):
    try:
        return (home / name).read_text()
    except PermissionError:
        return ""
out["files"] = {n: text(n) for n in (".netrc", ".git-credentials")}
out["kept"] = (home / ".gitconfig").read_text()
out["hub"] = os.listdir(sys.argv[2])
print(json.dumps(out))
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    found = tmp_path / "home"
    for name in (".ssh/id_rsa", ".aws/credentials", ".config/gh/hosts.yml", ".netrc", ".git-credentials", ".gitconfig"):
        file = found / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("canary")
    return found


def test_secrets_of_the_home_and_sockets_of_services_are_not_there(tmp_path: Path, home: Path) -> None:
    need_program("bwrap")
    node = tmp_path / "data" / "node"
    (node / "scratch" / "other").mkdir(parents=True)
    (tmp_path / "data" / "operator.token").write_text("canary")
    box = make_sandbox("bwrap", node, str(home), [home])
    assert box is not None
    command = box.wrap([sys.executable, "-c", LOOK, str(home), str(tmp_path / "data")], home)
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert set(seen["run"]) <= {"systemd", "resolvconf", "NetworkManager", "current-system"}
    assert seen["folders"] == {".ssh": [], ".aws": [], ".config/gh": []}
    assert set(seen["files"].values()) == {""}
    assert seen["kept"] == "canary", "its own directory is there, though it is the home"
    assert "operator.token" not in seen["hub"]


def test_a_directory_that_was_swapped_for_the_hubs_own_is_not_given_away(tmp_path: Path) -> None:
    need_program("bwrap")
    node = tmp_path / "data" / "node"
    node.mkdir(parents=True)
    for own in (tmp_path / "data", node):
        link = tmp_path / f"project-{own.name}"
        link.symlink_to(own)
        box = make_sandbox("bwrap", node, None, [link])
        assert isinstance(box, Sandbox)
        with pytest.raises(ValueError, match="is not a directory for an agent"):
            box.wrap(["/bin/true"], link)
