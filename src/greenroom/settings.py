"""Every setting of the hub, and the only place that reads the environment and settings files."""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from greenroom.link.ask_kinds import ASK_KINDS, RISKS
from greenroom.validation import explain_error, get_nearest

PORT = 39765
Count = Annotated[int, Meta(ge=1)]
Number = Annotated[int, Meta(ge=0)]
_DEADLINE = re.compile(rf"({'|'.join(ASK_KINDS)})(\.({'|'.join(RISKS)}))?=[0-9]{{1,8}}")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an operator may set, in `greenroom.toml` in the data directory or as GREENROOM_<NAME>."""

    host: str = "127.0.0.1"
    """The address to listen on. Beyond loopback it needs TLS or allow_plaintext."""
    port: Annotated[int, Meta(ge=0, le=65_535)] = PORT
    """The port of the page and every API; 0 takes a free one."""
    database: str | None = None
    """A PostgreSQL database (postgresql://...) that keeps the log, for several hubs together; else a file here."""
    bus_name: str = "Greenroom"
    """The name that clients are shown."""
    allowed_hosts: list[str] = []
    """Further names (host or host:port) under which this hub may be called."""
    allowed_origins: list[str] = []
    """Origins of other programs' own pages that may call this hub with a token, such as tauri://localhost."""
    behind_proxy: bool = False
    """The hub is behind a reverse proxy: ignore X-Forwarded headers instead of refusing them."""
    tls_cert: str | None = None
    """The file with the certificate, for TLS; goes with tls_key."""
    tls_key: str | None = None
    """The file with the certificate's private key."""
    allow_plaintext: bool = False
    """Listen beyond loopback without TLS: only on a network that you trust as a whole."""
    allow_anonymous_local: bool = False
    """Let local programs without a credential register agents and talk in threads of their own."""
    credential_in_url: bool = False
    """Accept a token as /with/TOKEN/... or ?token= on the paths of older clients that can send no header."""
    max_body_bytes: Count = 4_194_304
    """The largest body of a request."""
    max_upload_bytes: Count = 10_485_760
    """The largest image that may be uploaded."""
    max_content_chars: Count = 1_000_000
    """The longest message."""
    inline_content_chars: Number = 32_768
    """A longer message is kept as a file beside the database."""
    posts_per_minute: Number = 30
    """Messages that one author may post in a minute; 0 is no limit."""
    requests_per_second: Number = 1_000
    """Requests that one credential may make in a second, over a burst of ten times that; 0 is no limit."""
    bytes_per_minute: Number = 268_435_456
    """Bytes of requests that one credential may send in a minute, over a burst of as much; 0 is no limit."""
    max_calls_per_credential: Count = 5_000
    """How many requests and sockets of one credential may be open at once."""
    node_bytes_per_minute: Number = 134_217_728
    """Bytes that the hub takes from one node in a minute, over a burst of as much; 0 is no limit."""
    max_run_bytes: Number = 67_108_864
    """Bytes that one run may add to the log; a run that says more fails. 0 is no limit."""
    max_agent_bytes: Number = 1_073_741_824
    """Bytes that one agent may store in the hub in all: its messages, asks and what its runs say. 0 is no limit."""
    max_node_bytes: Number = 17_179_869_184
    """Bytes that one node may add to the log in all; the hub then takes nothing more from it. 0 is no limit."""
    max_uploads_bytes: Number = 1_073_741_824
    """Bytes of all images that one credential may keep; 0 is no limit."""
    seq_tolerance: Number = 0
    """How many unread messages a strict post tolerates."""
    content_filter: bool = True
    """Refuse messages that hold what looks like a secret."""
    online_s: Count = 60
    """How long an agent counts as online after its last call."""
    coordinator_s: Count = 10
    """How often the coordinator looks at quiet threads."""
    max_waits_per_agent: Count = 16
    """How many msg_wait calls one agent may have open."""
    command_memory_days: Number = 7
    """How long the key of a command is remembered, so that a repeat returns the first answer."""
    max_mcp_sessions: Count = 10_000
    """How many MCP sessions may be open at once; one credential may have half of them."""
    mcp_idle_s: Count = 600
    """Idle time after which an MCP session ends. Its client starts a new one by itself."""
    ask_deadlines: list[str] = []
    """Seconds until an ask expires: question=600, permission.high=0 (never). Unset: questions, reports, polls 3600."""
    ask_warn_s: Number = 300
    """How long before its deadline the hub warns about an ask; at most half of its time."""
    approval_s: Number = 60
    """How long an approved call may wait to be run. After that the approval is void, and the agent has to ask again."""
    max_open_asks: Count = 50
    """How many asks of one agent, or of one room's agents, may wait for people at once."""
    public_url: str = ""
    """Where other devices reach this hub (https://...), for pairing and links in notifications; an allowed host too."""
    other_hubs: list[str] = []
    """Addresses of other hubs on the same database: commands on this machine ask them while this hub is gone."""
    push_contact: str = "mailto:operator@example.org"
    """The address that a push service contacts about problems with this hub: mailto: or https:."""
    notify_hosts: list[str] = []
    """Hosts (host or host:port) of your own network that notifications may be sent to, also without TLS."""
    backend_profile: str = ""
    """The profile that agent_backend's clients chat with; without one, the first whose driver is builtin."""
    compat_assist: bool = True
    """Serve Agent Assistant's clients: its RPCs, and binary frames on /ws."""
    compat_agent_backend: bool = True
    """Serve agent_backend's clients: chat and sockets below /agent_backend."""
    compat_run_tree: bool = True
    """Serve the run-tree clients: text frames on /ws."""
    compat_legacy_sse: bool = True
    """Serve MCP clients that know only the transport of 2024-11-05: /sse and /messages."""
    local_node: bool = True
    """Keep a node on this machine, so that agents can be started here."""
    local_capacity: Annotated[int, Meta(ge=1, le=10_000)] = 16
    """How many agents may be at work on this machine at once; fewer if it may not have enough files open."""
    loop_pause_ms: Number = 100
    """Log a warning when the hub was blocked for longer than this, in milliseconds; 0 switches it off."""
    failpoint: str | None = None
    """For tests: where the hub crashes (see log/failpoints.py)."""


class BadSettings(Exception):
    """A setting is wrong; the message names it and says what to write."""


DATABASE_FILE = "database.url"
_PREFIX = "GREENROOM_"
OTHER_VARIABLES = (
    "DATA",
    "URL",
    "TOKEN",
    "TREE",
    "TOOL",
    "REHEARSAL_STATE",
    "BUILTIN_STATE",
    "BENCH_DATA",
    "EVERY_TEST",
)
"""Variables that are no settings: where a hub and its data are, what nodes set for the agents that they start
(runtimes/process_trees.py, tool_agent, rehearsal, builtin), and what tests and benchmarks are told,
which may be told TEST_ anything."""


def check_variables(env: Mapping[str, str] = os.environ) -> None:
    """Refuse unknown variables that begin like ours, so that a typo does not go unnoticed."""
    known = [name.upper() for name in (*Settings.__struct_fields__, *OTHER_VARIABLES)]
    ours = sorted(name.removeprefix(_PREFIX) for name in env if name.startswith(_PREFIX))
    for name in ours:
        if name not in known and not name.startswith("TEST_"):
            near = get_nearest(name, known)
            meant = f"did you mean {_PREFIX}{near}?" if near else "docs/users/settings.md lists them."
            raise BadSettings(f"The environment variable {_PREFIX}{name} is not known: {meant}")


def resolve_data_dir(given: str | None, env: Mapping[str, str] = os.environ) -> Path:
    """The data directory: --data, else $GREENROOM_DATA, else ~/.greenroom."""
    return Path(given or env.get("GREENROOM_DATA") or "~/.greenroom").expanduser().absolute()


def resolve_state_dir(env: Mapping[str, str] = os.environ) -> Path:
    """Where programs of this user keep what is to outlast them and is no data: $XDG_STATE_HOME/greenroom."""
    return Path(env.get("XDG_STATE_HOME") or "~/.local/state").expanduser().absolute() / "greenroom"


def wants_colour(env: Mapping[str, str] = os.environ) -> bool:
    """Whether a terminal is to be given colours: see https://no-color.org."""
    return not env.get("NO_COLOR") and supports_escapes(env)


def supports_escapes(env: Mapping[str, str] = os.environ) -> bool:
    """Whether the terminal understands escape sequences."""
    return env.get("TERM") != "dumb"


def has_browser_variable(env: Mapping[str, str] = os.environ) -> bool:
    """Whether the person says which browser is theirs, by $BROWSER."""
    return bool(env.get("BROWSER"))


def read_hub_address(env: Mapping[str, str] = os.environ) -> tuple[str | None, str | None]:
    """The address of a hub and a token for it, for programs that are its clients: $GREENROOM_URL, $GREENROOM_TOKEN."""
    return env.get("GREENROOM_URL") or None, env.get("GREENROOM_TOKEN") or None


def load_settings(data: Path, given: Mapping[str, Any] | None = None, env: Mapping[str, str] = os.environ) -> Settings:
    """Settings from the file, over it the environment, over it what was given on the command line."""
    values: dict[str, Any] = {}
    path = data / "greenroom.toml"
    if path.exists():
        try:
            values = tomllib.loads(path.read_text())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise BadSettings(f"{path}: {error}") from error
    given = {name: value for name, value in (given or {}).items() if value is not None}
    settings = _convert_settings({**values, **_read_environment(env), **given}, path, given)
    if bool(settings.tls_cert) != bool(settings.tls_key):
        raise BadSettings("tls_cert and tls_key belong together: set both, or neither")
    for entry in settings.ask_deadlines:
        if not _DEADLINE.fullmatch(entry):
            raise BadSettings(f"ask_deadlines: {entry!r} is not understood; write kind=SECONDS or kind.risk=SECONDS")
    if settings.behind_proxy and settings.allow_anonymous_local:
        raise BadSettings("behind a proxy everybody looks local: set behind_proxy or allow_anonymous_local, not both")
    return settings


def get_database(data: Path) -> str | None:
    """The PostgreSQL database that keeps the log of a data directory: as the settings say, else as its hub was last
    started, whose environment the person at this shell may not have. None if the log is a file."""
    if (named := load_settings(data).database) is not None:
        return named
    try:
        return (data / DATABASE_FILE).read_text().strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"{data / DATABASE_FILE} cannot be read ({error}): set GREENROOM_DATABASE") from error


