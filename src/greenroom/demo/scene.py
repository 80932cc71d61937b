"""Sets up the demo: threads, agents at work, asks, tools, people and a workflow."""

import json
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from greenroom.cli.client import HubClient
from greenroom.demo import content
from greenroom.demo.colleague import join_room

_ASKED_S = 30.0
"""How long those that ask may take to come to it; the room is shown without them if they take longer."""


def fill_hub(client: HubClient, tell: Callable[[str], None]) -> None:
    """Fill a hub with work; `tell` reports the progress."""
    tell("agents are engaged, under three rules")
    for name, (display, about) in content.PROFILES.items():
        body = {"driver": "rehearsal", "display_name": display, "description": about}
        client.request("PUT", ("profiles", name), body=body)
    client.request("PUT", ("profiles", "console"), body={**content.CONSOLE, "command": _build_command("console")})
    for name, rule in content.RULES.items():
        client.request("PUT", ("policy", "rules", name), body={"rule": rule})
    client.request("PUT", ("servers", "tracker"), body={**content.TRACKER, "command": _build_command("tracker")})
    tell("a colleague is in the room")
    room = {"kind": "room", "name": content.COLLEAGUE[0], "room": content.ROOM}
    join_room(client.url, client.post("credentials", body=room)["token"])
    tell("they talk in threads")
    thread = _create_threads(client)
    _accept_tools(client)
    tell("they ask for permission, and for answers")
    asking = [_start_run(client, *one[:2], **({"thread_id": thread} if one[2] else {})) for one in _build_asking_runs()]
    tell("one starts others")
    _start_run(client, "scout", _build_team_prompt())
    _start_run(client, "builder", content.LOST)
    tell("one lives in a terminal")
    _start_run(client, "console", content.WATCHED)
    tell("a workflow runs, and will ask before it publishes")
    text = files("greenroom.demo").joinpath("release.yaml").read_text()
    client.request("PUT", ("workflows", "release"), body={"text": text, "source": "demo"})
    client.post("workflow-runs", body={"workflow": "release", "inputs": {}})
    deadline = time.monotonic() + _ASKED_S
    while len(client.get("asks")["asks"]) < len(asking) and time.monotonic() < deadline:
        time.sleep(0.2)


def _accept_tools(client: HubClient) -> None:
    """Accept the tools, once their server has listed them."""
    deadline = time.monotonic() + _ASKED_S
    while not client.get("servers", "tracker")["tools"]:
        if time.monotonic() > deadline:
            return
        time.sleep(0.2)
    client.post("servers", "tracker", "accept", body={"tools": dict.fromkeys(content.SEEN)})


def _create_threads(client: HubClient) -> str:
    """Create the threads with their finished work, and return the newest, in which the agents work."""
    greeting = client.post("threads", body={"topic": content.GREETING[0]})["id"]
    _post_message(client, greeting, content.GREETING[1])
    flaky = client.post("threads", body={"topic": content.FLAKY[0]})["id"]
    _post_message(client, flaky, content.FLAKY[1])
    looked = _start_run(client, "scout", _build_posting_prompt(flaky, *content.LOOKED), thread_id=flaky)
    notes = client.post("threads", body={"topic": content.NOTES[0]})["id"]
    _post_message(client, notes, content.NOTES[1])
    written = _start_run(client, "scout", content.SUMMARY, thread_id=notes)
    thread = str(client.post("threads", body={"topic": content.GUARD[0]})["id"])
    _post_message(client, thread, content.GUARD[1])
    read = _start_run(client, "reviewer", _build_posting_prompt(thread, *content.REVIEW), thread_id=thread)
    for run in (looked, written, read):
        client.get("runs", run, "wait", for_s=20)
    _post_message(client, thread, content.GUARD[2])
    return thread


def _build_asking_runs() -> list[tuple[str, str, bool]]:
    """The agents that ask, with their prompts, and whether they belong to the thread of the work."""
    return [
        ("builder", content.CHANGE, True),
        ("builder", content.TESTS, False),
        ("builder", content.PACKING, False),
        (
            "scout",
            f"{content.CHOICE[0]}\n{_build_tool_line('ask_question', content.CHOICE[1])}\nSAY Then it goes there.",
            False,
        ),
        ("scout", content.ISSUE, False),
        ("reviewer", f"{content.REPORT[0]}\n{_build_tool_line('work_report', content.REPORT[1])}", False),
    ]


def _build_team_prompt() -> str:
    about, tasks, rest = content.TEAM
    return f"{about}\n{_build_tool_line('spawn_agent', {'tasks': tasks, 'wait': False})}\n{rest}"


def _build_posting_prompt(thread: str, about: str, thought: str, text: str, used: str) -> str:
    return f"{about}\nTHINK {thought}\nPOST {thread} {_escape_newlines(text)}\nUSAGE {used}"


def _build_command(name: str) -> list[str]:
    """What starts a program of the demonstration on this machine."""
    return [sys.executable, "-m", f"greenroom.demo.{name}"]


def _build_tool_line(name: str, given: dict[str, Any]) -> str:
    return f"TOOL {name} {json.dumps(given, ensure_ascii=False)}"


def _post_message(client: HubClient, thread: str, text: str) -> None:
    client.post("threads", thread, "messages", body={"content": text})


def _start_run(client: HubClient, profile: str, prompt: str, **fields: Any) -> str:
    return str(client.post("runs", body={"profile": profile, "prompt": prompt, **fields})["id"])


def _escape_newlines(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")
