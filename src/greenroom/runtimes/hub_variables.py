"""The variables through which a plain program that is an agent finds the hub: those that `greenroom` reads."""

from greenroom.runtimes.contract import SessionOptions


def build_hub_variables(opening: SessionOptions) -> dict[str, str]:
    """The hub's address and the agent's own credential, for `greenroom mcp`, `greenroom thread post` and the like."""
    if opening.hub_url is None or opening.token_file is None:
        return {}
    token = opening.token_file.read_text().strip()
    return {"GREENROOM_URL": opening.hub_url.removesuffix("/mcp"), "GREENROOM_TOKEN": token}
