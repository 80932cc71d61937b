"""Periods that begin at whole seconds, so that all periodic work wakes an idle hub once a second at most."""

import asyncio


def get_time_left_s(every_s: float) -> float:
    """The seconds until a period of this length is over, less the part of a second that it began late by."""
    return every_s - asyncio.get_running_loop().time() % min(every_s, 1.0)
