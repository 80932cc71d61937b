"""`greenroom demo`: a hub full of example work, with agents that need no key."""

import argparse
import os
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from greenroom import settings
from greenroom.cli.client import HubClient, HubUnreachable
from greenroom.cli.processes import end_process
from greenroom.cli.terminal import print_notice
from greenroom.errors import Refused
from greenroom.log.data_directory import OPERATOR_TOKEN

_TRIES = 30
_END_S = 15.0
_STOPPING_S = 10.0
"""A hub that is being stopped refuses, or is gone, before it has ended."""


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "demo",
        help="start a hub with scripted agents to try; no key needed",
        description=(
            "Start a separate hub with scripted agents, threads, a running workflow, open questions and "
            "approvals, and open its page. Ctrl-C stops it. Nothing is kept unless you pass --data."
        ),
        epilog="example: greenroom demo --no-open",
    )
    parser.add_argument("--data", help="data directory to create and keep (default: a temporary one)")
    parser.add_argument("--port", type=int, default=0, help="port of the hub (default: a free one)")
    parser.add_argument("--no-open", action="store_true", help="print the link instead of opening the browser")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    import uvloop

    from greenroom import app

    os.umask(0o077)
    data = Path(args.data or tempfile.mkdtemp(prefix="greenroom-demo-"))
    # it shares the machine with all its agents, so a pause of the loop means nothing to a visitor
    loaded = settings.load_settings(data, {"port": args.port, "database": None, "local_node": True, "loop_pause_ms": 0})
    failed, over = threading.Event(), threading.Event()

    def ready(url: str, code: str) -> None:
        kept = f"its data stays in {data}" if args.data else "nothing of it is kept"
        link = f"{url}/login?code={code}"
        words = f"Greenroom is ready at {url} — log in once at {link}\nStop it with Ctrl-C; {kept}."
        opened = None if args.no_open else link
        threading.Thread(target=_fill_hub, args=(data, url, words, opened, failed, over), daemon=True).start()

    try:
        uvloop.run(app.serve(data, loaded, ready))
    finally:
        over.set()
        _end_node(data)
        if not args.data:
            shutil.rmtree(data, ignore_errors=True)
    return 1 if failed.is_set() else 0


def _fill_hub(
    data: Path, url: str, words: str, opened: str | None, failed: threading.Event, over: threading.Event
) -> None:
    from greenroom.demo.scene import fill_hub

    client = HubClient(url, (data / OPERATOR_TOKEN).read_text().strip())
    try:
        fill_hub(client, lambda what: print(f"  {what}", flush=True))
    except (Refused, HubUnreachable) as error:
        if over.wait(_STOPPING_S):
            return
        print_notice(f"greenroom: the demonstration could not be set up: {error}")
        failed.set()
        os.kill(os.getpid(), signal.SIGTERM)
        return
    print(words, flush=True)
    if opened:
        import webbrowser

        webbrowser.open(opened)


def _end_node(data: Path) -> None:
    """End the node that the hub has started beside itself, and wait until it has ended its agents."""
    lock = data / "node" / "lock"
    text = ""
    for _ in range(_TRIES):
        text = lock.read_text().strip() if lock.exists() else ""
        if text:
            break
        time.sleep(0.1)  # it has only just been started
    else:
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    end_process(int(text), lock, _END_S)
