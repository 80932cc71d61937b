"""`greenroom serve`: runs the hub until somebody stops it."""

import argparse
import os
import sys
import threading
from typing import Any

from greenroom import settings
from greenroom.cli.client import add_data_option
from greenroom.cli.terminal import print_notice

_FEW_FILES = 1024
_NEW_OBJECTS = 20_000
"""After how many the collector of garbage looks through them."""
_LONG = 20_000
"""With more events than this, the hub reports the progress of a rebuild."""


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser(
        "serve",
        help="start the hub",
        description="Start the hub. It prints one line when it is ready, and stops cleanly on SIGTERM or Ctrl-C.",
        epilog="example: greenroom serve --port 0 --open",
    )
    add_data_option(parser)
    parser.add_argument("--host", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, help=f"port for everything (default: {settings.PORT}; 0 takes a free one)")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument(
        "--new", action="store_true", help="create a new hub, even if the log of an earlier one is missing"
    )
    parser.add_argument(
        "--allow-anonymous-local",
        action="store_true",
        default=None,
        help="let local programs without a credential use threads of their own",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    import gc
    import logging
    import resource

    gc.set_threshold(_NEW_OBJECTS, 20, 20)  # before modules are loaded, which are not garbage

    import uvloop

    from greenroom import app, open_files

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    data = settings.resolve_data_dir(args.data)
    given = {"host": args.host, "port": args.port, "allow_anonymous_local": args.allow_anonymous_local}
    loaded = settings.load_settings(data, given)

    def ready(url: str, code: str) -> None:
        link = f"{url}/login?code={code}"
        print(f"Greenroom is ready at {url} — log in once at {link}", flush=True)
        if args.open:
            import webbrowser

            webbrowser.open(link)

    def progress(done: int, all_events: int) -> None:
        if all_events > _LONG:
            print_notice(f"greenroom: bringing the data up to this version: {done * 100 // all_events} %")

    os.umask(0o077)
    if (limit := open_files.raise_file_limit()) < _FEW_FILES:
        words = "this hub may have only %d files open, which is few: raise the limit (ulimit -n %d) for many clients"
        logging.getLogger(__name__).warning(words, limit, _FEW_FILES)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))  # it would hold tokens
    uvloop.run(app.serve(data, loaded, ready, progress, is_new=args.new))
    _end_if_threads_are_left()
    return 0


def _end_if_threads_are_left() -> None:
    """End now: DBOS retries in threads until the database is back, and Python would wait for them."""
    left = [thread for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon]
    if left:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
