"""How runs of workflows look on a terminal: the live table, the report, and a run in brief."""

import sys
import time
from typing import Any

from greenroom.cli.client import Client
from greenroom.cli.terminal import line, show_table

MARKS = {
    "completed": "✓",
    "failed": "✗",
    "skipped": "–",
    "cancelled": "■",
    "running": "▶",
    "waiting": "?",
    "delayed": "↻",
    "held": "‖",
    "queued": "…",
    "pending": "·",
}
_ENDED = ("completed", "failed", "cancelled")
_SHOWN = 40
_BAR = 24
Json = dict[str, Any]


def brief(run: Json) -> Json:
    """A run for programs."""
    spent = {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, **run.get("spent", {})}
    names = ("workflow", "status", "output", "error", "note", "created_at", "ended_at")
    counts = ("steps", "completed", "failed", "skipped", "cancelled", "active")
    return {
        "run_id": run["id"],
        **{name: run.get(name) for name in names},
        **{name: run.get(name, 0) for name in counts},
        "usage": spent,
    }


def follow(client: Client, run_id: str) -> Json:
    """Show a run until it is over: a table that is drawn again on a terminal, else one line for each change."""
    redraws = sys.stdout.isatty()
    seen: dict[str, tuple[str, int]] = {}
    drawn = 0
    while True:
        report = client.get("workflow-runs", run_id, "report")
        if redraws:
            drawn = _draw(report, drawn)
        else:
            _tell_changes(report, seen)
        run: Json = report["run"]
        if run["status"] in _ENDED:
            return run
        client.get("workflow-runs", run_id, "wait", for_s=0.5)


def _tell_changes(report: Json, seen: dict[str, tuple[str, int]]) -> None:
    for step in report["steps"]:
        state = (step["status"], len(step["attempts"]))
        if step["status"] != "pending" and seen.get(step["id"]) != state:
            seen[step["id"]] = state
            print(_step_line(step), flush=True)


def _draw(report: Json, drawn: int) -> int:
    """The table over the one that was drawn before; how many lines it has."""
    run, steps = report["run"], [step for step in report["steps"] if "[" not in step["id"]]
    done = run.get("completed", 0) + run.get("failed", 0) + run.get("skipped", 0) + run.get("cancelled", 0)
    full = _BAR * done // max(1, run["steps"])
    rows = [f"{line(run['workflow'])}  {run['status']}  {'█' * full}{'░' * (_BAR - full)}  {done}/{run['steps']}"]
    shown = steps if len(steps) <= _SHOWN else [step for step in steps if step["status"] != "pending"][-_SHOWN:]
    rows += [_step_line(step) for step in shown]
    if run.get("note"):
        rows.append(f"paused: {line(run['note'])}")
    if drawn:
        print(f"\x1b[{drawn}F\x1b[J", end="")
    print("\n".join(row[:200] for row in rows), flush=True)
    return len(rows)


def _step_line(step: Json) -> str:
    parts = [f"  {MARKS.get(step['status'], ' ')} {line(step['id']):24} {step['status']:10} {_time(step):>8}"]
    if step.get("total"):
        parts.append(f"{step['done']}/{step['total']} items")
    if len(step["attempts"]) > 1:
        parts.append(f"attempt {len(step['attempts'])}")
    if step.get("agent"):
        parts.append(line(step["agent"]))
    why = step.get("error") or step.get("reason")
    if why:
        parts.append(line(why)[:100])
    return "  ".join(parts)


def _time(step: Json) -> str:
    if step.get("began_at") is None:
        return ""
    took_ms = (step.get("ended_at") or int(time.time() * 1000)) - step["began_at"]
    return duration(max(0, took_ms))


def duration(ms: int | None) -> str:
    """A time that people can read."""
    if ms is None:
        return ""
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(ms // 1000, 60)
    return f"{minutes} min {seconds} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def report_table(report: Json) -> None:
    """Each step: who did it, how often, how long, and what it cost."""
    rows = []
    for step in report["steps"]:
        spent = step["spent"]
        tokens = spent.get("input_tokens", 0) + spent.get("output_tokens", 0)
        cost = spent.get("cost_usd", 0.0)
        result = step.get("error") or step.get("reason") or _short(step.get("output"))
        rows.append(
            (
                step["id"],
                step["status"],
                step.get("agent") or step.get("profile") or step["kind"],
                len(step["attempts"]),
                duration(step.get("duration_ms")),
                tokens or "",
                f"{cost:.4f}" if cost else "",
                result,
            )
        )
    show_table(rows, ("STEP", "STATUS", "AGENT", "TRIES", "TIME", "TOKENS", "USD", "RESULT"))


def _short(value: Any) -> str:
    import json

    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
