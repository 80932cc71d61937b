"""What we override of uvicorn beyond its documented interface, and that its version is bounded because of that."""

import ast
import inspect
import textwrap
import tomllib
from types import FunctionType

import pytest
import uvicorn
from packaging.requirements import Requirement
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from greenroom.doors.http.connection import Connection
from greenroom.doors.http.server import HubServer
from greenroom.doors.http.websocket import WebSocket
from tests import ROOT

OVERRIDDEN: dict[type, dict[str, tuple[str, ...]]] = {
    Connection: {
        "_start_asgi_task": ("self", "cycle", "app"),
        "_unset_keepalive_if_required": ("self",),
        "connection_lost": ("self", "exc"),
        "connection_made": ("self", "transport"),
        "data_received": ("self", "data"),
        "handle_websocket_upgrade": ("self",),
        "on_body": ("self", "body"),
        "on_headers_complete": ("self",),
        "on_message_begin": ("self",),
        "on_message_complete": ("self",),
        "on_response_complete": ("self",),
        "timeout_keep_alive_handler": ("self",),
    },
    WebSocket: {
        "data_received": ("self", "data"),
        "handle_connect": ("self", "event"),
        "handle_cont": ("self", "event"),
        "handle_events": ("self",),
        "handle_ping": ("self",),
        "send": ("self", "message"),
        "send_receive_event_to_app": ("self",),
    },
    HubServer: {
        "capture_signals": ("self",),
        "handle_exit": ("self", "sig", "frame"),
        "main_loop": ("self",),
        "shutdown": ("self", "sockets"),
        "startup": ("self", "sockets"),
    },
}
"""Every method of uvicorn's that we replace, by the class that replaces it, with its parameters."""
ATTRIBUTES: dict[type, tuple[str, ...]] = {
    HttpToolsProtocol: (
        "cycle",
        "flow",
        "loop",
        "pipeline",
        "server_state",
        "tasks",
        "timeout_keep_alive",
        "timeout_keep_alive_task",
        "transport",
    ),
    RequestResponseCycle: (
        "default_headers",
        "disconnected",
        "flow",
        "keep_alive",
        "message_event",
        "on_response",
        "response_complete",
        "response_started",
        "scope",
        "transport",
        "waiting_for_100_continue",
    ),
    WebSocketsSansIOProtocol: (
        "conn",
        "curr_msg_data_type",
        "frames",
        "handshake_complete",
        "loop",
        "ping_interval",
        "ping_timeout",
        "transport",
    ),
}
"""What we read or set on uvicorn's objects."""
CALLED: dict[type, tuple[str, ...]] = {
    RequestResponseCycle: ("receive", "send", "send_500_response"),
    WebSocketsSansIOProtocol: ("handle_parser_exception",),
    uvicorn.Server: ("on_tick",),
}


def _find_overrides(ours: type) -> dict[str, tuple[str, ...]]:
    """Methods that ours replace, with the parameters of uvicorn's source: other packages replace some in memory."""
    (theirs,) = ours.__bases__
    (source,) = ast.parse(textwrap.dedent(inspect.getsource(theirs))).body
    assert isinstance(source, ast.ClassDef)
    parameters = {
        method.name: tuple(arg.arg for arg in method.args.args)
        for method in source.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    return {
        name: parameters.get(name, ())
        for name, value in vars(ours).items()
        if isinstance(value, FunctionType) and name != "__init__" and hasattr(theirs, name)
    }


def test_the_version_of_uvicorn_is_bounded_to_the_one_whose_private_names_these_are() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (uvicorns,) = [one for one in map(Requirement, project["dependencies"]) if one.name == "uvicorn"]
    assert uvicorns.specifier.contains(uvicorn.__version__)
    minor = int(uvicorn.__version__.split(".")[1])
    assert not uvicorns.specifier.contains(f"0.{minor + 1}.0"), "a new minor version may rename what we override"


@pytest.mark.parametrize("ours", OVERRIDDEN, ids=lambda ours: ours.__name__)
def test_every_overridden_method_of_uvicorn_is_named_here_and_takes_what_ours_takes(ours: type) -> None:
    assert _find_overrides(ours) == OVERRIDDEN[ours]


@pytest.mark.parametrize("theirs", ATTRIBUTES, ids=lambda theirs: theirs.__name__)
def test_uvicorn_sets_every_attribute_that_we_use(theirs: type) -> None:
    source = inspect.getsource(theirs.__init__)
    assert [name for name in ATTRIBUTES[theirs] if f"self.{name}" not in source] == []


def test_uvicorn_has_every_method_that_we_call() -> None:
    assert [
        f"{theirs.__name__}.{name}" for theirs in CALLED for name in CALLED[theirs] if not hasattr(theirs, name)
    ] == []
