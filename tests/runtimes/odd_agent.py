"""ACP agents with bad manners, one for each name on the command line: `python odd_agent.py NAME`."""

import json
import os
import signal
import sys
from typing import Any

Json = dict[str, Any]
FLOOD = 5000
_MANNER = sys.argv[-1]
_YES_FOR_EVER = {"optionId": "always", "name": "Always", "kind": "allow_always"}
_YES = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
_NO = {"optionId": "no", "name": "No", "kind": "reject_once"}


def send(message: Json) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive() -> Json:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    found: Json = json.loads(line)
    return found


def say(text: str) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send({"method": "session/update", "params": {"sessionId": "s1", "update": update}})


def ask(method: str, params: Json) -> Json:
    send({"id": "q1", "method": method, "params": {"sessionId": "s1", **params}})
    while (answer := receive()).get("id") != "q1":
        pass
    return answer


def ask_permission(*options: Json) -> Json:
    call = {"toolCallId": "c1", "title": "rm -r .", "kind": "execute", "rawInput": {"command": "rm -r ."}}
    answer = ask("session/request_permission", {"toolCall": call, "options": list(options)})
    outcome: Json = answer["result"]["outcome"]
    return outcome


def prompt(id: Any, text: str) -> None:
    """What each does with a prompt; they end with an answer, or not."""
    reason = "end_turn"
    match _MANNER:
        case "floods":
            for number in range(FLOOD):
                say(f"{number} ")
        case "wants everything":
            say(ask_permission(_YES_FOR_EVER, _NO)["outcome"])
        case "is curious":
            say(str(ask("fs/read_text_file", {"path": "/etc/passwd"})["error"]["code"]))
        case "gives up" if text == "work":
            say(ask_permission(_YES, _NO)["optionId"])
        case "drops dead":
            os._exit(4)
        case "goes silent":
            os.close(1)
            signal.pause()
        case "says strange things":
            sys.stdout.write("Loading...\n\n[1, 2]\n" + "[" * 100_000 + "\n")
            reason = "bored"
        case "fails":
            send({"id": id, "error": {"code": -32603, "message": "Internal error", "data": {"details": "no money"}}})
            return
        case _:
            say(text)
    send({"id": id, "result": {"stopReason": reason}})
    if _MANNER == "asks too late":
        say(ask_permission(_YES, _NO)["outcome"])


def serve() -> None:
    if _MANNER == "dies at once":
        sys.exit("no key was found")
    if _MANNER == "never answers":
        signal.pause()
    if _MANNER == "does not want to go":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        message = receive()
        match message.get("method"):
            case "initialize":
                version = 0 if _MANNER == "is from yesterday" else 1
                send({"id": message["id"], "result": {"protocolVersion": version, "agentCapabilities": {}}})
            case "session/new" if _MANNER == "has no account":
                send({"id": message["id"], "error": {"code": -32000, "message": "Authentication required"}})
            case "session/new":
                send({"id": message["id"], "result": {"sessionId": "s1"}})
            case "session/prompt":
                prompt(message["id"], message["params"]["prompt"][0]["text"])


if __name__ == "__main__":
    serve()
