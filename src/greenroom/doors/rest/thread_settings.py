"""A thread's settings and its admin, over REST."""

from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from greenroom.clock import format_iso
from greenroom.doors.http.routes import Endpoint
from greenroom.doors.rest import shapes
from greenroom.doors.rest.wire import build_json_response, read_body
from greenroom.ids import new_id
from greenroom.log.copied_fields import copy_fields
from greenroom.rules.access.model import Principal
from greenroom.rules.threads.commands import DecideAdmin, UpdateThreadSettings
from greenroom.rules.threads.events import AdminDecided
from greenroom.rules.threads.model import DECISIONS, Thread
from greenroom.rules.threads.queries import need_thread
from greenroom.services.hub import Hub


class RestThreadSettings(msgspec.Struct):
    """A thread's settings, and who administers it: its creator, or who was chosen later."""

    thread_id: str
    auto_administrator_enabled: bool
    auto_coordinator_enabled: bool
    timeout_seconds: int
    switch_timeout_seconds: int
    last_activity_time: str
    auto_assigned_admin_id: str | None
    auto_assigned_admin_name: str | None
    auto_assigned_admin_emoji: str | None
    admin_assignment_time: str | None
    creator_admin_id: str | None
    creator_admin_name: str | None
    creator_admin_emoji: str | None
    creator_assignment_time: str | None
    created_at: str
    updated_at: str


class SettingsChange(msgspec.Struct, frozen=True):
    """The settings to change. auto_coordinator_enabled is the older name of auto_administrator_enabled."""

    auto_administrator_enabled: bool | None = None
    auto_coordinator_enabled: bool | None = None
    timeout_seconds: int | None = None
    switch_timeout_seconds: int | None = None


class Admin(msgspec.Struct):
    """Who administers a thread; all null when nobody does."""

    admin_id: str | None = None
    admin_name: str | None = None
    admin_emoji: str | None = None
    admin_type: str | None = None
    assigned_at: str | None = None


class NewDecision(msgspec.Struct, frozen=True):
    action: Literal["switch", "keep", "takeover", "cancel"]
    candidate_admin_id: str | None = None
    source_message_id: str | None = None


class DecisionTaken(msgspec.Struct, omit_defaults=True):
    """What was decided; a question that had its answer already keeps that one."""

    ok: bool
    action: str
    thread_id: str
    already_decided: bool
    notified_admin_id: str | None = None
    notified_admin_name: str | None = None
    new_admin_id: str | None = None
    new_admin_name: str | None = None
    kept_admin_id: str | None = None
    kept_admin_name: str | None = None
    source_message_id: str | None = None
    decided_at: str | None = None


_NAMED = {"takeover": "notified", "switch": "new", "keep": "kept"}


async def show_settings(hub: Hub, by: Principal, request: Request) -> Response:
    return build_json_response(_build_settings(hub, need_thread(hub.rows, by, request.path_params["thread_id"])))


def _build_settings(hub: Hub, thread: Thread) -> RestThreadSettings:
    nobody = Admin()
    admin = _build_admin(hub, thread)
    creator, chosen = (admin, nobody) if thread.admin_kind == "creator" else (nobody, admin)
    last_at, enabled = format_iso(thread.last_at), thread.settings.auto_administrator_enabled
    return RestThreadSettings(
        thread_id=thread.id,
        auto_administrator_enabled=enabled,
        auto_coordinator_enabled=enabled,
        timeout_seconds=thread.settings.timeout_seconds,
        switch_timeout_seconds=thread.settings.switch_timeout_seconds,
        last_activity_time=last_at,
        auto_assigned_admin_id=chosen.admin_id,
        auto_assigned_admin_name=chosen.admin_name,
        auto_assigned_admin_emoji=chosen.admin_emoji,
        admin_assignment_time=chosen.assigned_at,
        creator_admin_id=creator.admin_id,
        creator_admin_name=creator.admin_name,
        creator_admin_emoji=creator.admin_emoji,
        creator_assignment_time=creator.assigned_at,
        created_at=format_iso(thread.created_at),
        updated_at=last_at,
    )


def _build_admin(hub: Hub, thread: Thread) -> Admin:
    if thread.admin_id is None:
        return Admin()
    faces = shapes.AgentNameCache(hub.rows)
    name, emoji = faces.get_name(thread.admin_id), faces.get_emoji(thread.admin_id)
    return Admin(thread.admin_id, name, emoji, thread.admin_kind, format_iso(thread.admin_since))


async def change_settings(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, SettingsChange)
    enabled = body.auto_administrator_enabled
    await hub.log.do(
        copy_fields(
            body,
            UpdateThreadSettings,
            by=by,
            thread_id=request.path_params["thread_id"],
            auto_administrator_enabled=body.auto_coordinator_enabled if enabled is None else enabled,
        )
    )
    return await show_settings(hub, by, request)


async def show_admin(hub: Hub, by: Principal, request: Request) -> Response:
    return build_json_response(_build_admin(hub, need_thread(hub.rows, by, request.path_params["thread_id"])))


async def decide_admin(hub: Hub, by: Principal, request: Request) -> Response:
    body = await read_body(request, NewDecision)
    thread = need_thread(hub.rows, by, request.path_params["thread_id"])
    candidate, source = body.candidate_admin_id, body.source_message_id
    if candidate is None and source is None and body.action == "takeover":
        candidate = thread.admin_id  # a person calls on the admin there is
    command = DecideAdmin(
        by=by,
        thread_id=thread.id,
        action=body.action,
        result_id=new_id("msg"),
        candidate_admin_id=candidate,
        source_message_id=source,
    )
    done = await hub.log.do(command)
    if not done.records:
        decision = source and hub.rows.get(DECISIONS, source)
        assert decision and decision.decided_at is not None  # noqa: S101 nothing new means answered before
        said = DecisionTaken(True, decision.action or "", thread.id, True, source_message_id=source)
        said.decided_at = format_iso(decision.decided_at)
        return build_json_response(said)
    decided: AdminDecided = done.first(AdminDecided)
    said = DecisionTaken(True, decided.action, thread.id, False)
    who = decided.admin_id or thread.admin_id
    if who is not None and decided.action in _NAMED:
        role = _NAMED[decided.action]
        setattr(said, f"{role}_admin_id", who)
        setattr(said, f"{role}_admin_name", shapes.AgentNameCache(hub.rows).get_name(who))
    return build_json_response(said)


_ONE = "/api/threads/{thread_id}"
ENDPOINTS = [
    Endpoint("GET", f"{_ONE}/settings", "read", show_settings, "A thread's settings", answer=RestThreadSettings),
    Endpoint(
        "POST",
        f"{_ONE}/settings",
        "chat",
        change_settings,
        "Change a thread's settings",
        body=SettingsChange,
        answer=RestThreadSettings,
    ),
    Endpoint("GET", f"{_ONE}/admin", "read", show_admin, "Who administers a thread", answer=Admin),
    Endpoint(
        "POST",
        f"{_ONE}/admin/decision",
        "operate",
        decide_admin,
        "Answer a question about a thread's administration, once",
        body=NewDecision,
        answer=DecisionTaken,
    ),
]
