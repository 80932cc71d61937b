"""Ready-made sets of rules."""

import msgspec

from greenroom.rules.policy.model import Rule


class RuleTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """Rules by name, in order."""

    name: str
    words: str
    rules: list[tuple[str, Rule]]


TEMPLATES: tuple[RuleTemplate, ...] = (
    RuleTemplate(
        name="read-only",
        words="Agents look and talk, and change nothing: writing, the network and commands that do more are refused.",
        rules=[
            ("read-only-write", Rule(decision="deny", kinds=["write"], note="this room is read-only")),
            ("read-only-network", Rule(decision="deny", kinds=["network"], note="this room is read-only")),
            (
                "read-only-execute",
                Rule(decision="deny", kinds=["execute"], when='risk != "low"', note="this room is read-only"),
            ),
        ],
    ),
    RuleTemplate(
        name="trusted-repo",
        words="Agents work in their own directory without asking: they write there, use git there, and run its tests.",
        rules=[
            ("trusted-repo-write", Rule(decision="allow", kinds=["write"], where="inside")),
            (
                "trusted-repo-git",
                Rule(
                    decision="allow",
                    kinds=["execute"],
                    commands=[
                        "git status",
                        "git diff",
                        "git log",
                        "git log --oneline",
                        "git add **",
                        "git commit -m *",
                    ],
                ),
            ),
            (
                "trusted-repo-tests",
                Rule(
                    decision="allow",
                    kinds=["execute"],
                    commands=["pytest", "pytest *", "npm test", "make test", "make check", "cargo test", "go test *"],
                ),
            ),
        ],
    ),
    RuleTemplate(
        name="locked-down",
        words="Everything is asked about, each time; what leaves the machine is refused.",
        rules=[
            ("locked-down-network", Rule(decision="deny", kinds=["network"], note="nothing leaves this machine")),
            ("locked-down-outside", Rule(decision="deny", kinds=["write"], where="outside")),
            ("locked-down-rest", Rule(decision="ask", kinds=["read", "search", "write", "execute", "other"])),
        ],
    ),
    RuleTemplate(
        name="no-network",
        words="Agents work, but reach no other machine by their tools.",
        rules=[
            ("no-network-tools", Rule(decision="deny", kinds=["network"])),
            (
                "no-network-programs",
                Rule(
                    decision="deny",
                    kinds=["execute"],
                    commands=[f"{program} **" for program in ("curl", "wget", "ssh", "scp", "rsync", "nc", "socat")],
                ),
            ),
        ],
    ),
)


def get_template(name: str) -> RuleTemplate | None:
    """The template of this name."""
    return next((template for template in TEMPLATES if template.name == name), None)
