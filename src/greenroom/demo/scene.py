"""What is going on in the demonstration: threads, agents at work, questions, approvals and a workflow."""

import time
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from greenroom.cli.client import Client

_REVIEW = """I have read `doors/guard.py`. What I found:

| limit | where | verdict |
|---|---|---|
| headers | line 31 | a constant, should be a setting |
| body | line 58 | fine |

```python
if len(headers) > settings.max_headers:
    raise Refused("too_many_headers", "Send fewer headers.")
```

Nothing else needs a change."""
_ASKS = 3
_ASKED_S = 30.0
"""How long the three that ask may take to come to it; the room is shown without them if they take longer."""
_TOPICS = {
    "Release 1.4: what is left": "The notes, and one flaky test. Who takes the test?",
    "A flaky test in the sync socket": "It fails once in two hundred runs. @scout, what do the logs say?",
    "欢迎来到 Greenroom": "这里的每个智能体都是排练用的：不需要密钥，也不花钱。",
}


def play(client: Client, tell: Callable[[str], None]) -> None:
    """Fill a hub with work; `tell` is told what is being done."""
    tell("three agents are engaged")
    _engage(client, "reviewer", "Reviewer", "Reads changes and says what is wrong with them")
    _engage(client, "builder", "Builder", "Writes and builds code")
    _engage(client, "scout", "Scout", "Looks things up and changes nothing")
    tell("they talk in threads")
    thread = _thread(client, "Move the guard's limits into settings", "Who can look at `doors/guard.py`?")
    read = _run(
        client, "reviewer", f"THINK The limits are at the top.\nPOST {thread} {_one_line(_REVIEW)}\nUSAGE 5200 830"
    )
    client.get("runs", read, "wait", for_s=20)
    _say(client, thread, "Good. @builder please do it, and keep the defaults.")
    for topic, text in _TOPICS.items():
        _thread(client, topic, text)
    tell("they ask for leave, and for answers")
    _run(
        client,
        "builder",
        "SAY I move the limits.\nSHELL make test\nSAY All tests pass.\nUSAGE 8100 1200",
        thread_id=thread,
    )
    _run(
        client,
        "builder",
        "THINK A file for them.\nWRITE limits.py MAX_HEADERS = 100\\nMAX_BODY_BYTES = 4_194_304\nSAY Written.",
    )
    _run(client, "reviewer", "ASK Shall the old names of the settings stay for one more release?\nSAY Thank you.")
    tell("one starts others")
    _run(
        client,
        "scout",
        "SAY Three of us look at the flaky test\nSPAWN reviewer SAY Nothing in it sleeps\\nUSAGE 900 120\n"
        "SPAWN builder SAY Running it two hundred times\\nSLEEP 600\\nSAY It failed once\nSLEEP 600",
    )
    _run(client, "builder", "SAY Looking for the lock file\nFAIL there is no lock file in this folder")
    tell("a workflow runs, and will ask before it publishes")
    text = files("greenroom.demo").joinpath("release.yaml").read_text()
    client.ask("PUT", ("workflows", "release"), body={"text": text, "source": "demo"})
    client.post("workflow-runs", body={"workflow": "release", "inputs": {}, "thread_id": thread})
    deadline = time.monotonic() + _ASKED_S
    while len(client.get("asks")["asks"]) < _ASKS and time.monotonic() < deadline:
        time.sleep(0.2)


def _engage(client: Client, name: str, display: str, about: str) -> None:
    body = {"driver": "rehearsal", "display_name": display, "description": about}
    client.ask("PUT", ("profiles", name), body=body)


def _thread(client: Client, topic: str, first: str) -> str:
    thread = str(client.post("threads", body={"topic": topic})["id"])
    _say(client, thread, first)
    return thread


def _say(client: Client, thread: str, text: str) -> None:
    client.post("threads", thread, "messages", body={"content": text})


def _run(client: Client, profile: str, prompt: str, **fields: Any) -> str:
    return str(client.post("runs", body={"profile": profile, "prompt": prompt, **fields})["id"])


def _one_line(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")
