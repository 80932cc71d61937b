"""`greenroom ask`: what waits for a person, in the terminal: look, answer, put off, hand on."""

import argparse
import base64
import json
import mimetypes
import time
from pathlib import Path
from typing import Any

from greenroom.cli.client import Client, add_options, open_client
from greenroom.cli.terminal import cut, duration, line, lines, say, show_json, show_table
from greenroom.cli.watch import add_watch
from greenroom.log.errors import Refused

_PAGE = 500
_TITLE = 80
_STATES = ("open", "answered", "expired", "withdrawn", "all")
_KINDS = ("question", "report", "permission", "decision", "gate")
_RISKS = ("high", "medium", "low")


def add_to(verbs: Any) -> None:
    parser = verbs.add_parser("ask", help="what waits for you: look at it and answer it")
    inner = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = _verb(inner, "list", "what waits, high risk first", "greenroom ask list --kind permission", run_list)
    listing.add_argument("--state", choices=_STATES, default="open", help="(default: open)")
    listing.add_argument("--kind", choices=_KINDS)
    listing.add_argument("--risk", choices=_RISKS)
    listing.add_argument("--run", dest="run_id", metavar="RUN", help="only what this run waits for")
    show = _verb(
        inner, "show", "one ask: the exact call, and what became of it", "greenroom ask show ask_01m7...", run_show
    )
    show.add_argument("id", metavar="ID")
    answer = _verb(
        inner, "answer", "answer a question", "greenroom ask answer ask_01m7... --text 'use 8080'", run_answer
    )
    answer.add_argument("ids", metavar="ID", nargs="+")
    _words(answer)
    answer.add_argument("--option", action="append", default=[], help="a choice; may be repeated")
    answer.add_argument("--form", metavar="JSON", help="the value of its form, as JSON")
    answer.add_argument(
        "--file", action="append", default=[], metavar="FILE", help="send a file along; may be repeated"
    )
    answer.set_defaults(verdict="answer")
    for verdict, help_text in (("approve", "say yes to calls, gates and decisions"), ("deny", "say no, with words")):
        one = _verb(inner, verdict, help_text, f"greenroom ask {verdict} ask_01m7... ask_01m8...", run_answer)
        one.add_argument("ids", metavar="ID", nargs="+")
        _words(one)
        one.add_argument(
            "--for",
            dest="scope",
            choices=("once", "run", "profile", "rule"),
            default="once",
            help="how long it holds: this call, like calls of the run or of the profile, or as a rule (default: once)",
        )
        if verdict == "approve":
            one.add_argument("--arguments", metavar="JSON", help="run it with these arguments instead")
            one.add_argument("--digest", help="only if this is still what is asked (see `ask show`)")
            one.add_argument("--form", metavar="JSON", help="the value of its form, as JSON")
        one.set_defaults(verdict=verdict)
    _add_moves(inner)
    add_watch(inner, "greenroom ask watch --json")


def _add_moves(inner: Any) -> None:
    """What is done with an ask beside answering it."""
    snooze = _verb(
        inner, "snooze", "put asks out of sight for a while", "greenroom ask snooze ask_01m7... --for 1h", run_snooze
    )
    snooze.add_argument("ids", metavar="ID", nargs="+")
    snooze.add_argument(
        "--for", dest="time", default="1h", metavar="TIME", help="such as 30m, 2h, 1d; 0 brings it back"
    )
    delegate = _verb(
        inner, "delegate", "hand an ask on", "greenroom ask delegate ask_01m7... --to room:ops", run_delegate
    )
    delegate.add_argument("ids", metavar="ID", nargs="+")
    delegate.add_argument(
        "--to", required=True, help="a person, or the people of a room as room:NAME; '' takes it back"
    )
    withdraw = _verb(inner, "withdraw", "take an ask back", "greenroom ask withdraw ask_01m7...", run_withdraw)
    withdraw.add_argument("ids", metavar="ID", nargs="+")
    withdraw.add_argument("--reason", default="", help="why")


def _verb(inner: Any, name: str, help_text: str, example: str, run: Any) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = inner.add_parser(name, help=help_text, epilog=f"example: {example}")
    add_options(parser)
    parser.set_defaults(run=run)
    return parser


def _words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--text", default="", help="words for who asks")
    parser.add_argument("--name", default="", help="how you want to be named beside your credential")


def run_list(args: argparse.Namespace) -> int:
    wanted = {"state": args.state, "kind": args.kind, "risk": args.risk, "run_id": args.run_id}
    found = all_asks(open_client(args), **wanted)
    if args.json:
        show_json(found)
        return 0
    found.sort(key=lambda ask: (_RISKS.index(ask.get("risk", "low")), ask["asked_at"]))
    rows = [(a["id"], a["kind"], a.get("risk", "low"), a["asker"].get("name", ""), how(a), _title(a)) for a in found]
    show_table(rows, ["ID", "KIND", "RISK", "WHO", "STATE", "WHAT"])
    return 0


def _title(ask: dict[str, Any]) -> str:
    return cut(line(ask["title"]), _TITLE)


