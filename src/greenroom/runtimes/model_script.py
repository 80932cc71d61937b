"""How to make the scripted model behind a runtime do things, and how to connect the runtime to it."""

import msgspec

from greenroom.json_types import UncheckedOptions


class ModelScript(msgspec.Struct, frozen=True, kw_only=True):
    """How the model is made to do things: prompts, in which TEXT and COMMAND are filled in."""

    say: str = "SAY TEXT"
    command: str | None
    """Run COMMAND, for which the runtime must ask, then say TEXT; None where it has no tool that runs commands."""
    hub_tool: str | None
    """Call a tool of the hub, then say TEXT; None where it does not use them."""
    slow: str
    """Say something, and not come to an end for some ten seconds."""
    recall: str | None = "RECALL"
    """Say the first prompt of the session; None where every prompt stands alone."""
    sees_steering: bool = True
    """Whether what is said into a turn reaches the model as a prompt, and not as a remark of its runtime."""
    tokens: tuple[int, int] | None = None
    """What the model counts for one answer."""


class ModelWiring(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime must be given to think with a model server of ours."""

    env: dict[str, str]
    model: str | None = None
    command: list[str] = []
    options: UncheckedOptions = {}
    files: dict[str, str] = {}
    """Below its home."""


FAKE_SCRIPT = ModelScript(
    command="USE_TOOL bash COMMAND\nSAY TEXT",
    hub_tool="USE_TOOL bus_get_config {}\nSAY TEXT",
    slow="SLOW 100 0.2",
    tokens=(1000, 50),
)
"""For a runtime with the fake model behind it."""
