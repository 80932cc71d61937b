"""The rules for answers: who may answer, that the first wins, and that an approval covers exactly what was shown."""

from greenroom.errors import Refused
from greenroom.link.ask_kinds import ASK_KINDS, SCOPES
from greenroom.link.call_digest import hash_call
from greenroom.log.copied_fields import copy_fields
from greenroom.log.model import Context, Event, Rows
from greenroom.rules.access.decide import need_principal
from greenroom.rules.asks import events as e
from greenroom.rules.asks.commands import AnswerAsk
from greenroom.rules.asks.forms import need_choices, need_form, need_options
from greenroom.rules.asks.model import Ask, Content
from greenroom.rules.asks.queries import is_over_time, need_person_for
from greenroom.rules.asks.votes import build_overdue_events, build_vote_events, need_seat
from greenroom.rules.policy.answer_effects import build_answer_events

CHARS = 200_000
PARTS = 20


def answer_ask(rows: Rows, command: AnswerAsk, context: Context) -> list[Event]:
    by = need_principal(command)
    ask = need_person_for(rows, by, command.ask_id)
    need_open(ask)
    if is_over_time(ask, context.now):
        return build_overdue_events(ask)
    _need_shown(ask, command)
    _need_fitting(ask, command)
    if command.scope == "rule" and not by.may_operate:
        raise Refused("forbidden.rule", "forbidden")
    name = by.person or command.name.strip()[:100] or by.name
    seat = need_seat(by, ask)
    if votes := build_vote_events(by, ask, command, seat, name):
        return votes
    changed = command.arguments is not None and ask.subject is not None and command.arguments != ask.subject.arguments
    arguments = command.arguments if changed else None
    answered = copy_fields(
        command,
        e.AskAnswered,
        ask_id=ask.id,
        name=name,
        arguments=arguments,
        digest=ask.digest if arguments is None or ask.subject is None else hash_call(ask.subject, arguments),
        seat=seat,
        lapses_at=_compute_lapse_time(ask, command, context),
    )
    scope = command.scope if arguments is None else "changed"
    told = build_answer_events(
        rows,
        ask_id=ask.id,
        answer=command.verdict,
        scope=scope,
        seed=ask.id.removeprefix("ask_"),
        now=context.now,
        remember=command.remember,
    )
    return [answered, *told]


def _compute_lapse_time(ask: Ask, command: AnswerAsk, context: Context) -> int:
    is_yes = ASK_KINDS[ask.kind].is_call and command.verdict == "approve"
    return context.now + context.settings.approval_s * 1000 if is_yes else 0


def _need_shown(ask: Ask, command: AnswerAsk) -> None:
    """An approval of a call says what was shown; and high risk is approved alone."""
    if command.digest is not None and command.digest != ask.digest:
        raise Refused("changed", "conflict")
    if command.verdict != "approve":
        return
    if ask.subject is not None and command.digest is None:
        raise Refused("digest_needed")
    if ask.risk == "high" and command.way != "alone":
        raise Refused("high_risk", "conflict", id=ask.id)


def need_open(ask: Ask) -> None:
    if ask.state == "open":
        return
    if ask.answer is not None:
        who = ask.answer.rule or ask.answer.name
        raise Refused(
            "already_answered",
            "conflict",
            details={"verdict": ask.answer.verdict, "by": ask.answer.by, "name": who, "at": ask.answer.at},
            who=who,
            verdict=ask.answer.verdict,
        )
    if ask.state == "expired":
        raise Refused("ask_expired", "conflict", details={"at": ask.closed_at})
    raise Refused("ask_withdrawn", "conflict", details={"at": ask.closed_at}, reason=ask.reason)


def _need_fitting(ask: Ask, command: AnswerAsk) -> None:
    kind = ASK_KINDS[ask.kind]
    if command.verdict not in kind.verdicts:
        raise Refused("bad_verdict", kind=ask.kind, verdicts=kind.verdicts)
    if command.scope not in SCOPES or (command.scope != "once" and not kind.is_call):
        raise Refused("bad_scope.permission_only")
    if command.remember is not None and command.scope != "rule":
        raise Refused("bad_scope.rule_only")
    if len(command.text) > CHARS:
        raise Refused("bad_answer.text_too_long", "too_large", limit=CHARS)
    if command.arguments is not None and (not ask.edits or command.verdict != "approve"):
        raise Refused("cannot_edit")
    if command.arguments is not None and command.scope not in ("once", "call"):
        raise Refused("cannot_edit.once_only")
    need_contents(command.contents)
    need_options(ask.questions, command.options)
    if kind.needs_choice and command.verdict != "deny":
        need_choices(ask.questions, command.options)
    if ask.form is not None and command.verdict != "deny":
        need_form(ask.form, command.form)
    elif command.form is not None:
        raise Refused("bad_answer.no_form")
    said = command.text.strip() or any(command.options) or command.contents or command.form is not None
    if not kind.needs_choice and command.verdict == "answer" and not said:
        raise Refused("bad_answer.empty")
    is_chosen = any(command.options) or command.form is not None or any(one.custom for one in ask.questions)
    if not kind.in_words and command.verdict == "answer" and not is_chosen:
        raise Refused("bad_answer.words_only")


def need_contents(contents: list[Content]) -> None:
    if len(contents) > PARTS or any(len(one.text) > CHARS for one in contents):
        raise Refused("bad_content.parts", "too_large", limit=PARTS, chars=CHARS)
