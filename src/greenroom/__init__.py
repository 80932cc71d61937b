"""Greenroom: the room behind the stage where coding agents wait, talk and are called."""

__version__ = "0.1.0"
