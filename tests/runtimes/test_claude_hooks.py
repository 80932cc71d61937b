"""What Claude Code's hooks leave, and what it writes down, could be from anybody: it is read with care."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from greenroom.runtimes.agents.claude.hooks import HookListener
from greenroom.runtimes.agents.claude.transcript_usage import TranscriptUsage, find_transcripts
from greenroom.testing.timeouts import WAIT_S

pytestmark = pytest.mark.anyio


def call(id: str, used: int, text: str = "", model: str = "m") -> str:
    usage = {"input_tokens": used, "cache_read_input_tokens": 5, "output_tokens": 1}
    content = [{"type": "text", "text": text}] if text else []
    return json.dumps({"type": "assistant", "message": {"id": id, "model": model, "usage": usage, "content": content}})


def test_tokens_are_counted_by_call_with_helpers_and_without_what_was_there_before(tmp_path: Path) -> None:
    transcript = tmp_path / "projects" / "desk" / "one.jsonl"
    helper = transcript.with_suffix("") / "subagents" / "agent-1.jsonl"
    helper.parent.mkdir(parents=True)
    transcript.write_text(call("old", 1000) + "\n")
    ledger = TranscriptUsage(find_transcripts({"CLAUDE_CONFIG_DIR": str(tmp_path)}, "one"))
    with transcript.open("a") as file:
        file.write("\n".join([call("a", 10), call("a", 10, "said"), "no json", call("x", 99, model="<synthetic>"), ""]))
        file.write(call("b", 20)[:30])
    helper.write_text(call("c", 40, "of the helper") + "\n")
    ledger.read_more(transcript)
    assert (ledger.count_used().input_tokens, ledger.count_used().output_tokens, ledger.count_used().model) == (
        60,
        2,
        "m",
    )
    assert ledger.has_said("said", 1)
    with transcript.open("a") as file:
        file.write(call("b", 20)[30:] + "\n")
    ledger.read_more(transcript)
    assert ledger.count_used().input_tokens == 85
    ledger.close()
    assert ledger.count_used().input_tokens == 0


def test_money_is_what_the_session_costs_more_than_before(tmp_path: Path) -> None:
    ledger = TranscriptUsage([])
    assert ledger.count_used().cost_usd is None
    for total in (1.5, 1.75):
        ledger.tell_cost({"cost": {"total_cost_usd": total}})
    assert ledger.count_used().cost_usd == 0.25
    ledger.close()
    for odd in ({}, {"cost": None}, {"cost": {"total_cost_usd": "much"}}):
        ledger.tell_cost(odd)
    assert ledger.count_used().cost_usd == 0.0


@pytest.mark.parametrize("kind", ["pipe", "link", "long"])
def test_a_transcript_that_is_none_costs_nothing(tmp_path: Path, kind: str) -> None:
    transcript, other = tmp_path / "one.jsonl", tmp_path / "other"
    other.write_text(call("a", 10) + "\n")
    match kind:
        case "pipe":
            os.mkfifo(transcript)
        case "link":
            transcript.symlink_to(other)
        case _:
            with transcript.open("wb") as file:
                file.truncate(1 << 33)
    ledger = TranscriptUsage([])
    ledger.read_more(transcript)
    assert ledger.count_used().input_tokens == 0


async def test_a_bell_that_is_rung_for_another_file_is_not_heard(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "hooks", tmp_path / "secret.1"
    elsewhere.write_text("{}")
    heard: list[tuple[str, dict[str, Any]]] = []
    came = asyncio.Event()

    def hear(kind: str, number: str, told: dict[str, Any]) -> None:
        heard.append((kind, told))
        came.set()

    bell = HookListener(folder, hear)
    try:
        (folder / "turn.2").symlink_to(elsewhere)
        (folder / "call.3").write_text('{"tool_name": "Bash"}')
        with (folder / "bell").open("wb", buffering=0) as pipe:
            pipe.write(b"../secret.1\nturn.2\nturn.x\n\xff\ncall.3\n")
        async with asyncio.timeout(WAIT_S):
            await came.wait()
    finally:
        bell.close()
    assert heard == [("call", {"tool_name": "Bash"})]
    assert elsewhere.exists()
