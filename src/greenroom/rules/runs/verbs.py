"""The verbs for runs, for a kept agent's process, and for a node with its runs, for every door."""

from greenroom.rules.runs.commands import CancelRun, EndAgent, ExtendRun, RemoveNode, ResumeRun, SteerRun
from greenroom.rules.runs.model import RUNS
from greenroom.rules.verb import CliOption, CliVerb, McpVerb, Verb

_ONE = "/api/runs/{run_id}"
_ORDER = {"order_id": "ord"}
RUN_VERBS = (
    Verb(
        CancelRun,
        "POST",
        f"{_ONE}/cancel",
        "chat",
        "Cancel a run and all runs below it",
        takes=("cascade", "reason"),
        new_ids={"order_seed": "ord"},
        answer=RUNS,
        tool=McpVerb("run_cancel", "End a run that you started, and all below it.", takes=("cascade",)),
        cli=CliVerb(
            "runs cancel",
            "{id} is {status}",
            "run_01m7...",
            kind="run",
            takes=("cascade",),
            options={
                "cascade": CliOption(
                    "cascade",
                    says="also cancel all runs that it started (the default)",
                    opposite=("only", "do not cancel the runs that it started"),
                )
            },
        ),
    ),
    Verb(
        SteerRun,
        "POST",
        f"{_ONE}/steer",
        "chat",
        "Send a message to the agent",
        takes=("text",),
        new_ids=_ORDER,
        answer=RUNS,
        cli=CliVerb("runs steer", "said", "run_01m7... 'use tabs'", kind="run"),
    ),
    Verb(
        ExtendRun,
        "POST",
        f"{_ONE}/extend",
        "operate",
        "Resume a paused run",
        takes=("timeout_s", "max_tokens", "max_cost_usd"),
        new_ids=_ORDER,
        answer=RUNS,
        cli=CliVerb(
            "runs extend",
            "{id} is {status}",
            "run_01m7... --timeout 600",
            kind="run",
            options={
                "timeout_s": CliOption("timeout", "SECONDS"),
                "max_tokens": CliOption("tokens", "N"),
                "max_cost_usd": CliOption("cost", "USD"),
            },
        ),
    ),
    Verb(
        ResumeRun,
        "POST",
        f"{_ONE}/resume",
        "operate",
        "Resume an interrupted run",
        takes=("prompt",),
        new_ids={"new_run_id": "run", **_ORDER},
        status=201,
        cli=CliVerb("runs resume", "{answer[id]}", "run_01m7...", kind="run", takes=()),
    ),
)
AGENT_PROCESS_VERBS = (
    Verb(
        EndAgent,
        "POST",
        "/api/agents/{agent_id}/stop",
        "operate",
        "End a kept agent's process; you can call it again",
        new_ids=_ORDER,
        cli=CliVerb(
            "agent stop", "{name} is {process}.", "reviewer", "NAME", "agt", "the name it is kept as, or its id"
        ),
    ),
)
NODE_REMOVAL_VERBS = (
    Verb(
        RemoveNode,
        "DELETE",
        "/api/nodes/{node_id}",
        "operate",
        "Remove a node and revoke its credential; refused while agents work there, unless forced",
        takes=("force",),
        status=204,
        cli=CliVerb(
            "node remove",
            "{id} is removed.",
            "desk",
            "NODE",
            "node",
            "its name or id",
            says="With --force the runs of its agents fail, and the node's program ends them and itself.",
        ),
    ),
)
