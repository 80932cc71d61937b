"""Checks whether a driver keeps the contract, with the real runtime behind it."""

import asyncio
from collections.abc import Callable
from typing import Literal

import msgspec

from greenroom.runtimes.conformance_points import BEFORE_A_SESSION, POINTS, Point
from greenroom.runtimes.conformance_trial import ContractViolation, DriverTrial, MakeOpening, NotSupported
from greenroom.runtimes.contract import Driver, Spawner
from greenroom.runtimes.model_script import ModelScript
from greenroom.runtimes.spawn_tracker import TrackingSpawner


class PointResult(msgspec.Struct, frozen=True):
    """What came of one point of the check."""

    point: str
    verdict: Literal["ok", "lacking", "failed"]
    """lacking: the runtime does not have it, and the driver says so as the contract wants."""
    detail: str = ""


async def check_driver(
    driver: Driver,
    make_opening: MakeOpening,
    spawner: Spawner,
    script: ModelScript,
    patience_s: float = 60.0,
    told: Callable[[PointResult], None] = lambda finding: None,
) -> list[PointResult]:
    """Put a driver through every point, telling of each at once. The hub that the openings name must be there."""
    trial = DriverTrial(driver, make_opening, TrackingSpawner(spawner), script)
    findings: list[PointResult] = []
    try:
        for point, carry_out in POINTS.items():
            if trial.last_id is None and carry_out not in BEFORE_A_SESSION:
                findings.append(PointResult(point, "failed", "there is no session"))
            else:
                findings.append(await _judge(trial, point, carry_out, patience_s))
            told(findings[-1])
        return findings
    finally:
        await trial.close()


async def _judge(trial: DriverTrial, point: str, carry_out: Point, patience_s: float) -> PointResult:
    trial.lately = []
    try:
        async with asyncio.timeout(patience_s):
            return PointResult(point, "ok", await carry_out(trial))
    except NotSupported as error:
        return PointResult(point, "lacking", str(error))
    except ContractViolation as error:
        detail = str(error)
    except TimeoutError:
        detail = f"not in {patience_s:g} s"
    except (OSError, ValueError) as error:
        detail = f"{type(error).__name__}: {error}"
    # The state of the agent is unknown, so the next point starts another one.
    await trial.close()
    return PointResult(point, "failed", f"{detail}; heard: {', '.join(trial.lately) or 'nothing'}")
