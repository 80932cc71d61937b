"""How runs of workflows look on a terminal: the live table, the report, and a run in brief."""

import json
import shutil
import sys
import time
from functools import partial
from textwrap import indent
from typing import Any

from greenroom.cli.client import HubClient, retry_while_away
from greenroom.cli.terminal import escape_line, format_duration, measure_width, pad_text, show_table, truncate_text

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
_NAME = 40
_BAR = 24
_NEEDS = 2
Json = dict[str, Any]


def summarize_run(run: Json) -> Json:
    """A run for programs."""
    spent = {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, **run.get("spent", {})}
    names = ("workflow", "status", "output", "error", "note", "created_at", "ended_at")
    waits = {"waiting": run.get("waiting", False), "waits_for": run.get("waits_for", [])}
    counts = ("steps", "completed", "failed", "skipped", "cancelled", "active")
    return {
        "run_id": run["id"],
        **{name: run.get(name) for name in names},
        **waits,
        **{name: run.get(name, 0) for name in counts},
        "usage": spent,
    }


def describe_status(run: Json) -> str:
    """How a run stands, for people: one that runs may have nothing to do but wait."""
    return "waiting" if run.get("waiting") else str(run["status"])


def describe_waits(run: Json) -> list[str]:
    """Whom a run waits for, and how to see the ask, one line for each."""
    return [
        f"{escape_line(wait['step'])} waits for {_describe_asked(wait)}: "
        f"greenroom ask show {escape_line(wait['ask_id'])}"
        for wait in run.get("waits_for", ())
    ]


def _describe_asked(wait: Json) -> str:
    asked = wait.get("asked_of")
    who = " and ".join(escape_line(name) for name in asked) if asked else "a person"
    return (
        f"{who} ({escape_line(wait['kind'])} of {escape_line(wait['name'])})"
        if wait.get("name")
        else f"{who} ({wait['kind']})"
    )


def follow_run(client: HubClient, run_id: str) -> Json:
    """Show a run until it is over: a table that is drawn again on a terminal, else one line for each change."""
    redraws = sys.stdout.isatty()
    seen: dict[str, tuple[str, int, str]] = {}
    drawn = 0
    while True:
        report = retry_while_away(partial(client.get, "workflow-runs", run_id, "report"))
        if redraws:
            drawn = _draw_table(report, drawn)
        else:
            _tell_changes(report, seen)
        run: Json = report["run"]
        if run["status"] in _ENDED:
            return run
        retry_while_away(partial(client.get, "workflow-runs", run_id, "wait", for_s=0.5))


def _tell_changes(report: Json, seen: dict[str, tuple[str, int, str]]) -> None:
    for step in report["steps"]:
        state = (step["status"], len(step["attempts"]), step.get("reason") or "")
        if step["status"] != "pending" and seen.get(step["id"]) != state:
            seen[step["id"]] = state
            print(_format_step(step, 24), flush=True)
            if _is_asking(step):
                print(f"    {_describe_blocker(step)}", flush=True)


def _draw_table(report: Json, drawn: int) -> int:
    """The table over the one that was drawn before; how many lines it has. No row is wider than the terminal."""
    columns, height = shutil.get_terminal_size()
    run, steps = report["run"], [step for step in report["steps"] if "[" not in step["id"]]
    done = count_ended_steps(run)
    head, tail = f"{escape_line(run['workflow'])}  {describe_status(run)}  ", f"  {done}/{run['steps']}  {run['id']}"
    long = max(
        0, min(_BAR, columns - 1 - measure_width(head) - measure_width(tail))
    )  # the id is needed to the last letter
    full = long * done // max(1, run["steps"])
    rows = [f"{head}{'█' * full}{'░' * (long - full)}{tail}"]
    shown = _choose_steps(steps, max(3, height - 6))
    name = max(8, *(min(_NAME, measure_width(escape_line(step["id"]))) for step in shown)) if shown else 8
    rows += [_format_step(step, name) for step in shown]
    if len(shown) < len(steps):
        rows.append(f"  … {len(steps) - len(shown)} more steps")
    if run.get("note"):
        rows.append(f"paused: {escape_line(run['note'])}")
    rows += find_blockers(report)[:_NEEDS]
    over = "".join(f"{truncate_text(row, columns - 1)}\x1b[K\n" for row in rows)  # row by row, so that nothing flickers
    print(f"\x1b[{drawn}F{over}\x1b[J" if drawn else over, end="", flush=True)
    return len(rows)


