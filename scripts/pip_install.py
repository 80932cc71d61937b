"""Install packages with pip and show how far it is; what pip itself says is kept in a file and shown when it fails.

python scripts/pip_install.py --require-hashes -r requirements.lock
"""

import queue
import re
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

LOG = Path(sys.prefix) / "pip.log"
_SHOWN_LINES = 40
_EVERY_S = 5.0
_PINNED = re.compile(r"^[A-Za-z0-9].*==", re.MULTILINE)
_FOUND = re.compile(r"(?:Collecting|Obtaining|Processing|Requirement already satisfied:) (\S+)")


class Progress:
    """What pip is at: one line that changes on a terminal; elsewhere a line every few seconds."""

    def __init__(self, wanted: int) -> None:
        self._is_terminal = sys.stdout.isatty()
        self._began = self._shown_at = time.monotonic()
        self._wanted = wanted
        self._found = 0
        self._text = "looking for packages"

    def hear(self, line: str) -> None:
        """Take in a line of pip's."""
        if match := _FOUND.match(line):
            self._found += 1
            name = re.split(r"==|-\d", Path(match[1]).name)[0]
            self._text = f"{self._found} of {max(self._found, self._wanted)}: {name}" if self._wanted else name
        elif line.startswith("Ignoring "):
            self._wanted -= 1
        elif line.startswith("Installing collected packages"):
            self._text = "all found, installing them"

    def show(self) -> None:
        """Say where it is now, and since when it goes on."""
        now = time.monotonic()
        if not self._is_terminal and now - self._shown_at < _EVERY_S:
            return
        self._shown_at = now
        text = f"  {now - self._began:3.0f} s  {self._text}"
        print(f"\r\x1b[K{text}" if self._is_terminal else text, end="" if self._is_terminal else "\n", flush=True)

    def end(self) -> None:
        if self._is_terminal:
            print("\r\x1b[K", end="", flush=True)


def count_pinned(arguments: list[str]) -> int:
    """How many packages the files name that were given."""
    files = [Path(name) for option, name in pairwise(arguments) if option == "-r"]
    return sum(len(_PINNED.findall(file.read_text())) for file in files)


def follow(pip: "subprocess.Popen[str]", progress: Progress) -> None:
    """Show what pip is at until it ends, also while it says nothing."""
    assert pip.stdout is not None  # noqa: S101 opened as a pipe
    said: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in pip.stdout or ():
            said.put(line)
        said.put(None)

    threading.Thread(target=read, daemon=True).start()
    with LOG.open("w") as log:
        line: str | None = ""
        while line is not None:
            try:
                line = said.get(timeout=1)
                log.write(line or "")
                progress.hear(line or "")
            except queue.Empty:
                pass
            progress.show()
    progress.end()


def main() -> int:
    arguments = sys.argv[1:]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
        "--progress-bar=off",
    ]
    with subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        follow(pip, Progress(count_pinned(arguments)))
    if pip.returncode:
        print("".join(LOG.read_text().splitlines(keepends=True)[-_SHOWN_LINES:]), file=sys.stderr)
        print(f"pip failed; all that it said is in {LOG}", file=sys.stderr)
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main())
