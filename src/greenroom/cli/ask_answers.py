"""How `greenroom ask` answers asks that are named, or the only one that is open."""

import argparse
import base64
import json
import mimetypes
import time
from pathlib import Path
from typing import Any

from greenroom.cli.ask_prompt import (
    DONE,
    AnsweredElsewhere,
    Ask,
    is_at_terminal,
    is_confirmed,
    show_call,
    tell_outcome,
)
from greenroom.cli.ask_rule import parse_rule_options, show_rule
from greenroom.cli.client import HubClient, open_client
from greenroom.cli.terminal import escape_line, print_notice, show_json
from greenroom.errors import Refused

_MOST_NAMED = 10


def need_only_open(client: HubClient) -> Ask:
    """The only ask that is open; refused with all of them when there are several."""
    now_ms = time.time() * 1000
    found = [ask for ask in client.get("asks", limit=500)["asks"] if ask.get("snoozed_until", 0) <= now_ms]
    if not found:
        raise Refused.in_words("ask_not_found", "Nothing waits for an answer.", "not_found")
    if len(found) > 1:
        named = [f"{ask['id']}  {escape_line(ask['title'])}" for ask in found[:_MOST_NAMED]]
        more = [f"and {len(found) - _MOST_NAMED} more: see `greenroom ask list`"] if len(found) > _MOST_NAMED else []
        said = [f"{len(found)} asks are open. Name the one that you mean:", *named, *more]
        raise Refused.in_words("several_asks", "\n".join(said))
    only: Ask = found[0]
    return only


Chosen = tuple[str, str | None]
"""The id of an ask, and the digest of the call that was shown."""


def run_answer(args: argparse.Namespace) -> int:
    client = open_client(args)
    body = _build_body(args)
    if getattr(args, "dry_run", False):
        return _preview(client, args, body)
    try:
        chosen = _choose_named(client, args) if args.ids else _choose_open(client, args)
    except AnsweredElsewhere as late:
        tell_outcome(late.ask)
        return 1
    except EOFError:
        chosen = []
    if not chosen:
        print_notice("greenroom: nothing was answered.")
        return 1
    if "remember" in body:
        for ask_id, _ in chosen:
            show_rule(client, ask_id, args.verdict, body["remember"])
    results = _send(client, chosen, body)
    if args.json:
        show_json(results)
    else:
        for result in results:
            told = [DONE[args.verdict].lower().rstrip(".")] if result["ok"] else []
            told += [escape_line(result["message"])] if result.get("message") else []
            print_notice(f"{result['ask_id']}: {'; '.join(told)}")
    return 0 if all(result["ok"] for result in results) else 1


def _preview(client: HubClient, args: argparse.Namespace, body: dict[str, Any]) -> int:
    """Show what would be answered, and answer nothing."""
    for ask in [client.get("asks", ask_id) for ask_id in args.ids] or [need_only_open(client)]:
        show_call(ask)
        if "remember" in body:
            show_rule(client, ask["id"], args.verdict, body["remember"])
    return 0


def _choose_named(client: HubClient, args: argparse.Namespace) -> list[Chosen]:
    """Asks by their ids. An approval covers what is shown now, unless a digest was given. High risk needs a word."""
    given = getattr(args, "digest", None)
    if args.verdict != "approve" or given is not None:
        return [(ask_id, given) for ask_id in args.ids]
    asks = [client.get("asks", ask_id) for ask_id in args.ids]
    for ask in asks:
        show_call(ask)
    if _is_risky(asks) and not args.yes:
        if not is_at_terminal():
            raise Refused.in_words(
                "unseen", "This is high risk, and nobody is here to look at it: add --digest or --yes."
            )
        if not is_confirmed(client, asks[0], "approve"):
            return []
    return [(ask["id"], ask.get("digest")) for ask in asks]


def _is_risky(asks: list[Ask]) -> bool:
    """Whether this is one ask of high risk; among several the hub takes none."""
    return len(asks) == 1 and asks[0]["state"] == "open" and asks[0].get("risk") == "high"


def _choose_open(client: HubClient, args: argparse.Namespace) -> list[Chosen]:
    """The only ask that is open, once it was shown and the person at the terminal says that it is the one."""
    given, ask = getattr(args, "digest", None), need_only_open(client)
    if given is not None:
        return [(ask["id"], given)]
    if not is_at_terminal():
        raise Refused.in_words(
            "unseen", f"Nobody is here to look at it: say that you mean {ask['id']} ({escape_line(ask['title'])})."
        )
    show_call(ask)
    return [(ask["id"], ask.get("digest"))] if is_confirmed(client, ask, args.verdict) else []


def _build_body(args: argparse.Namespace) -> dict[str, Any]:
    """The answer to each."""
    body: dict[str, Any] = {"verdict": args.verdict, "text": args.text, "name": args.name}
    body["scope"] = getattr(args, "scope", "once")
    if body["scope"] == "rule":
        body["remember"] = parse_rule_options(args.rule)
    elif getattr(args, "rule", []):
        raise Refused.in_words("bad_choice", "--rule belongs to --for rule.")
    for name in ("arguments", "form"):
        if getattr(args, name, None) is not None:
            body[name] = _parse_json(getattr(args, name), name)
    if getattr(args, "option", []):
        body["options"] = [args.option]
    body["contents"] = [_read_content(Path(file)) for file in getattr(args, "file", [])]
    return body


def _send(client: HubClient, chosen: list[Chosen], body: dict[str, Any]) -> list[dict[str, Any]]:
    """The outcome of each. A single one goes by itself, the only way in which the hub accepts approval of high risk."""
    if len(chosen) > 1:
        many = [{"ask_id": ask_id, **body, "digest": digest} for ask_id, digest in chosen]
        found: list[dict[str, Any]] = client.post("asks", "answers", body={"answers": many})["results"]
        return found
    ((ask_id, digest),) = chosen
    try:
        ask = client.post("asks", ask_id, "answer", body={**body, "digest": digest})
    except Refused as no:
        return [{"ask_id": ask_id, "ok": False, "code": no.code, "message": no.message, **no.details}]
    return [{"ask_id": ask_id, "ok": True, "state": ask["state"], "message": ask.get("reason", "")}]


def _parse_json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise Refused.in_words("bad_json", f"--{name} is not JSON ({error}): write it in single quotes.") from None


def _read_content(file: Path) -> dict[str, str]:
    mime = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    kind = mime.partition("/")[0]
    try:
        data = base64.b64encode(file.read_bytes()).decode()
    except OSError as error:
        raise Refused.in_words("bad_file", f"{file} cannot be read ({error.strerror}).") from error
    return {"type": kind if kind in ("image", "audio") else "resource", "mime": mime, "name": file.name, "data": data}
