"""The points of the check: each drives a real runtime through its driver, and says what is wrong with what it hears."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable

from greenroom.runtimes.contract import CallFinished, CallStarted, PermissionAsked, PermissionGone, Usage
from greenroom.runtimes.trial import FIRST, Lacking, Trial, Wrong, need_end, need_said
from greenroom.runtimes.witness import find_files_with

Point = Callable[[Trial], Awaitable[str]]
"""Returns a word on what was found; raises Lacking or Wrong."""


async def _finds(trial: Trial) -> str:
    found = await trial.driver.find(trial.make_opening(None).env)
    if found is None:
        raise Lacking("not found on PATH")
    return found.version


async def _opens(trial: Trial) -> str:
    opened = await trial.open()
    return f"session {opened.session}"


async def _answers(trial: Trial) -> str:
    heard = await trial.turn(trial.say(FIRST))
    need_end(heard, "done")
    need_said(heard, FIRST)
    return ""


async def _allowed(trial: Trial) -> str:
    await trial.ready()
    prompt, file = trial.touch("allowed", "did it")
    asked = []

    async def allow(permission: PermissionAsked) -> None:
        asked.append(permission)
        if file.exists():
            raise Wrong("it ran before it was allowed")
        await trial.session.decide(permission.permission, "allow")

    heard = await trial.turn(prompt, allow)
    need_end(heard, "done")
    need_said(heard, "did it")
    if not asked:
        raise Wrong("it did not ask")
    if "touch allowed" not in str(asked[0].input):
        raise Wrong(f"the exact command is not in what it asked: {asked[0].input}")
    started = {one.call for one in heard if isinstance(one, CallStarted)}
    finished = {one.call for one in heard if isinstance(one, CallFinished) and one.ok}
    if asked[0].call not in started & finished:
        raise Wrong("the call was not told from its start to its end")
    if not file.exists():
        raise Wrong("it did not run")
    return f"tool {asked[0].tool}"


async def _refused(trial: Trial) -> str:
    await trial.ready()
    prompt, file = trial.touch("refused", "went on")

    async def refuse(permission: PermissionAsked) -> None:
        await trial.session.decide(permission.permission, "deny", text=trial.say("went on"))

    heard = await trial.turn(prompt, refuse)
    if file.exists():
        raise Wrong("it ran")
    if not any(isinstance(one, PermissionAsked) for one in heard):
        raise Wrong("it did not ask")
    need_end(heard, "done")
    need_said(heard, "went on")
    return ""


async def _calls_hub(trial: Trial) -> str:
    await trial.ready()
    if trial.script.hub_tool is None:
        raise Lacking("it does not use the hub")
    heard = await trial.turn(trial.script.hub_tool.replace("TEXT", "called"))
    need_end(heard, "done")
    calls = {one.call: one.tool for one in heard if isinstance(one, CallStarted) and "greenroom" in one.tool}
    ended = [one for one in heard if isinstance(one, CallFinished) and one.call in calls]
    if not ended or not ended[0].ok:
        raise Wrong(f"no tool of the hub was called with success: {ended}")
    if any(isinstance(one, PermissionAsked) for one in heard):
        raise Lacking("it asks for permission to call the hub")
    return f"tool {calls[ended[0].call]}"


async def _keeps_secret(trial: Trial) -> str:
    await trial.ready()
    token_file = trial.make_opening(None).token_file
    token = token_file.read_text().strip() if token_file else ""
    if not token:
        raise Lacking("the opening has no credential")
    if shown := trial.witness.find_in_arguments(token):
        raise Wrong(f"it is in the arguments of {shown}")
    if holders := await asyncio.to_thread(find_files_with, trial.directory, token):
        raise Wrong(f"it is in the working directory: {holders}")
    return ""


async def _lets_nobody_in(trial: Trial) -> str:
    await trial.ready()
    if doors := await trial.witness.find_open_doors():
        raise Wrong(f"strangers are served on port {doors}")
    return ""


async def _cancelled(trial: Trial) -> str:
    await trial.ready()
    await trial.session.prompt(trial.script.slow)
    await trial.until_said()
    begin = time.monotonic()
    await trial.session.cancel()
    need_end(await trial.to_the_end(), "cancelled")
    took_s = time.monotonic() - begin
    heard = await trial.turn(trial.say("still here"))
    need_end(heard, "done")
    need_said(heard, "still here")
    return f"{took_s:.2f} s"


async def _cancelled_asking(trial: Trial) -> str:
    await trial.ready()
    prompt, file = trial.touch("withdrawn", "not said")

    async def cancel(permission: PermissionAsked) -> None:
        await trial.session.cancel()

    heard = await trial.turn(prompt, cancel)
    need_end(heard, "cancelled")
    if not any(isinstance(one, PermissionGone) for one in heard):
        raise Wrong("it was not told that the permission is not wanted any more")
    if file.exists():
        raise Wrong("it ran")
    need_end(await trial.turn(trial.say("still here")), "done")
    return ""


async def _steered(trial: Trial) -> str:
    await trial.ready()
    prompt, _ = trial.touch("steered", "first")
    taken = False

    async def steer(permission: PermissionAsked) -> None:
        nonlocal taken
        taken = await trial.session.steer(trial.say("second"))
        await trial.session.decide(permission.permission, "allow")

    heard = await trial.turn(prompt, steer)
    need_end(heard, "done")
    if not taken:
        raise Lacking("what is said meanwhile waits for the next turn")
    if not trial.script.sees_steering:
        return "the runtime has taken it"
    need_said(heard, "second")
    return ""


async def _usage(trial: Trial) -> str:
    await trial.ready()
    heard = await trial.turn(trial.say("counted"))
    told = [one for one in heard if isinstance(one, Usage)]
    if not told:
        raise Lacking("it does not tell")
    used, expected = told[-1], trial.script.tokens
    if expected is not None:
        for count, least in zip((used.input_tokens, used.output_tokens), expected, strict=True):
            if not least <= count <= 2 * least:  # a call on the side, for a title, is allowed
                raise Wrong(f"it tells {count} where the model has counted {least}")
    money = "no money" if used.cost_usd is None else f"{used.cost_usd:g} USD"
    return f"{used.input_tokens} in, {used.output_tokens} out, {money}"


async def _remembers(trial: Trial) -> str:
    await trial.ready()
    if trial.script.recall is None:
        raise Lacking("every prompt stands alone")
    heard = await trial.turn(trial.script.recall)
    need_end(heard, "done")
    need_said(heard, FIRST)
    return ""


async def _resumed(trial: Trial) -> str:
    if not trial.last_id:
        raise Lacking("its sessions have no id to go on with")
    try:
        opened = await trial.open(resume=trial.last_id)
    except ValueError as error:
        raise Lacking(str(error)) from None
    await _remembers(trial)
    return f"session {opened.session}"


async def _closed(trial: Trial) -> str:
    await trial.ready()
    trial.witness.look()
    await trial.session.close()
    return await _over(trial)


async def _killed(trial: Trial) -> str:
    await trial.ready()
    await trial.session.prompt(trial.script.slow)
    await trial.until_said()
    trial.witness.look()
    os.kill(trial.witness.last_pid, signal.SIGKILL)
    return await _over(trial)


async def _over(trial: Trial) -> str:
    died = await trial.until_died()
    await trial.close()
    if left := trial.witness.find_left():
        raise Wrong(f"processes are left: {left}")
    return f"code {died.code}"


POINTS: dict[str, Point] = {
    "finds its runtime": _finds,
    "opens a session": _opens,
    "answers a prompt": _answers,
    "runs what is allowed": _allowed,
    "does not run what is refused, and goes on": _refused,
    "calls the hub's tools unasked": _calls_hub,
    "keeps its credential to itself": _keeps_secret,
    "lets nobody else in": _lets_nobody_in,
    "stops when it is cancelled, and takes the next prompt": _cancelled,
    "stops while it waits for permission": _cancelled_asking,
    "hears what is said while it works": _steered,
    "tells what the turn has used": _usage,
    "remembers the session": _remembers,
    "leaves no process when it is closed": _closed,
    "takes the session up in a new process": _resumed,
    "tells that its process was killed": _killed,
}
"""In this order: all go on with one session, until it is closed."""
BEFORE_A_SESSION = (_finds, _opens)
