"""`greenroom thread`: read, post and wait in threads."""

import argparse
import time
from functools import partial
from pathlib import Path
from typing import Any

from greenroom.cli.arg_parser import add_limit_option, parse_count, parse_seconds, parse_seq
from greenroom.cli.client import HubClient, open_client, retry_while_away
from greenroom.cli.ids import build_id_type, need_id
from greenroom.cli.terminal import (
    escape_line,
    escape_lines,
    format_age,
    print_notice,
    read_stdin,
    show_json,
    show_message,
    show_table,
)
from greenroom.cli.verb_group import Run, VerbGroup, add_group
from greenroom.cli.verbs import add_verbs
from greenroom.errors import Refused
from greenroom.rules.threads.verbs import THREAD_VERBS

_WAIT_S = 300.0
_SLACK_S = 15.0
_RETRY_S = 1.0
_PAGE = 200
_STATES = ("discuss", "implement", "review", "done", "closed", "archived")


def add_to(verbs: Any) -> None:
    group = add_group(verbs, "thread", "read, post and wait in threads")
    listing = group.add("list", run_list, "list threads, newest first", "list --limit 5")
    listing.add_argument("--status", choices=_STATES, help="only threads with this status")
    listing.add_argument("--all", action="store_true", help="also archived threads")
    add_limit_option(listing)
    show = _add_thread_verb(group, "show", run_show, "show a thread's messages, oldest first", 'show "Plan" --limit 9')
    show.add_argument("--after", type=parse_seq, default=0, metavar="SEQ", help="only messages after this seq")
    show.add_argument("--limit", type=parse_count, help="only the newest N")
    post = _add_thread_verb(group, "post", run_post, "post a message in a thread", 'post "Plan" "Shall we?" --new')
    post.add_argument("text", metavar="TEXT", help="the message; - reads it from stdin")
    post.add_argument("--new", action="store_true", help="create the thread if there is none with that topic")
    post.add_argument("--as", dest="author", metavar="NAME", help="your name, if you post as a person")
    post.add_argument(
        "--to", metavar="AGENT", type=build_id_type("agt", suggests=False), help="hand over to this agent"
    )
    wait = _add_thread_verb(group, "wait", run_wait, "wait for the next messages in a thread", 'wait "Plan" --follow')
    wait.add_argument(
        "--after", type=parse_seq, metavar="SEQ", help="wait for messages after this seq (default: from now)"
    )
    wait.add_argument(
        "--timeout", type=parse_seconds, default=_WAIT_S, metavar="S", help=f"seconds to wait (default: {_WAIT_S:.0f})"
    )
    wait.add_argument(
        "--for",
        dest="for_agent",
        metavar="AGENT",
        type=build_id_type("agt", suggests=False),
        help="only handoffs to this agent",
    )
    wait.add_argument("--follow", action="store_true", help="continue until Ctrl-C, also across restarts of the hub")
    export = _add_thread_verb(group, "export", run_export, "export a thread as Markdown", 'export "Plan" --out plan.md')
    export.add_argument("--out", metavar="FILE", help="write to a new file")
    add_verbs(group.actions, THREAD_VERBS)


def _add_thread_verb(group: VerbGroup, name: str, run: Run, says: str, example: str) -> argparse.ArgumentParser:
    parser = group.add(name, run, says, example)
    parser.add_argument("thread", metavar="THREAD", help="the thread, by id or topic")
    return parser


def run_list(args: argparse.Namespace) -> int:
    found = _find_threads(open_client(args), args.status, args.all, args.limit)
    if args.json:
        show_json(found)
    else:
        rows = [
            (
                t["id"],
                t["status"],
                format_age(t["created_at"]),
                t["message_count"],
                _format_agents(t),
                "yes" if t["pinned"] else "",
                t["topic"],
            )
            for t in found["threads"]
        ]
        show_table(rows, ("id", "status", "age", "messages", "waiting", "pinned", "topic"), "No threads found.")
        if found["has_more"]:
            print_notice(f"greenroom: There are {found['total']} threads: see more with --limit.")
    return 0


def _format_agents(thread: dict[str, Any]) -> str:
    """Who waits in the thread."""
    return ", ".join(agent["display_name"] for agent in thread["waiting_agents"])


def _find_threads(client: HubClient, status: str | None, archived: bool, limit: int) -> dict[str, Any]:
    """A list of threads as the hub gives it, made of as many pages as it takes."""
    which: dict[str, Any] = {"status": status, "include_archived": str(archived).lower()}
    found: dict[str, Any] = client.get("threads", **which, limit=min(limit, _PAGE))
    while found["has_more"] and (left := limit - len(found["threads"])) > 0:
        page = client.get("threads", **which, limit=min(left, _PAGE), before=found["next_cursor"])
        found = {**page, "threads": found["threads"] + page["threads"]}
    return found


def run_show(args: argparse.Namespace) -> int:
    client = open_client(args)
    found = _find_messages(client, need_thread_id(client, args.thread), args.after, args.limit)
    if args.json:
        show_json(found)
    else:
        for message in found:
            show_message(message)
    return 0


