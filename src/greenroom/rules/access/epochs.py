"""Epochs of the hub: each restore of a backup begins a new one, in which nothing revoked becomes valid again."""

from typing import ClassVar

from greenroom.log.model import Command, Event, Project, Recorded, Row, Rows, Table, Tx


class Epoch(Row, frozen=True, kw_only=True):
    """The epoch that the hub is in."""

    id: str
    number: int
    begun_at: int


EPOCHS = Table("epoch", Epoch, ("id",))
_THE = "epoch"


class BeginEpoch(Command, frozen=True, kw_only=True):
    """The log was put back from a backup: end what may have been ended since, and give the owner a new token."""

    credential_id: str
    digest: str
    keep: list[str] = []
    """Credentials to keep, by name or id."""


class EpochBegun(Event, frozen=True, kw_only=True):
    """The log was put back from a backup. What that ended comes right after it."""

    privileged: ClassVar[bool] = True
    number: int
    kept: list[str] = []
    """The ids of the credentials to keep."""


def get_epoch(rows: Rows) -> Epoch | None:
    """The newest epoch; None when the log was never put back from a backup."""
    return rows.get(EPOCHS, _THE)


def epoch_begun(tx: Tx, event: EpochBegun, record: Recorded) -> None:
    tx.put(EPOCHS, Epoch(id=_THE, number=event.number, begun_at=record.at))


PROJECT: dict[type[Event], Project] = {EpochBegun: epoch_begun}