def all_asks(client: Client, **wanted: Any) -> list[dict[str, Any]]:
    """All asks that are wanted, page by page."""
    found: list[dict[str, Any]] = []
    after = 0
    while True:
        page = client.get("asks", after=after, limit=_PAGE, **wanted)
        found += page["asks"]
        if page["next"] is None:
            return found
        after = page["next"]


def how(ask: dict[str, Any]) -> str:
    """Where an ask stands, in a word or two."""
    if ask["state"] == "answered":
        answer = ask["answer"]
        return f"{answer['verdict']} by {answer.get('rule') or answer['name']}"
    if ask["state"] == "open" and ask.get("snoozed_until", 0) > time.time() * 1000:
        return "snoozed"
    if ask["state"] == "open" and ask.get("deadline"):
        return f"{duration(max(0, ask['deadline'] // 1000 - int(time.time())) * 1000)} left"
    return str(ask["state"])


def _votes(ask: dict[str, Any], side: str) -> str:
    """Who has voted so, and of how many, where several have a say."""
    names = ", ".join(one.get("seat") or one["name"] for one in ask.get(side, []))
    needed = f" ({ask['approvers']} needed)" if side == "approvals" and ask.get("approvers", 1) > 1 else ""
    return names + needed


def run_show(args: argparse.Namespace) -> int:
    ask = open_client(args).get("asks", args.id)
    if args.json:
        show_json(ask)
        return 0
    for name, value in (
        ("id", ask["id"]),
        ("kind", ask["kind"]),
        ("state", how(ask)),
        ("risk", ask.get("risk", "low")),
        ("who", ask["asker"].get("name", "")),
        ("run", ask.get("run_id", "")),
        ("why asked", ask.get("why", "")),
        ("asked of", ", ".join(ask.get("asked_of", []))),
        ("handed to", ask.get("delegated_to", "")),
        ("yes", _votes(ask, "approvals")),
        ("no", _votes(ask, "refusals")),
        ("digest", ask.get("digest", "")),
    ):
        if value:
            print(f"{name:10} {line(value)}")
    for name, value in ask.get("subject", {}).items():
        print(f"{name:10} {json.dumps(value, ensure_ascii=True)}")  # every byte that will run, escaped
    for number, question in enumerate(ask.get("questions", []), 1):
        print(f"{number}. {lines(question['question'])}")
        for option in question.get("options", []):
            print(f"   - {line(option['label'])}  {line(option.get('description', ''))}")
    said = ask.get("text") or ask["title"]
    print(f"it says:\n{_indented(said)}")
    if ask.get("answer", {}).get("text"):
        print(f"answer:\n{_indented(ask['answer']['text'])}")
    return 0


def _indented(text: str) -> str:
    return "\n".join(f"    {row}" for row in lines(text).split("\n"))


def run_answer(args: argparse.Namespace) -> int:
    client = open_client(args)
    body: dict[str, Any] = {"verdict": args.verdict, "text": args.text, "name": args.name}
    body["scope"] = getattr(args, "scope", "once")
    body["digest"] = getattr(args, "digest", None)
    for name in ("arguments", "form"):
        if getattr(args, name, None) is not None:
            body[name] = _json_of(getattr(args, name), name)
    if getattr(args, "option", []):
        body["options"] = [args.option]
    body["contents"] = [_content(Path(file)) for file in getattr(args, "file", [])]
    results = client.post("asks", "answers", body={"answers": [{"ask_id": one, **body} for one in args.ids]})["results"]
    if args.json:
        show_json(results)
    else:
        for result in results:
            told = [args.verdict] if result["ok"] else []
            told += [line(result["message"])] if result.get("message") else []
            say(f"{result['ask_id']}: {'; '.join(told)}")
    return 0 if all(result["ok"] for result in results) else 1


def _json_of(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise Refused("bad_json", f"--{name} is not JSON ({error}): write it in single quotes.") from None


def _content(file: Path) -> dict[str, str]:
    mime = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    kind = mime.partition("/")[0]
    try:
        data = base64.b64encode(file.read_bytes()).decode()
    except OSError as error:
        raise Refused("bad_file", f"{file} cannot be read ({error.strerror}).") from error
    return {"type": kind if kind in ("image", "audio") else "resource", "mime": mime, "name": file.name, "data": data}


def run_snooze(args: argparse.Namespace) -> int:
    units = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
    number, unit = (args.time[:-1], args.time[-1]) if args.time[-1:] in units else (args.time, "s")
    if not number.isdigit():
        raise Refused("bad_time", f"'{args.time}' is no time: write 30m, 2h or 1d.")
    body = {"for_s": int(number) * units[unit]} if int(number) else {"until": 0}
    return _each(args, "snooze", body, "put off" if int(number) else "back")


def run_delegate(args: argparse.Namespace) -> int:
    return _each(args, "delegate", {"to": args.to}, f"handed to {args.to}" if args.to else "taken back")


def run_withdraw(args: argparse.Namespace) -> int:
    return _each(args, "withdraw", {"reason": args.reason}, "taken back")


def _each(args: argparse.Namespace, action: str, body: dict[str, Any], word: str) -> int:
    client = open_client(args)
    done = [client.post("asks", ask_id, action, body=body) for ask_id in args.ids]
    if args.json:
        show_json(done)
    else:
        for ask in done:
            say(f"{ask['id']}: {line(word)}")
    return 0
