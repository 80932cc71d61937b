"""The page in a real browser: how soon it shows something, what it loads, and how smoothly it scrolls and streams."""

import asyncio
import json
import shutil
import subprocess
from pathlib import Path

import msgspec

from bench.report import Goal, Row
from bench.run import Bench, JobFailed
from bench.section_agents import hall
from bench.servers import ROOT, scratch
from greenroom.app import open_hub
from greenroom.doors.page import load_build
from greenroom.ids import new_id, new_secret
from greenroom.rules.access.model import HUB
from greenroom.rules.threads.commands import CreateThread
from greenroom.settings import Settings

_LINE = "The guard checks host and origin before the body is read and says who was wrong"
_GROUP = 500
_LIMIT_S = 500


def measure_page(bench: Bench) -> list[Row]:
    if not load_build().is_there or shutil.which("chromium") is None:
        return [Row("the page", "left out: it is not built, or there is no chromium")]
    with scratch("page") as folder:
        bench.say(f"page: a thread of {bench.scale.long_thread} messages")
        thread = asyncio.run(_fill(folder / "hub", bench.scale.long_thread))
        with hall(folder) as place:
            bench.say("page: in the browser")
            told = {"url": place.hub.url, "token": place.hub.token, "thread": thread, "memory_s": bench.scale.page_s}
            argv = ["node", str(ROOT / "web" / "measure.mjs"), json.dumps(told)]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    if done.returncode:
        raise JobFailed(done.stderr[-2000:])
    found = json.loads(done.stdout)
    bench.measured["page"] = found
    return _rows(found, bench.scale.long_thread)


def _rows(found: dict[str, object], messages: int) -> list[Row]:
    first_ms, first_bytes = float(str(found["first_ms"])), float(str(found["first_bytes"]))
    names = ("panels", "scroll", "stream", "memory", "long", "runs")
    panels, scroll, stream, memory, long, runs = (_numbers(found[name]) for name in names)
    heaviest = sorted(panels.items(), key=lambda item: -item[1])
    return [
        Row("page: cold start to first rows", f"{first_ms:.0f} ms", goal=Goal(at_most=2000), judged=first_ms),
        Row("page: loaded for the first screen", _kb(first_bytes), goal=Goal(at_most=400_000), judged=first_bytes),
        *(Row(f"page: loaded on opening {name}", _kb(size)) for name, size in heaviest),
        _frames(f"page: frames dropped, scrolling {messages} messages", scroll),
        _frames(f"page: frames dropped, {stream['sent']:.0f} messages arriving", stream),
        _frames(f"page: frames dropped, {runs['talking']:.0f} runs streaming", runs),
        Row("page: opening 10 MB of Markdown", f"{long['opened_ms']:.0f} ms, longest pause {long['worst_ms']:.0f} ms"),
        _memory(memory),
    ]


def _memory(seen: dict[str, float]) -> Row:
    """An hour in short: as many messages as an hour brings of one every second or so, in a minute."""
    began, halfway, ended = (seen[name] / 1e6 for name in ("began_bytes", "halfway_bytes", "ended_bytes"))
    what = f"page: memory, {seen['sent']:.0f} messages in {seen['seconds']:.0f} s"
    shown = f"{began:.0f} MB at first, {halfway:.0f} halfway, {ended:.0f} after"
    return Row(what, shown, goal=Goal(at_most=150), judged=ended)


def _numbers(value: object) -> dict[str, float]:
    return msgspec.convert(value, dict[str, float])


def _frames(what: str, seen: dict[str, float]) -> Row:
    share = seen["dropped"] / max(1.0, seen["frames"])
    shown = f"{seen['dropped']:.0f} of {seen['frames']:.0f}, worst {seen['worst_ms']:.0f} ms"
    return Row(what, shown, goal=Goal(at_most=0.05), judged=share)


def _kb(size: float) -> str:
    return f"{size / 1000:.0f} kB"


async def _fill(data: Path, messages: int) -> str:
    thread = new_id("thr")
    async with open_hub(data, Settings(posts_per_minute=0)) as hub:
        await hub.log.do(CreateThread(by=HUB, thread_id=thread, topic="A long talk", nonce=new_secret(12)))
        for base in range(0, messages, _GROUP):
            posts = (hub.bus.post(HUB, thread, None, _text(n), strict=False) for n in range(base, base + _GROUP))
            await asyncio.gather(*posts)
    return thread


def _text(number: int) -> str:
    text = f"Message {number}: " + _LINE[: 15 + number % 70]
    return text + (
        "\n\n```python\nx = 1\n```" if number % 17 == 0 else "\n\n- one\n- **two**" if number % 11 == 0 else ""
    )
