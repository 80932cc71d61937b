"""The table: one row per comparison, with its ratio and whether its goal is met."""

import msgspec


class Goal(msgspec.Struct):
    """At least or at most this much."""

    at_least: float | None = None
    at_most: float | None = None

    def is_met_by(self, value: float) -> bool:
        enough = self.at_least is None or value >= self.at_least
        return enough and (self.at_most is None or value <= self.at_most)

    def __str__(self) -> str:
        return f">= {self.at_least:g}" if self.at_least is not None else f"<= {self.at_most:g}"


class Row(msgspec.Struct):
    what: str
    greenroom: str
    against: str = ""
    other: str = ""
    ratio: float | None = None
    goal: Goal | None = None
    judged: float | None = None  # what the goal is about, where it is not the ratio

    @property
    def is_met(self) -> bool | None:
        judged = self.ratio if self.judged is None else self.judged
        if self.goal is None or judged is None:
            return None
        return self.goal.is_met_by(judged)


HEADINGS = ("what", "Greenroom", "against", "which has", "ratio", "target", "")


def format_table(rows: list[Row]) -> str:
    """Markdown that is also readable as it stands."""
    cells = [HEADINGS, *(format_row(row) for row in rows)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(HEADINGS))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def format_row(row: Row) -> tuple[str, ...]:
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    met = {None: "", True: "met", False: "NOT MET"}[row.is_met]
    goal = "" if row.goal is None else str(row.goal)
    return (row.what, row.greenroom, row.against, row.other, ratio, goal, met)


def divide(a: float, b: float) -> float:
    return a / b if b else float("inf")


def compare_rates(what: str, ours: float, against: str, other: float, goal: Goal | None = None) -> Row:
    """Ratio: how many times the other's rate."""
    return Row(what, f"{ours:,.0f}/s", against, f"{other:,.0f}/s", divide(ours, other), goal)


def compare_times(what: str, ours_ms: float, against: str, other_ms: float, goal: Goal | None = None) -> Row:
    """Ratio: how many times the other's time."""
    return Row(what, f"{ours_ms:.2f} ms", against, f"{other_ms:.2f} ms", divide(ours_ms, other_ms), goal)


def compare_speed(what: str, ours_ms: float, against: str, other_ms: float, goal: Goal | None = None) -> Row:
    """Ratio: how many times faster than the other."""
    return Row(what, f"{ours_ms:.2f} ms", against, f"{other_ms:.2f} ms", divide(other_ms, ours_ms), goal)


def count_faults(what: str, ours: int, peers: int | None) -> Row:
    """Errors, losses and doubles: there must be none."""
    against, other = ("", "") if peers is None else ("peer", str(peers))
    return Row(what, str(ours), against, other, goal=Goal(at_most=0), judged=ours)