def find_blockers(report: Json) -> list[str]:
    """What keeps the steps of a run from continuing, one line for each thing that somebody can resolve."""
    return [told for step in report["steps"] if (told := _describe_blocker(step))]


def _is_asking(step: Json) -> bool:
    return bool(step.get("waits_kind") == "ask")


def _describe_blocker(step: Json) -> str:
    if _is_asking(step):
        return f"{escape_line(step['id'])} needs a person: greenroom ask show {escape_line(step['waits_key'])}"
    is_held_up = step["status"] == "running" and step["kind"] == "agent" and step.get("reason")
    return f"{escape_line(step['id'])} {escape_line(step['reason'])}" if is_held_up else ""


def count_ended_steps(run: Json) -> int:
    """How many steps of a run are over."""
    over = sum(run.get(name, 0) for name in ("completed", "failed", "skipped", "cancelled"))
    return int(min(run["steps"], over))


def _choose_steps(steps: list[Json], most: int) -> list[Json]:
    """As many steps as fit, in their order; running steps take precedence over finished and later ones."""
    places = sorted(range(len(steps)), key=lambda at: (_RANK.get(steps[at]["status"], 0), -at))
    return [steps[at] for at in sorted(places[:most])]


_RANK = {"failed": 1, "completed": 2, "skipped": 3, "cancelled": 3, "pending": 4}


def _format_step(step: Json, columns: int) -> str:
    name = pad_text(truncate_text(escape_line(step["id"]), columns), columns)
    parts = [f"  {MARKS.get(step['status'], ' ')} {name} {step['status']:10} {_format_time(step):>8}"]
    if step.get("total"):
        parts.append(f"{step['done']}/{step['total']} items")
    if len(step["attempts"]) > 1:
        parts.append(f"attempt {len(step['attempts'])}")
    if step.get("agent"):
        parts.append(escape_line(step["agent"]))
    why = step.get("error") or step.get("reason")
    if why:
        parts.append(escape_line(why)[:200])
    return "  ".join(parts)


def _format_time(step: Json) -> str:
    if step.get("began_at") is None:
        return ""
    took_ms = (step.get("ended_at") or int(time.time() * 1000)) - step["began_at"]
    return format_duration(max(0, took_ms))


def show_report(report: Json) -> None:
    """Each step: who did it, how often, how long, and what it cost."""
    rows = []
    for step in report["steps"]:
        spent = step["spent"]
        tokens = spent.get("input_tokens", 0) + spent.get("output_tokens", 0)
        cost = spent.get("cost_usd", 0.0)
        result = step.get("error") or step.get("reason") or _shorten_value(step.get("output"))
        rows.append(
            (
                step["id"],
                step["status"],
                step.get("agent") or step.get("profile") or step["kind"],
                len(step["attempts"]),
                format_duration(step.get("duration_ms")),
                tokens or "",
                f"{cost:.4f}" if cost else "",
                result,
            )
        )
    show_table(rows, ("STEP", "STATUS", "AGENT", "TRIES", "TIME", "TOKENS", "USD", "RESULT"))


def format_output(output: Any) -> str:
    """What came of a run, for people: words as they are, and where there are several values each under its name."""
    if isinstance(output, dict) and len(output) > 1:
        return "\n".join(f"{name}:\n{indent(format_output(value), '    ')}" for name, value in output.items())
    if isinstance(output, dict) and output:
        (output,) = output.values()
    return output if isinstance(output, str) else json.dumps(output, indent=2, ensure_ascii=False)


def _shorten_value(value: Any) -> str:
    if value is None:
        return ""
    text = " ".join(value.split()) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
