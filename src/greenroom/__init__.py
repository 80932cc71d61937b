"""Greenroom: a control room for coding agents."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greenroom.chat_agent import ChatAgent
    from greenroom.chat_agent import Chunk as Chunk

    Agent = ChatAgent

__version__ = "0.1.0"
_CLASSES = {"Agent": "ChatAgent", "Chunk": "Chunk"}


def __getattr__(name: str) -> Any:
    """The API for Python programs is imported on first use, so that the command line starts quickly."""
    if name in _CLASSES:
        from greenroom import chat_agent

        return getattr(chat_agent, _CLASSES[name])
    raise AttributeError(f"module 'greenroom' has no attribute {name!r}")
