"""The verbs for threads, for every door."""

from greenroom.rules.threads import commands as c
from greenroom.rules.threads.pins import PinThread, UnpinThread
from greenroom.rules.verb import CliVerb, McpVerb, Verb

_ONE = "/api/threads/{thread_id}"
THREAD_VERBS = (
    Verb(c.DeleteThread, "DELETE", _ONE, "chat", "Delete a thread and everything in it"),
    Verb(c.SetThreadState, "POST", f"{_ONE}/state", "chat", "Set the state of a thread", takes=("state",)),
    Verb(c.RenameThread, "POST", f"{_ONE}/rename", "chat", "Rename a thread", takes=("topic",)),
    Verb(
        c.CloseThread,
        "POST",
        f"{_ONE}/close",
        "chat",
        "Close a thread",
        takes=("summary",),
        tool=McpVerb(
            "thread_close",
            "End a thread when its work is done: nothing more can be posted, and who waits in it is released."
            " For its admin. Say in summary what came out of it.",
        ),
    ),
    Verb(
        c.ArchiveThread,
        "POST",
        f"{_ONE}/archive",
        "chat",
        "Archive a thread",
        tool=McpVerb("thread_archive", "Put a thread away, out of the list. For its admin."),
    ),
    Verb(c.UnarchiveThread, "POST", f"{_ONE}/unarchive", "chat", "Unarchive a thread"),
    Verb(
        PinThread,
        "POST",
        f"{_ONE}/pin",
        "chat",
        "Pin a thread to the top of the lists",
        cli=CliVerb("thread pin", "{id} is pinned.", "Plan", "THREAD", "thr", "its id, or its topic"),
    ),
    Verb(
        UnpinThread,
        "POST",
        f"{_ONE}/unpin",
        "chat",
        "Unpin a thread",
        cli=CliVerb("thread unpin", "{id} is not pinned any more.", "Plan", "THREAD", "thr", "its id, or its topic"),
    ),
)
TEMPLATE_VERBS = (
    Verb(c.DeleteTemplate, "DELETE", "/api/templates/{template_id}", "operate", "Remove a template", status=204),
)