def _read_environment(env: Mapping[str, str]) -> dict[str, Any]:
    """The settings in the environment, each decoded to its type."""
    out: dict[str, Any] = {}
    for field in msgspec.structs.fields(Settings):
        text = env.get(_PREFIX + field.name.upper())
        if text is None:
            continue
        if field.type == list[str]:
            out[field.name] = [part.strip() for part in text.split(",") if part.strip()]
        else:
            is_text = field.type in (str, str | None)
            out[field.name] = text if is_text else _parse_value(field.name, text, field.type)
    return out


def _parse_value(name: str, text: str, kind: Any) -> Any:
    try:
        return msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError as error:
        _, remedy = explain_error(error, kind)
        raise BadSettings(f"{_PREFIX}{name.upper()} is {text!r}: {remedy}") from None


def _convert_settings(values: dict[str, Any], path: Path, given: Mapping[str, Any]) -> Settings:
    """Settings from their values; a wrong one is named as it was written: in the file, or on the command line."""
    try:
        return msgspec.convert(values, Settings)
    except msgspec.ValidationError as error:
        key, remedy = explain_error(error, Settings)
        where = f"--{key.replace('_', '-')}" if key in given else f"{path}: {key}"
        raise BadSettings(f"{where}: {remedy} (see docs/users/settings.md)") from error
