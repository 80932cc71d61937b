"""Greenroom and agents' programs installed in folders that a sandbox covers, as real files."""

import shutil
import subprocess
import sys
from pathlib import Path

import greenroom

SOURCE = Path(greenroom.__file__).parent


def install_greenroom(folder: Path) -> Path:
    """An environment with Greenroom in it, from a source folder beside it; its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True, timeout=300)
    shutil.copytree(SOURCE, folder / "src" / "greenroom", ignore=shutil.ignore_patterns("page", "__pycache__"))
    (packages,) = (folder / ".venv" / "lib").glob("python*/site-packages")
    used = [entry for entry in sys.path if Path(entry).name == "site-packages"]
    (packages / "greenroom.pth").write_text("\n".join([str(folder / "src"), *used]) + "\n")
    return folder / ".venv" / "bin" / "python"


def install_cli(folder: Path) -> tuple[Path, Path]:
    """A program as npm installs it, which reads a package beside its own, and the folder with its interpreter."""
    modules, runtime = folder / "app" / "node_modules", folder / "runtime" / "bin"
    for path in (modules / ".bin", modules / "agent" / "bin", modules / "dependency", runtime):
        path.mkdir(parents=True)
    shutil.copy("/bin/sh", runtime / "interpreter")
    (modules / "dependency" / "words").write_text("the dependency is there\n")
    script = modules / "agent" / "bin" / "agent.js"
    script.write_text('#!/usr/bin/env interpreter\ncat "$(dirname "$(readlink -f "$0")")/../../dependency/words"\n')
    script.chmod(0o755)
    (modules / ".bin" / "agent").symlink_to("../agent/bin/agent.js")
    return modules / ".bin" / "agent", runtime
