"""Random workflows for hypothesis, and how their attempts end."""

import hashlib
from typing import Any

from hypothesis import strategies as st

_MOST_STEPS = 9


@st.composite
def workflows(draw: st.DrawFn, profile: str = "rehearsal") -> dict[str, Any]:
    """A definition as plain data: steps that depend on earlier ones, with all that decides how a failure goes on."""
    count = draw(st.integers(1, _MOST_STEPS))
    names = [f"s{n}" for n in range(count)]
    steps = []
    routed: set[str] = set()
    for n, name in enumerate(names):
        step: dict[str, Any] = {"id": name, "prompt": f"do {name}", "profile": profile}
        if n:
            step["dependencies"] = draw(st.lists(st.sampled_from(names[:n]), unique=True, max_size=3))
        if draw(st.integers(0, 9)) == 0:
            step["when"] = draw(st.sampled_from(["true", "false"]))
        if draw(st.integers(0, 3)) == 0:
            step["join"] = "any"
        if draw(st.booleans()):
            step["retry"] = {"max": draw(st.integers(1, 2)), "backoff_s": 0, "jitter": 0}
        step["on_error"] = draw(st.sampled_from(["abort", "skip", "ignore", "ignore"]))
        later = [one for one in names[n + 1 :] if one not in routed]
        if later and draw(st.integers(0, 5)) == 0:
            target = draw(st.sampled_from(later))
            routed.add(target)
            step["on_error"] = f"route:{target}"
        if draw(st.integers(0, 3)) == 0:
            step["for_each"] = {
                "items": list(range(draw(st.integers(1, 4)))),
                "parallel": draw(st.integers(1, 3)),
                "join": draw(st.sampled_from(["all", "any", "settled"])),
            }
        steps.append(step)
    policy = draw(st.sampled_from(["all_success", "all_success", "first_success", "allow_debt"]))
    return {"name": "random", "policy": policy, "steps": steps}


def fails(seed: int, key: str, attempt: int, of_ten: int = 3) -> bool:
    """Whether an attempt fails: the same for whoever asks."""
    return hashlib.sha256(f"{seed} {key} {attempt}".encode()).digest()[0] % 10 < of_ten


def rank(seed: int, key: str) -> bytes:
    """An order of attempts that has nothing to do with the order in which they began."""
    return hashlib.sha256(f"{seed} {key}".encode()).digest()
