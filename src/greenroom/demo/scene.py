"""What is going on in the demonstration: threads, agents at work, asks, tools, people and a workflow."""

import json
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from greenroom.cli.client import Client
from greenroom.demo import words
from greenroom.demo.colleague import come_in

_ASKED_S = 30.0
"""How long those that ask may take to come to it; the room is shown without them if they take longer."""


def play(client: Client, tell: Callable[[str], None]) -> None:
    """Fill a hub with work; `tell` is told what is being done."""
    tell("agents are engaged, under three rules")
    for name, (display, about) in words.PROFILES.items():
        body = {"driver": "rehearsal", "display_name": display, "description": about}
        client.ask("PUT", ("profiles", name), body=body)
    client.ask("PUT", ("profiles", "console"), body={**words.CONSOLE, "command": _program("console")})
    for name, rule in words.RULES.items():
        client.ask("PUT", ("policy", "rules", name), body={"rule": rule})
    client.ask("PUT", ("servers", "tracker"), body={**words.TRACKER, "command": _program("tracker")})
    tell("a colleague is in the room")
    room = {"kind": "room", "name": words.COLLEAGUE[0], "room": words.ROOM}
    come_in(client.url, client.post("credentials", body=room)["token"])
    tell("they talk in threads")
    thread = _talk(client)
    _accept(client)
    tell("they ask for permission, and for answers")
    asking = [_run(client, *one[:2], **({"thread_id": thread} if one[2] else {})) for one in _asking()]
    tell("one starts others")
    _run(client, "scout", _team())
    _run(client, "builder", words.LOST)
    tell("one lives in a terminal")
    _run(client, "console", words.WATCHED)
    tell("a workflow runs, and will ask before it publishes")
    text = files("greenroom.demo").joinpath("release.yaml").read_text()
    client.ask("PUT", ("workflows", "release"), body={"text": text, "source": "demo"})
    client.post("workflow-runs", body={"workflow": "release", "inputs": {}})
    deadline = time.monotonic() + _ASKED_S
    while len(client.get("asks")["asks"]) < len(asking) and time.monotonic() < deadline:
        time.sleep(0.2)


def _accept(client: Client) -> None:
    """Offer the tools that have been looked at, once their server has told of them."""
    deadline = time.monotonic() + _ASKED_S
    while not client.get("servers", "tracker")["tools"]:
        if time.monotonic() > deadline:
            return
        time.sleep(0.2)
    client.post("servers", "tracker", "accept", body={"tools": dict.fromkeys(words.SEEN)})


def _talk(client: Client) -> str:
    """The threads, and what was finished in them. The one in which the work goes on is returned; it is the newest."""
    greeting = client.post("threads", body={"topic": words.GREETING[0]})["id"]
    _say(client, greeting, words.GREETING[1])
    flaky = client.post("threads", body={"topic": words.FLAKY[0]})["id"]
    _say(client, flaky, words.FLAKY[1])
    looked = _run(client, "scout", _posting(flaky, *words.LOOKED), thread_id=flaky)
    notes = client.post("threads", body={"topic": words.NOTES[0]})["id"]
    _say(client, notes, words.NOTES[1])
    written = _run(client, "scout", words.SUMMARY, thread_id=notes)
    thread = str(client.post("threads", body={"topic": words.GUARD[0]})["id"])
    _say(client, thread, words.GUARD[1])
    read = _run(client, "reviewer", _posting(thread, *words.REVIEW), thread_id=thread)
    for run in (looked, written, read):
        client.get("runs", run, "wait", for_s=20)
    _say(client, thread, words.GUARD[2])
    return thread


def _asking() -> list[tuple[str, str, bool]]:
    """Who asks for what, and whether it belongs to the thread of the work."""
    return [
        ("builder", words.CHANGE, True),
        ("builder", words.TESTS, False),
        ("builder", words.PACKING, False),
        ("scout", f"{words.CHOICE[0]}\n{_tool('ask_question', words.CHOICE[1])}\nSAY Then it goes there.", False),
        ("scout", words.ISSUE, False),
        ("reviewer", f"{words.REPORT[0]}\n{_tool('work_report', words.REPORT[1])}", False),
    ]


def _team() -> str:
    about, tasks, rest = words.TEAM
    return f"{about}\n{_tool('spawn_agent', {'tasks': tasks, 'wait': False})}\n{rest}"


def _posting(thread: str, about: str, thought: str, text: str, used: str) -> str:
    return f"{about}\nTHINK {thought}\nPOST {thread} {_one_line(text)}\nUSAGE {used}"


def _program(name: str) -> list[str]:
    """What starts a program of the demonstration on this machine."""
    return [sys.executable, "-m", f"greenroom.demo.{name}"]


def _tool(name: str, given: dict[str, Any]) -> str:
    return f"TOOL {name} {json.dumps(given, ensure_ascii=False)}"


def _say(client: Client, thread: str, text: str) -> None:
    client.post("threads", thread, "messages", body={"content": text})


def _run(client: Client, profile: str, prompt: str, **fields: Any) -> str:
    return str(client.post("runs", body={"profile": profile, "prompt": prompt, **fields})["id"])


def _one_line(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")
