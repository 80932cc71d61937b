"""Greenroom: the room behind the stage where coding agents wait, talk and are called."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greenroom.chat_agent import Agent as Agent
    from greenroom.chat_agent import Chunk as Chunk

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """What is for Python programs is loaded when it is asked for, so that the command line starts quickly."""
    if name in ("Agent", "Chunk"):
        from greenroom import chat_agent

        return getattr(chat_agent, name)
    raise AttributeError(f"module 'greenroom' has no attribute {name!r}")
