"""What a restore of a backup ends: whatever may have been revoked, answered or used after the backup was made."""

from greenroom.errors import Refused
from greenroom.log.model import Command, Context, Decide, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.access.epochs import BeginEpoch, EpochBegun, get_epoch
from greenroom.rules.access.model import (
    CREDENTIALS,
    HUB,
    OWNER_ID,
    RIGHTS,
    Credential,
    CredentialCreated,
    CredentialRevoked,
)
from greenroom.rules.access.queries import get_person_name, need_right
from greenroom.rules.agents.model import AGENTS, AgentProcessChanged
from greenroom.rules.asks.events import AnswerLapsed, AskWithdrawn
from greenroom.rules.asks.model import ASKS
from greenroom.rules.asks.queries import is_untaken_yes
from greenroom.rules.channels.model import CHANNELS, ChannelRemoved
from greenroom.rules.nodes.model import NODES, ORDERS
from greenroom.rules.policy.events import GrantRevoked, RuleRemoved
from greenroom.rules.policy.model import GRANTS, RULES
from greenroom.rules.runs.events import RunEnded
from greenroom.rules.runs.model import LIVE, RUNS, Run
from greenroom.rules.runs.permissions import get_approval, refuse_order, withdraw_asks_of_run
from greenroom.sentences import build_sentence

_REVOKED = build_sentence("revoked.restored")
_WITHDRAWN = build_sentence("withdrawn.restored")
_INTERRUPTED = build_sentence("run_error.restored")
_UNTOLD = build_sentence("run_error.restored_untold")
_WITH_PROCESS = ("starting", "busy", "idle")
_MOST_NAMED = 10


def begin_epoch(rows: Rows, command: BeginEpoch, context: Context) -> list[Event]:
    need_right(need_principal(command), "operate")
    live = rows.find(CREDENTIALS, {"revoked_at": None}, order="_key")
    kept = _find_kept_credentials(rows, live, command.keep)
    ended = [one for one in live if one.id not in kept]
    lost = {node.id for node in rows.find(NODES)} - {one.agent_id for one in live if one.id in kept}
    epoch = get_epoch(rows)
    return [
        EpochBegun(number=(epoch.number if epoch is not None else 0) + 1, kept=sorted(kept)),
        *_end_runs(rows, lost),
        *_end_approvals(rows, lost),
        *[
            CredentialRevoked(credential_id=one.id, reason=_REVOKED)
            for one in sorted(ended, key=lambda one: one.kind == "node")  # what a node held is ended before it
        ],
        *[ChannelRemoved(channel_id=one.id, reason=_REVOKED) for one in rows.find(CHANNELS, order="_key")],
        _build_owner_token(rows, command),
    ]


def _find_kept_credentials(rows: Rows, live: list[Credential], keep: list[str]) -> set[str]:
    """The credentials to keep: those named, and with a node those of the agents that it holds. Never a login."""
    named = {found.id: found for found in (_need_one(live, text) for text in keep)}
    nodes = {one.agent_id for one in named.values() if one.kind == "node"}
    agents = {agent.id for node_id in nodes for agent in rows.find(AGENTS, {"node_id": node_id})}
    held = {one.id for one in live if one.kind == "agent" and one.created_by == HUB.id and one.agent_id in agents}
    return {*named, *held}


def _need_one(live: list[Credential], text: str) -> Credential:
    """The credential that is called so. Of two with one name, one may have taken the place of the other."""
    found = [one for one in live if not one.browser and text in (one.id, one.name)]
    if not found:
        raise Refused("credential_not_found.backup", "not_found", wanted=text[:100])
    if len(found) > 1:
        ids = ", ".join(one.id for one in found[:_MOST_NAMED])
        raise Refused("credential_ambiguous", "conflict", count=len(found), wanted=text[:100], ids=ids)
    return found[0]


def _end_runs(rows: Rows, nodes: set[str]) -> list[Event]:
    """Nobody knows what became of the runs of a node that is not kept. They can be resumed.

    A run that no node had received may have been carried out since, so it does not start again either.
    """
    events: list[Event] = []
    for run in rows.find(RUNS, {"status": "pending"}, order="_key"):
        if run.node_id not in nodes and not _is_ordered(rows, run):
            events += [
                RunEnded(run_id=run.id, status="interrupted", error=_UNTOLD),
                *withdraw_asks_of_run(rows, run, _WITHDRAWN),
            ]
    for node_id in sorted(nodes):
        for run in [run for status in LIVE for run in rows.find(RUNS, {"node_id": node_id, "status": status})]:
            events += [
                RunEnded(run_id=run.id, status="interrupted", error=_INTERRUPTED),
                *withdraw_asks_of_run(rows, run, _WITHDRAWN),
            ]
        for process in _WITH_PROCESS:
            for agent in rows.find(AGENTS, {"node_id": node_id, "process": process}):
                events.append(AgentProcessChanged(agent_id=agent.id, process="asleep"))
    return events


def _is_ordered(rows: Rows, run: Run) -> bool:
    """Whether a node received the order to start a run: it knows the order by its id, and carries it out once."""
    agent = rows.get(AGENTS, run.agent_id)
    return agent is not None and agent.run_id == run.id


def _end_approvals(rows: Rows, lost: set[str]) -> list[Event]:
    """Open permissions are asked again, and an unused approval may have been used since."""
    events: list[Event] = []
    for ask in rows.find(ASKS, {"state": "open"}, order="_key"):
        run = rows.get(RUNS, ask.run_id) if ask.run_id else None
        if ask.kind != "permission":
            continue
        if run is None or run.node_id not in lost:  # the others go with their run
            events.append(AskWithdrawn(ask_id=ask.id, reason=_WITHDRAWN))
        events.append(AnswerLapsed(ask_id=ask.id, reason=_WITHDRAWN))
    for ask in rows.find(ASKS, {"state": "answered"}, order="_key"):
        if is_untaken_yes(ask):
            events.append(AnswerLapsed(ask_id=ask.id, reason=_WITHDRAWN))
    for order in rows.find(ORDERS, order="_key"):
        approval = get_approval(order)
        if approval is not None and order.node_id not in lost:
            events.append(refuse_order(order, approval, _WITHDRAWN))
    return [*events, *_end_standing_approvals(rows)]


def _end_standing_approvals(rows: Rows) -> list[Event]:
    """An approval for a run or a profile, and a rule that remembers one, may have been revoked since.

    Other rules are configuration and stay; so does every rule that forbids.
    """
    remembered = [one for one in rows.find(RULES, {"source": "answer"}) if one.rule.decision == "allow"]
    return [
        *[GrantRevoked(grant_id=grant.id) for grant in rows.find(GRANTS, order="_key")],
        *[RuleRemoved(name=one.name) for one in sorted(remembered, key=lambda one: one.name)],
    ]


def _build_owner_token(rows: Rows, command: BeginEpoch) -> CredentialCreated:
    return CredentialCreated(
        credential_id=command.credential_id,
        kind="operator",
        name="operator",
        digest=command.digest,
        rights=sorted(RIGHTS["operator"]),
        person_id=OWNER_ID,
        person=get_person_name(rows, OWNER_ID),
    )


DECIDE: dict[type[Command], Decide] = {BeginEpoch: begin_epoch}