def _find_messages(client: HubClient, thread_id: str, after: int, newest: int | None) -> list[dict[str, Any]]:
    """All messages after a seq, page by page; or only the newest of them."""
    found: list[dict[str, Any]] = []
    if newest is not None:
        while (left := newest - len(found)) > 0:
            before = found[0]["seq"] if found else 2**53 - 1
            page = client.get(
                "threads", thread_id, "messages", after_seq=after, before_seq=before, limit=min(left, _PAGE)
            )
            if not page:
                break
            found = page + found
        return found
    while page := client.get("threads", thread_id, "messages", after_seq=after, limit=_PAGE):
        found += page
        after = page[-1]["seq"]
    return found


def run_post(args: argparse.Namespace) -> int:
    client = open_client(args)
    text = read_stdin() if args.text == "-" else args.text
    if args.new and not _is_id(args.thread):
        thread_id = client.post("threads", body={"topic": args.thread})["id"]
    else:
        thread_id = need_thread_id(client, args.thread)
    body: dict[str, Any] = {"content": text}
    if args.author:
        body["author"] = args.author
    if args.to:
        body["metadata"] = {"handoff_target": args.to}
    posted = client.post("threads", thread_id, "messages", body=body)
    if args.json:
        show_json({"thread_id": thread_id, **posted})
    else:
        print(f"Posted as message {posted['seq']} in {escape_line(thread_id)}.")
        for one in posted["unreached"]:
            print_notice(f"greenroom: {escape_line(one['why'])}{_build_remedy(thread_id, one)}")
    return 0


def _build_remedy(thread_id: str, unreached: dict[str, Any]) -> str:
    """The command that reaches somebody all the same."""
    if not unreached["remedy"]:
        return ""
    whom = unreached["agent_id"] if unreached["remedy"] == "wake" else unreached["profile"]
    return f" (greenroom invite {escape_line(whom)} --thread {escape_line(thread_id)})"


def run_wait(args: argparse.Namespace) -> int:
    client = open_client(args)
    thread_id = need_thread_id(client, args.thread)
    after = args.after
    if after is None and not client.is_agent:  # an agent continues where it was
        after = client.get("threads", thread_id)["current_seq"]
    deadline = time.monotonic() + args.timeout
    while True:
        ask = partial(_wait_for_messages, client, thread_id, after, deadline, args.for_agent)
        messages, closed = retry_while_away(ask) if args.follow else ask()
        for message in messages:
            show_json(message) if args.json else show_message(message)
            after = message["seq"]
        if messages and not args.follow:
            return 0
        if closed:
            print_notice("greenroom: The thread is closed: nothing more will be said in it.")
            return 0 if args.follow else 1
        if time.monotonic() >= deadline:
            if not args.follow:
                print_notice(f"greenroom: Nothing was said within {args.timeout:g} seconds.")
                return 1
            deadline = time.monotonic() + max(_RETRY_S, args.timeout)


def _wait_for_messages(
    client: HubClient, thread_id: str, after: int | None, deadline: float, for_agent: str | None
) -> tuple[list[dict[str, Any]], bool]:
    """The messages of one wait, and whether there will be no more."""
    left_s = max(0.0, deadline - time.monotonic())
    began = time.monotonic()
    answer = client.get(
        "threads",
        thread_id,
        "wait",
        after_seq=after,
        timeout_ms=int(left_s * 1000),
        for_agent=for_agent,
        timeout_s=left_s + _SLACK_S,
    )
    if answer["messages"]:
        return answer["messages"], False
    if client.get("threads", thread_id)["status"] in ("closed", "archived"):
        return [], True
    if time.monotonic() - began < min(left_s, _RETRY_S):
        time.sleep(_RETRY_S)  # sent away early because the hub is stopping
    return [], False


def run_export(args: argparse.Namespace) -> int:
    client = open_client(args)
    content = client.request("GET", ("threads", need_thread_id(client, args.thread), "export"))
    if args.out:
        with _create_file(args.out) as out:
            out.write(content)
        print_notice(f"Written to {args.out}.")
    elif args.json:
        show_json({"markdown": content.decode()})
    else:
        print(escape_lines(content.decode()))
    return 0


def _create_file(name: str) -> Any:
    try:
        return Path(name).expanduser().open("xb")
    except OSError as error:
        raise Refused.in_words("file_unusable", f"{name} cannot be written ({error.strerror}).") from error


def need_thread_id(client: HubClient, wanted: str) -> str:
    """The id of a thread that is named by its id, a part of it, or its topic."""
    found = need_id(client, wanted, "thr")
    if not _is_id(found):
        raise Refused.in_words(
            "thread_not_found",
            f"There is no thread {wanted!r}: see `greenroom thread list`, or open it with `thread post --new`.",
        )
    return found


def _is_id(wanted: str) -> bool:
    return wanted.startswith(("thr_", "mbx_"))
