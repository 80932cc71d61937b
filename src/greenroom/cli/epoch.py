"""Begins a new epoch in a log that was restored from a backup, before any hub runs on it."""

import asyncio
from pathlib import Path
from typing import Any

from greenroom.clock import HubClock
from greenroom.link.tokens import new_token
from greenroom.log.data_directory import OPERATOR_TOKEN, write_private
from greenroom.log.log import Log
from greenroom.log.model import Recorded
from greenroom.log.rebuild import ensure_rows
from greenroom.log.store_factory import open_store
from greenroom.rules.access.epochs import BeginEpoch, EpochBegun
from greenroom.rules.access.model import CREDENTIALS, HUB, Credential, CredentialRevoked
from greenroom.rules.asks.events import AnswerLapsed, AskWithdrawn
from greenroom.rules.channels.model import ChannelRemoved
from greenroom.rules.policy.events import GrantRevoked, RuleRemoved
from greenroom.rules.registry import NOUNS
from greenroom.rules.runs.events import RunEnded
from greenroom.rules.workflows.triggers.model import TriggerArmed
from greenroom.settings import Settings


def begin_epoch(data: Path, settings: Settings, keep: list[str]) -> dict[str, Any]:
    """End what may have been ended since the backup, write a new operator's token, and report what was done."""
    return asyncio.run(_begin_epoch(data, settings, keep))


async def _begin_epoch(data: Path, settings: Settings, keep: list[str]) -> dict[str, Any]:
    store = open_store(data, settings, NOUNS)
    try:
        with store.convert_database_errors():
            ensure_rows(store, NOUNS, None)
            newest = store.events(store.head() - 1, 1)
        log = Log(store, NOUNS, settings, HubClock(store.wall_time, newest[0].at if newest else 0))
        writer = asyncio.create_task(log.run(), name="log writer")
        try:
            token = new_token("operator")
            command = BeginEpoch(by=HUB, credential_id=token.credential_id, digest=token.digest, keep=keep)
            done = await log.do(command)
        finally:
            log.stop()
            await writer
        write_private(data / OPERATOR_TOKEN, token.text + "\n")
        credentials = {one.id: one for one in log.rows.find(CREDENTIALS)}
        return _summarize_epoch(done.records, done.first(EpochBegun), credentials)
    finally:
        await store.close()


def _summarize_epoch(
    records: tuple[Recorded, ...], begun: EpochBegun, credentials: dict[str, Credential]
) -> dict[str, Any]:
    events = [record.event for record in records]
    revoked = {event.credential_id for event in events if isinstance(event, CredentialRevoked)}
    withdrawn = {event.ask_id for event in events if isinstance(event, AskWithdrawn)}
    lapsed = {event.ask_id for event in events if isinstance(event, AnswerLapsed)}
    counts = {"grants": GrantRevoked, "rules": RuleRemoved, "triggers": TriggerArmed}
    counts |= {"channels": ChannelRemoved, "runs": RunEnded}
    return {
        "number": begun.number,
        "kept": [_describe_credential(credentials[one]) for one in begun.kept],
        "revoked": [_describe_credential(credentials[one]) for one in sorted(revoked)],
        "asks": len(withdrawn),
        "approvals": len(lapsed - withdrawn),
        **{name: sum(isinstance(event, kind) for event in events) for name, kind in counts.items()},
    }


def _describe_credential(credential: Credential) -> dict[str, Any]:
    names = {"id": credential.id, "kind": credential.kind, "name": credential.name}
    return {**names, "browser": credential.browser, "device": credential.device}
