"""`greenroom status` and `greenroom open`: the state of the hub, and its page in a browser."""

import argparse
import contextlib
import shutil
from pathlib import Path
from typing import Any

from greenroom import settings
from greenroom.cli.client import HubClient, HubUnreachable, add_options, get_own_pid, get_own_url, open_client
from greenroom.cli.terminal import escape_line, format_duration, format_size, print_notice, show_json
from greenroom.log.data_directory import FILE, FILES


def add_to(verbs: Any) -> None:
    status = verbs.add_parser(
        "status",
        help="show whether the hub runs, where, and what it is doing",
        description="Show whether the hub runs, its address, version and uptime, how many runs are active, what"
        " waits for you, and how much disk it uses. Exits 3 when no hub answers.",
        epilog="example: greenroom status --json",
    )
    add_options(status)
    status.set_defaults(run=run_status)
    opening = verbs.add_parser(
        "open",
        help="open the page in your browser, logged in",
        description=(
            "Open the page of the hub in your browser, logged in with a one-time code. If there is no "
            "browser, print the address."
        ),
        epilog="example: greenroom open --print",
    )
    add_options(opening)
    opening.add_argument("--print", action="store_true", dest="prints", help="print the address instead of opening it")
    opening.set_defaults(run=run_open)


def run_status(args: argparse.Namespace) -> int:
    try:
        found = _collect_status(args)
    except HubUnreachable as no:
        if not args.json:
            raise
        show_json({"running": False, "data": str(settings.resolve_data_dir(args.data)), "message": str(no)})
        return 3
    if args.json:
        show_json(found)
    else:
        _show_status(found)
    return 0


def _collect_status(args: argparse.Namespace) -> dict[str, Any]:
    client, data = open_client(args), settings.resolve_data_dir(args.data)
    metrics = client.get("metrics")
    nodes = client.get("nodes")
    found: dict[str, Any] = {
        "running": True,
        "url": client.url,
        "version": client.get("me")["version"],
        "uptime_s": metrics["uptime_seconds"],
        "active_runs": metrics["work"]["active_runs"],
        "runs": metrics["work"]["runs"],
        "open_asks": metrics["work"]["open_asks"],
        "usd_today": metrics["work"]["usd_today"],
        "limited": metrics["limited"],
        "near_limit": metrics["near_limit"],
        "nodes": {"connected": sum(node.get("state") == "connected" for node in nodes), "total": len(nodes)},
    }
    if client.url == get_own_url(data):
        disk = {"used_bytes": _measure_used_bytes(data), "free_bytes": shutil.disk_usage(data).free}
        found |= {"data": str(data), "pid": get_own_pid(data), "disk": disk}
    return found


def _measure_used_bytes(data: Path) -> int:
    """The size of the log and of the payload files, without agents' folders."""
    files = [*data.glob(f"{FILE}*"), *(data / FILES).rglob("*")]
    used = 0
    for file in files:
        with contextlib.suppress(OSError):  # it has just been removed
            used += file.stat().st_size if file.is_file() else 0
    return used


def _show_status(found: dict[str, Any]) -> None:
    process = f"process {found['pid']}, " if found.get("pid") else ""
    up = format_duration(int(found["uptime_s"] * 1000))
    print(
        f"hub     running at {escape_line(found['url'])} ({process}Greenroom {escape_line(found['version'])}, up {up})"
    )
    runs = ", ".join(f"{count} {status}" for status, count in found["runs"].items() if count)
    print(f"runs    {found['active_runs']} active" + (f" ({runs})" if runs else ""))
    hint = ": see `greenroom ask list`" if found["open_asks"] else ""
    print(f"asks    {found['open_asks']} waiting for an answer{hint}")
    print(f"nodes   {found['nodes']['connected']} of {found['nodes']['total']} connected")
    for name, count in found["limited"].items():
        print(f"limit   {name} reached {count} times since the start")
    for one in found["near_limit"]:
        stored = f"{format_size(one['bytes'])} of {format_size(one['limit'])}"
        print(f"limit   {escape_line(one['name'])} ({one['id']}) has stored {stored} ({one['setting']})")
    if "disk" in found:
        used, free = (format_size(found["disk"][name]) for name in ("used_bytes", "free_bytes"))
        print(f"disk    {used} used in {escape_line(found['data'])}, {free} free")


def run_open(args: argparse.Namespace) -> int:
    client = open_client(args)
    link = make_link(client)
    is_opened = not args.prints and not args.json and open_browser(link)
    if args.json:
        show_json({"url": link, "opened": False})
    elif is_opened:
        print_notice(f"Opening {escape_line(client.url)} in your browser.")
    else:
        print(link)
        if not args.prints:
            print_notice(
                "No browser could be opened: open this address on this machine. It works once, for ten minutes."
            )
    return 0


def make_link(client: HubClient) -> str:
    """The address of the page with a code that logs one browser in."""
    return f"{client.url}/login?code={client.post('login-codes')['code']}"


def open_browser(link: str) -> bool:
    """Open an address in the person's browser, if there is one that does not take over the terminal."""
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    in_terminal = isinstance(browser, webbrowser.GenericBrowser) and not isinstance(
        browser, webbrowser.BackgroundBrowser
    )
    if in_terminal and not settings.has_browser_variable():
        return False
    return browser.open(link)
