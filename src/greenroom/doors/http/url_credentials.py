"""A credential in the URL, for programs that can send no header: `/with/TOKEN/...`, or `?token=`.

Off unless the setting credential_in_url is on, and good only where older clients call: whoever finds such a URL in a
log or a history gets no further than those.
"""

from urllib.parse import parse_qsl, unquote, urlencode

from starlette.types import Scope

PREFIX = "/with/"
URL_PREFIX = "greenroom.url_prefix"
"""Where in its scope a call finds the part of the path that held its credential."""
_PLACES = (
    "/api/threads",
    "/api/messages",
    "/api/agents",
    "/api/templates",
    "/api/search",
    "/api/upload",
    "/api/uploads",
    "/api/metrics",
    "/api/mcp/tool",
    "/events",
    "/health",
    "/mcp",
    "/sse",
    "/messages",
    "/agent_backend",
    "/ws",
)
"""What AgentChatBus's, agent_backend's and the run-tree clients call, and nothing else."""


def take_token(scope: Scope) -> str | None:
    """The token in a call's URL, which is taken out of it; None when it holds none."""
    path = str(scope["path"])
    if path.startswith(PREFIX):
        token, _, rest = path.removeprefix(PREFIX).partition("/")
        scope["path"] = f"/{rest}"
        scope["raw_path"] = scope["path"].encode()
        scope[URL_PREFIX] = f"{PREFIX}{token}"
        return unquote(token)
    if not is_allowed_at(path):
        return None
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    tokens: list[str] = [value for name, value in query if name == "token"]
    if len(tokens) != 1:
        return None
    scope["query_string"] = urlencode([pair for pair in query if pair[0] != "token"]).encode()
    return tokens[0]


def is_allowed_at(path: str) -> bool:
    """Whether a credential in the URL is taken there."""
    return any(path == place or path.startswith(f"{place}/") for place in _PLACES)
