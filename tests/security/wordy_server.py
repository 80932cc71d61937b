"""An MCP server for tests that says the words it was given wherever a server can say something."""

import json
import sys

WORDS = sys.argv[1]


def answer(method: str, params: dict[str, object]) -> object:
    match method:
        case "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "wordy", "version": "1"},
                "instructions": WORDS,
            }
        case "tools/list":
            schema = {"type": "object", "properties": {"a": {"type": "string", "description": WORDS}}}
            return {"tools": [{"name": "work", "title": WORDS, "description": WORDS, "inputSchema": schema}]}
        case _:
            return {"content": [{"type": "text", "text": WORDS}]}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        given = answer(asked["method"], asked.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": given}), flush=True)
