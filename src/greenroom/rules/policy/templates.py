"""Ready-made sets of rules."""

import msgspec

from greenroom.rules.policy.model import Rule
from greenroom.sentences import Sentence, Words, build_sentence


class RuleTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """Rules by name, in order."""

    name: str
    words: Words
    rules: list[tuple[str, Rule]]
    sentences: dict[str, Sentence] = {}


_LOCAL_ONLY = build_sentence("rule_note.local_only")
_READ_ONLY = build_sentence("rule_note.read_only")
TEMPLATES: tuple[RuleTemplate, ...] = (
    RuleTemplate(
        name="read-only",
        words=build_sentence("rule_template.read_only"),
        rules=[
            ("read-only-write", Rule(decision="deny", kinds=["write"], note=_READ_ONLY)),
            ("read-only-network", Rule(decision="deny", kinds=["network"], note=_READ_ONLY)),
            (
                "read-only-execute",
                Rule(decision="deny", kinds=["execute"], when='risk != "low"', note=_READ_ONLY),
            ),
        ],
    ),
    RuleTemplate(
        name="trusted-repo",
        words=build_sentence("rule_template.trusted_repo"),
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
        words=build_sentence("rule_template.locked_down"),
        rules=[
            (
                "locked-down-network",
                Rule(decision="deny", kinds=["network"], note=_LOCAL_ONLY),
            ),
            ("locked-down-outside", Rule(decision="deny", kinds=["write"], where="outside")),
            ("locked-down-rest", Rule(decision="ask", kinds=["read", "search", "write", "execute", "other"])),
        ],
    ),
    RuleTemplate(
        name="no-network",
        words=build_sentence("rule_template.no_network"),
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
