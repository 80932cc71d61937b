"""Every setting of the hub, and the only place that reads the environment and settings files."""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

PORT = 39765
_PORTS = 65_535
_DEADLINE = re.compile(r"(question|report|permission|decision|gate)(\.(low|medium|high))?=[0-9]{1,8}")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an operator may set, in `greenroom.toml` in the data directory or as GREENROOM_<NAME>."""

    host: str = "127.0.0.1"
    """The address to listen on. Beyond loopback it needs TLS or allow_plaintext."""
    port: int = PORT
    """The one port of every door; 0 takes a free one."""
    database: str | None = None
    """A PostgreSQL database (postgresql://...) that keeps the log, for several hubs together; else a file here."""
    bus_name: str = "Greenroom"
    """The name that clients are shown."""
    allowed_hosts: list[str] = []
    """Further names (host or host:port) under which this hub may be called."""
    behind_proxy: bool = False
    """A reverse proxy stands in front: its X-Forwarded headers are ignored instead of refused."""
    tls_cert: str | None = None
    """The file with the certificate, for TLS; goes with tls_key."""
    tls_key: str | None = None
    """The file with the certificate's private key."""
    allow_plaintext: bool = False
    """Listen beyond loopback without TLS: only on a network that you trust as a whole."""
    allow_anonymous_local: bool = False
    """Let local programs without a credential register agents and talk in threads of their own."""
    max_body_bytes: int = 4_194_304
    """The largest body of a request."""
    max_upload_bytes: int = 10_485_760
    """The largest image that may be uploaded."""
    max_content_chars: int = 1_000_000
    """The longest message."""
    inline_content_chars: int = 32_768
    """A longer message is kept as a file beside the database."""
    posts_per_minute: int = 30
    """Messages that one author may post in a minute; 0 is no limit."""
    requests_per_second: int = 1_000
    """Requests that one credential may make in a second, over a burst of ten times that; 0 is no limit."""
    seq_tolerance: int = 0
    """How many unseen messages a post may leave unread."""
    content_filter: bool = True
    """Refuse messages that hold what looks like a secret."""
    online_s: int = 60
    """An agent counts as online for so long after it was last heard of."""
    coordinator_s: int = 10
    """How often the coordinator looks at quiet threads."""
    max_waits_per_agent: int = 16
    """How many msg_wait calls one agent may have open."""
    command_memory_days: int = 7
    """How long the key of a command is remembered, so that a repeat returns the first answer."""
    max_mcp_sessions: int = 10_000
    """How many MCP sessions may be open at once; one credential may have half of them."""
    mcp_idle_s: int = 600
    """An MCP session that is not used for so long is ended; its client begins a new one by itself."""
    ask_deadlines: list[str] = []
    """Seconds until silence refuses, as question=600 or permission.high=0 (never). Unset: questions, reports 3600."""
    ask_warn_s: int = 300
    """How long before its deadline an ask is warned of; at most half of the time it has."""
    max_open_asks: int = 50
    """How many asks of one agent, or of one room's agents, may wait for people at once."""
    public_url: str = ""
    """Where people reach this hub from elsewhere (https://...), for links in notifications; else where it listens."""
    push_contact: str = "mailto:operator@example.org"
    """Whom a push service writes to when something is wrong with what this hub sends: mailto: or https:."""
    notify_hosts: list[str] = []
    """Hosts (host or host:port) of your own network that notifications may be sent to, also without TLS."""
    backend_profile: str = ""
    """The profile that agent_backend's clients chat with; without one, the first whose driver is builtin."""
    local_node: bool = True
    """Keep a node on this machine, so that agents can be started here."""
    failpoint: str | None = None
    """For tests: where the hub shall die (see log/failpoints.py)."""


class BadSettings(Exception):
    """A setting is wrong; the message names it and says what to write."""


def data_dir(given: str | None, env: Mapping[str, str] = os.environ) -> Path:
    """The data directory: --data, else $GREENROOM_DATA, else ~/.greenroom."""
    return Path(given or env.get("GREENROOM_DATA") or "~/.greenroom").expanduser().absolute()


def hub_named(env: Mapping[str, str] = os.environ) -> tuple[str | None, str | None]:
    """The address of a hub and a token for it, for programs that are its clients: $GREENROOM_URL, $GREENROOM_TOKEN."""
    return env.get("GREENROOM_URL") or None, env.get("GREENROOM_TOKEN") or None


def load(data: Path, given: Mapping[str, Any] | None = None, env: Mapping[str, str] = os.environ) -> Settings:
    """Settings from the file, over it the environment, over it what was given on the command line."""
    values: dict[str, Any] = {}
    path = data / "greenroom.toml"
    if path.exists():
        try:
            values = tomllib.loads(path.read_text())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
            raise BadSettings(f"{path}: {error}") from error
    for name, kind in Settings.__annotations__.items():
        text = env.get("GREENROOM_" + name.upper())
        if text is not None:
            values[name] = _from_text(name, text, kind)
    values.update({k: v for k, v in (given or {}).items() if v is not None})
    try:
        settings = msgspec.convert(values, Settings)
    except msgspec.ValidationError as error:
        raise BadSettings(f"{path}: {error}; see docs/users/settings.md") from error
    if not 0 <= settings.port <= _PORTS:
        raise BadSettings(f"port is {settings.port}: write a number from 1 to {_PORTS}, or 0 for a free one")
    if bool(settings.tls_cert) != bool(settings.tls_key):
        raise BadSettings("tls_cert and tls_key belong together: set both, or neither")
    for entry in settings.ask_deadlines:
        if not _DEADLINE.fullmatch(entry):
            raise BadSettings(f"ask_deadlines: {entry!r} is not understood; write kind=SECONDS or kind.risk=SECONDS")
    if settings.behind_proxy and settings.allow_anonymous_local:
        raise BadSettings("behind a proxy everybody looks local: set behind_proxy or allow_anonymous_local, not both")
    return settings


def _from_text(name: str, text: str, kind: Any) -> Any:
    try:
        if kind is bool:
            return {"1": True, "true": True, "0": False, "false": False}[text.lower()]
        if kind is int:
            return int(text)
    except (KeyError, ValueError):
        wanted = "true or false" if kind is bool else "a whole number"
        raise BadSettings(f"GREENROOM_{name.upper()} is {text!r}: write {wanted}") from None
    if kind == list[str]:
        return [part.strip() for part in text.split(",") if part.strip()]
    return text
