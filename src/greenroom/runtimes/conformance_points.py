"""The points of the check: each drives a real runtime through its driver and reports what is wrong."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable

from greenroom.runtimes.conformance_trial import (
    FIRST,
    ContractViolation,
    DriverTrial,
    NotSupported,
    need_said,
    need_turn_end,
)
from greenroom.runtimes.contract import CallFinished, CallStarted, PermissionAsked, PermissionWithdrawn, Usage
from greenroom.runtimes.spawn_tracker import find_files_with

Point = Callable[[DriverTrial], Awaitable[str]]
"""Returns a word about the result; raises Lacking or Wrong."""


async def _check_find(trial: DriverTrial) -> str:
    found = await trial.driver.find(trial.make_opening(None).env)
    if found is None:
        raise NotSupported("not found on PATH")
    return found.version


async def _check_open(trial: DriverTrial) -> str:
    opened = await trial.open()
    return f"session {opened.session}"


async def _check_answer(trial: DriverTrial) -> str:
    heard = await trial.run_turn(trial.build_say_prompt(FIRST))
    need_turn_end(heard, "done")
    need_said(heard, FIRST)
    return ""


async def _check_allow(trial: DriverTrial) -> str:
    await trial.ensure_open()
    prompt, file = trial.build_touch_prompt("allowed", "did it")
    asked = []

    async def allow(permission: PermissionAsked) -> None:
        asked.append(permission)
        if file.exists():
            raise ContractViolation("it ran before it was allowed")
        await trial.session.decide(permission.permission, "allow")

    heard = await trial.run_turn(prompt, allow)
    need_turn_end(heard, "done")
    need_said(heard, "did it")
    if not asked:
        raise ContractViolation("it did not ask")
    if "touch allowed" not in str(asked[0].input):
        raise ContractViolation(f"the exact command is not in what it asked: {asked[0].input}")
    started = {one.call for one in heard if isinstance(one, CallStarted)}
    finished = {one.call for one in heard if isinstance(one, CallFinished) and one.ok}
    if asked[0].call not in started & finished:
        raise ContractViolation("the call was not told from its start to its end")
    if not file.exists():
        raise ContractViolation("it did not run")
    return f"tool {asked[0].tool}"


async def _check_refuse(trial: DriverTrial) -> str:
    await trial.ensure_open()
    prompt, file = trial.build_touch_prompt("refused", "went on")

    async def refuse(permission: PermissionAsked) -> None:
        await trial.session.decide(permission.permission, "deny", text=trial.build_say_prompt("went on"))

    heard = await trial.run_turn(prompt, refuse)
    if file.exists():
        raise ContractViolation("it ran")
    if not any(isinstance(one, PermissionAsked) for one in heard):
        raise ContractViolation("it did not ask")
    need_turn_end(heard, "done")
    need_said(heard, "went on")
    return ""


async def _check_hub_call(trial: DriverTrial) -> str:
    await trial.ensure_open()
    if trial.script.hub_tool is None:
        raise NotSupported("it does not use the hub")
    heard = await trial.run_turn(trial.script.hub_tool.replace("TEXT", "called"))
    need_turn_end(heard, "done")
    calls = {one.call: one.tool for one in heard if isinstance(one, CallStarted) and "greenroom" in one.tool}
    ended = [one for one in heard if isinstance(one, CallFinished) and one.call in calls]
    if not ended or not ended[0].ok:
        raise ContractViolation(f"no tool of the hub was called with success: {ended}")
    if any(isinstance(one, PermissionAsked) for one in heard):
        raise NotSupported("it asks for permission to call the hub")
    return f"tool {calls[ended[0].call]}"


async def _check_secret(trial: DriverTrial) -> str:
    await trial.ensure_open()
    token_file = trial.make_opening(None).token_file
    token = token_file.read_text().strip() if token_file else ""
    if not token:
        raise NotSupported("the opening has no credential")
    if shown := trial.witness.find_in_arguments(token):
        raise ContractViolation(f"it is in the arguments of {shown}")
    if holders := await asyncio.to_thread(find_files_with, trial.directory, token):
        raise ContractViolation(f"it is in the working directory: {holders}")
    return ""


async def _check_open_ports(trial: DriverTrial) -> str:
    await trial.ensure_open()
    if doors := await trial.witness.find_open_ports():
        raise ContractViolation(f"strangers are served on port {doors}")
    return ""


async def _check_cancel(trial: DriverTrial) -> str:
    await trial.ensure_open()
    await trial.session.prompt(trial.script.slow)
    await trial.wait_until_said()
    begin = time.monotonic()
    await trial.session.cancel()
    need_turn_end(await trial.finish_turn(), "cancelled")
    took_s = time.monotonic() - begin
    heard = await trial.run_turn(trial.build_say_prompt("still here"))
    need_turn_end(heard, "done")
    need_said(heard, "still here")
    return f"{took_s:.2f} s"


async def _check_cancel_while_asking(trial: DriverTrial) -> str:
    await trial.ensure_open()
    prompt, file = trial.build_touch_prompt("withdrawn", "not said")

    async def cancel(permission: PermissionAsked) -> None:
        await trial.session.cancel()

    heard = await trial.run_turn(prompt, cancel)
    need_turn_end(heard, "cancelled")
    if not any(isinstance(one, PermissionWithdrawn) for one in heard):
        raise ContractViolation("it was not told that the permission is not wanted any more")
    if file.exists():
        raise ContractViolation("it ran")
    need_turn_end(await trial.run_turn(trial.build_say_prompt("still here")), "done")
    return ""


async def _check_steer(trial: DriverTrial) -> str:
    await trial.ensure_open()
    prompt, _ = trial.build_touch_prompt("steered", "first")
    taken = False

    async def steer(permission: PermissionAsked) -> None:
        nonlocal taken
        taken = await trial.session.steer(trial.build_say_prompt("second"))
        await trial.session.decide(permission.permission, "allow")

    heard = await trial.run_turn(prompt, steer)
    need_turn_end(heard, "done")
    if not taken:
        raise NotSupported("what is said meanwhile waits for the next turn")
    if not trial.script.sees_steering:
        return "the runtime has taken it"
    need_said(heard, "second")
    return ""


async def _check_usage(trial: DriverTrial) -> str:
    await trial.ensure_open()
    heard = await trial.run_turn(trial.build_say_prompt("counted"))
    told = [one for one in heard if isinstance(one, Usage)]
    if not told:
        raise NotSupported("it does not tell")
    used, expected = told[-1], trial.script.tokens
    if expected is not None:
        for count, least in zip((used.input_tokens, used.output_tokens), expected, strict=True):
            if not least <= count <= 2 * least:  # a call on the side, for a title, is allowed
                raise ContractViolation(f"it tells {count} where the model has counted {least}")
    money = "no money" if used.cost_usd is None else f"{used.cost_usd:g} USD"
    return f"{used.input_tokens} in, {used.output_tokens} out, {money}"


async def _check_memory(trial: DriverTrial) -> str:
    await trial.ensure_open()
    if trial.script.recall is None:
        raise NotSupported("every prompt stands alone")
    heard = await trial.run_turn(trial.script.recall)
    need_turn_end(heard, "done")
    need_said(heard, FIRST)
    return ""


async def _check_resume(trial: DriverTrial) -> str:
    if not trial.last_id:
        raise NotSupported("its sessions have no id to go on with")
    try:
        opened = await trial.open(resume=trial.last_id)
    except ValueError as error:
        raise NotSupported(str(error)) from None
    await _check_memory(trial)
    return f"session {opened.session}"


async def _check_close(trial: DriverTrial) -> str:
    await trial.ensure_open()
    trial.witness.record_processes()
    await trial.session.close()
    return await _need_clean_end(trial)


async def _check_kill(trial: DriverTrial) -> str:
    await trial.ensure_open()
    await trial.session.prompt(trial.script.slow)
    await trial.wait_until_said()
    trial.witness.record_processes()
    os.kill(trial.witness.last_pid, signal.SIGKILL)
    return await _need_clean_end(trial)


async def _need_clean_end(trial: DriverTrial) -> str:
    died = await trial.wait_until_died()
    await trial.close()
    if left := trial.witness.find_left():
        raise ContractViolation(f"processes are left: {left}")
    return f"code {died.code}"


POINTS: dict[str, Point] = {
    "finds its runtime": _check_find,
    "opens a session": _check_open,
    "answers a prompt": _check_answer,
    "runs what is allowed": _check_allow,
    "does not run what is refused, and goes on": _check_refuse,
    "calls the hub's tools unasked": _check_hub_call,
    "keeps its credential to itself": _check_secret,
    "lets nobody else in": _check_open_ports,
    "stops when it is cancelled, and takes the next prompt": _check_cancel,
    "stops while it waits for permission": _check_cancel_while_asking,
    "hears what is said while it works": _check_steer,
    "tells what the turn has used": _check_usage,
    "remembers the session": _check_memory,
    "leaves no process when it is closed": _check_close,
    "takes the session up in a new process": _check_resume,
    "tells that its process was killed": _check_kill,
}
"""In this order: all use one session, until it is closed."""
BEFORE_A_SESSION = (_check_find, _check_open)
