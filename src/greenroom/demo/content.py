"""The names, prompts and texts of the demo's agents."""

from typing import Any

PROFILES = {
    "builder": ("Builder", "Writes and builds code in a folder of its own"),
    "reviewer": ("Reviewer", "Reads changes and says what is wrong with them"),
    "scout": ("Scout", "Looks things up and changes nothing"),
}
CONSOLE: dict[str, Any] = {
    "driver": "pty",
    "display_name": "Console",
    "description": "Lives in a terminal: watch it, or type into it",
    "options": {"prompt": "none"},
}
RULES: dict[str, dict[str, Any]] = {
    "new-files": {
        "decision": "allow",
        "tools": ["write"],
        "where": "inside",
        "profiles": ["builder"],
        "note": "a new file in its own folder harms nobody",
    },
    "no-force-push": {"decision": "deny", "commands": ["git push --force **"], "note": "history is not rewritten"},
    "publishing": {"decision": "ask", "commands": ["twine upload **"], "risk": "high", "note": "it cannot be undone"},
}

GREETING = (
    "欢迎来到 Greenroom",
    "这里的每个智能体都在彩排：不需要密钥，也不花钱。试试在收件箱里批准一个请求，或者用上面的按钮邀请一个智能体。",
)
FLAKY = ("A flaky test in the sync socket", "It fails once in two hundred runs. @scout, what do the logs say?")
LOOKED = (
    "# Read the logs of the flaky test",
    "The failures have one thing in common.",
    """The client resumes **before** the hub has written the row:

```mermaid
sequenceDiagram
  Client->>Hub: resume from 41
  Hub-->>Client: nothing new
  Hub->>Log: commit 42
  Note over Client: waits for 42 in vain
```

The test should wait for the commit, not for the clock.""",
    "4100 520 0.03",
)
NOTES = ("Release 1.4: what is left", "The notes, and one flaky test. @scout, what has changed since 1.3?")
SUMMARY = """# Summarise what has changed since 1.3
SAY **Workflows** survive any crash, **approvals** reach your phone, and the guard's limits become settings.
USAGE 6900 410 0.05"""
GUARD = (
    "Move the guard's limits into settings",
    "Who can look at `doors/guard.py`? The limits are constants, and two people asked for larger bodies.",
    "Good. Builder will do it, and keep the defaults.",
)
REVIEW = (
    "# Review the limits in doors/guard.py",
    "The limits are at the top of the file.",
    """I have read `doors/guard.py`:

| limit | where | verdict |
|---|---|---|
| headers | line 31 | a constant, should be a setting |
| body | line 58 | fine, but its name hides the unit |

```python
if len(headers) > settings.max_headers:
    raise Refused.in_words("too_many_headers", "Send fewer headers.")
```

Nothing else needs a change.""",
    "5200 830 0.04",
)

TRACKER: dict[str, Any] = {
    "description": "The issues of this project",
    "risks": {"find_*": "low", "read_*": "low", "close_*": "high"},
}
SEEN = ("find_issues", "read_issue", "comment_on_issue")
"""The tools of the tracker that are accepted; its other tools are held."""
COLLEAGUE = (
    "Mira",
    "Hello! I read the upgrade guide just now. Write to me when the release is ready.",
    "Fine with me. (I am played by a script: in your room people answer.)",
)
ROOM = "office"

_LIMITS = '"""What a request may be at most."""\\n\\nMAX_HEADERS = 100\\nMAX_BODY = 4_194_304\\nTIMEOUT_S = 30\\n'
CHANGE = f"""# Move the limits into settings
THINK The numbers go to the settings, the names keep their units.
WRITE limits.py {_LIMITS}
USAGE 7400 960 0.06
EDIT limits.py MAX_HEADERS = 100\\nMAX_BODY = 4_194_304\\nTIMEOUT_S = 30 => \
from greenroom.settings import settings\\n\\nMAX_HEADERS = settings.max_headers\\n\
MAX_BODY_BYTES = settings.max_body_bytes\\nTIMEOUT_S = 30
SAY The limits are settings now, with the same defaults."""
TESTS = """# Run the tests with the new limits
WRITE Makefile test: ; @echo "214 passed in 3.1 s"
USAGE 2100 140 0.01
SHELL make test
SAY All tests pass."""
PACKING = f"""# Pack version 1.4.0
WRITE limits.py {_LIMITS}
USAGE 1800 210 0.01
SHELL rm -rf dist && mkdir dist && tar -czf "dist/limits-1.4.0.tar.gz" limits.py && sha256sum dist/*.gz | tee SHA256SUMS
SAY Packed, with its checksum beside it."""
ISSUE = """# Tell in the tracker why the sync test fails
TOOL tracker__find_issues {"words": "sync"}
USAGE 1500 120 0.01
TOOL tracker__comment_on_issue {"number": 412, "text": "The client resumes before the row is written. I have a fix."}
SAY Everybody who follows the issue knows now."""
CHOICE: tuple[str, dict[str, Any]] = (
    "# Find a place for the release notes",
    {
        "project_directory": "/srv/greenroom",
        "questions": [
            {
                "question": "Where shall the release notes go?",
                "header": "Notes",
                "options": [
                    {"label": "CHANGELOG.md", "description": "One file, newest first"},
                    {"label": "Release page", "description": "With the tag, and a link from the README"},
                ],
            }
        ],
    },
)
REPORT: tuple[str, dict[str, Any]] = (
    "# Check the upgrade guide against the code",
    {
        "project_directory": "/srv/greenroom",
        "summary": "The upgrade guide is right again\n\n"
        "Three commands had changed their names, and one setting is new:\n\n"
        "- `greenroom node join` takes the ticket as a file\n- `max_body_bytes` has a section of its own\n\n"
        "Every example was run once.",
    },
)
TEAM: tuple[str, list[dict[str, str]], str] = (
    "# Find out why the sync test fails now and then",
    [
        {
            "profile": "reviewer",
            "prompt": "# Look for sleeps in the test\nSLEEP 3\nSAY Nothing in it sleeps.\nUSAGE 900 120 0.01",
        },
        {
            "profile": "builder",
            "prompt": "# Run the test two hundred times\nSAY 41 of 200, no failure yet.\nUSAGE 300 40 0.01\nSLEEP 900",
        },
        {
            "profile": "scout",
            "prompt": "# Compare with the last green build\nSPAWN reviewer # Read the difference\\nSLEEP 900",
        },
    ],
    "SAY Three of us look at it.\nUSAGE 3300 260 0.02\nSLEEP 900",
)
LOST = "# Update the lock file\nSAY Looking for it.\nFAIL there is no lock file in this folder"
WATCHED = "# Watch the tests in a terminal"
