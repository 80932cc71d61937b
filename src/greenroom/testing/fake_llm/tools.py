"""Which tool of the client a directive means, and its arguments in the client's format."""

import json
import re

from greenroom.testing.fake_llm.answer import UseTool
from greenroom.testing.fake_llm.request import Json, ModelRequest

FREEFORM = "x-freeform"
"""Marks the schema of a tool that takes plain text."""
_SHELLS = ("Bash", "bash", "run_shell_command", "shell_command", "exec_command", "shell", "local_shell")
_WRITERS = ("Write", "write", "write_file", "create")
_ESCALATED = {"sandbox_permissions": "require_escalated", "justification": "the script asks for it"}


def get_tool_call(request: ModelRequest, text: str) -> UseTool | None:
    """The call that USE_TOOL means, or None if the client offers no such tool."""
    what, _, rest = text.strip().partition(" ")
    if what in ("bash", "bash!"):
        return _build_shell_call(request, rest, escalated=what == "bash!")
    if what == "write":
        path, _, content = rest.partition(" ")
        return _build_write_call(request, path, content)
    name = get_tool_name(request, what)
    if name is None:
        return None
    return UseTool(name, rest if FREEFORM in request.tools[name] else json.loads(rest or "{}"))


def parse_forced_call(text: str) -> UseTool:
    """The call that FORCE_TOOL means."""
    name, _, rest = text.partition(" ")
    return UseTool(name, json.loads(rest or "{}"))


def get_tool_name(request: ModelRequest, what: str) -> str | None:
    """The tool of that name, whatever prefix the client has put before it."""
    if what in request.tools:
        return what
    suffix = re.compile(rf"[^A-Za-z0-9]{re.escape(what)}$")
    return next((name for name in request.tools if suffix.search(name)), None)


def _build_shell_call(request: ModelRequest, command: str, escalated: bool) -> UseTool | None:
    name = next((name for name in _SHELLS if name in request.tools), None)
    if name is None:
        return None
    known = _get_properties(request, name)
    if "cmd" in known:
        return UseTool(name, {"cmd": command, **(_ESCALATED if escalated else {})})
    if known.get("command", {}).get("type") == "array":
        return UseTool(name, {"command": ["bash", "-lc", command]})
    described = {"description": f"run {command[:40]}"} if "description" in known else {}
    return UseTool(name, {"command": command, **described})


def _build_write_call(request: ModelRequest, path: str, content: str) -> UseTool | None:
    name = next((name for name in _WRITERS if name in request.tools), None)
    if name is not None:
        known = _get_properties(request, name)
        path_key = next(key for key in ("file_path", "filePath", "path") if key in known)
        content_key = next(key for key in ("content", "file_text", "contents") if key in known)
        return UseTool(name, {path_key: path, content_key: content})
    if "apply_patch" in request.tools:
        patch = f"*** Begin Patch\n*** Add File: {path}\n+{content}\n*** End Patch\n"
        return UseTool("apply_patch", patch if FREEFORM in request.tools["apply_patch"] else {"input": patch})
    return None


def _get_properties(request: ModelRequest, name: str) -> Json:
    properties: Json = request.tools[name].get("properties", {})
    return properties
