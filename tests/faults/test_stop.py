"""Stopping: the hub ends in time, lets go of who waits, and loses nothing that it acknowledged."""

import asyncio
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from greenroom.testing.hub_process import HubProcess
from greenroom.testing.raw_http import KeepAliveConnection, open_socket
from greenroom.testing.rest_agents import (
    GONE,
    RestListener,
    RestPoster,
    need_success,
    open_thread,
    read_all_messages,
    register_agent,
    wait_for_waiters,
)
from greenroom.testing.timeouts import LONG_MS, WAIT_S
from tests.conftest import assert_in_order, checked

pytestmark = pytest.mark.anyio
UPLOAD = (
    "POST /api/threads/{thread}/messages HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
    "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
)


async def test_sigterm_ends_a_busy_hub_in_time_and_releases_everybody(hub: HubProcess) -> None:
    thread_id = await open_thread(hub.url, hub.token)
    agents = [await register_agent(hub.url, hub.token, f"agent {number}") for number in range(20)]
    listeners = [RestListener(hub.url, token, thread_id) for _, token in agents]
    waiting = [asyncio.create_task(listener.wait(LONG_MS)) for listener in listeners]
    upload = open_socket(hub.url)
    upload.sendall(UPLOAD.format(thread=thread_id, port=hub.port, token=hub.token).encode() + b'{"content": "half')
    idle = [open_socket(hub.url) for _ in range(5)]
    events = KeepAliveConnection(hub.url, hub.token)
    streaming = asyncio.create_task(events.call("GET", "/events", headers={"Accept": "text/event-stream"}))
    async with connect(f"ws{hub.url[4:]}/sync", additional_headers={"Authorization": f"Bearer {hub.token}"}) as socket:
        poster = RestPoster(hub.url, agents[0][1], thread_id, "poster")
        await poster.post("before")
        await asyncio.gather(*waiting)
        waiting = [asyncio.create_task(listener.wait(LONG_MS)) for listener in listeners]
        await wait_for_waiters(hub.url, hub.token, lambda count: count >= 20)
        hub.send_signal(signal.SIGTERM)
        async with asyncio.timeout(WAIT_S):  # waiters are let go, and do not wait to their end
            released = await asyncio.gather(*waiting)
        assert released == [None] * 20
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
    assert await asyncio.to_thread(hub.wait) == 0
    for line in (upload, *idle):
        line.close()
    for client in (poster, *listeners):
        client.close()
    await asyncio.wait([streaming])
    streaming.exception()
    events.close()
    assert_in_order(hub)
    hub.restart()
    stored = await read_all_messages(hub.url, hub.token, thread_id)
    assert {m["content"]: (m["id"], m["seq"]) for m in stored} == poster.acknowledged


async def test_what_is_acknowledged_while_the_hub_stops_is_there_when_it_is_back(hub: HubProcess) -> None:
    thread_id = await open_thread(hub.url, hub.token)
    _, token = await register_agent(hub.url, hub.token, "agent")
    posters = [RestPoster(hub.url, token, thread_id, f"poster {number}") for number in range(16)]
    posting = True
    tasks = [asyncio.create_task(poster.run(lambda: posting)) for poster in posters]
    for _ in range(5):
        await asyncio.sleep(0.2)
        assert await asyncio.to_thread(hub.stop) == 0
        await asyncio.to_thread(hub.restart)
    posting = False
    await asyncio.gather(*tasks)
    stored = await read_all_messages(hub.url, hub.token, thread_id)
    assert len(stored) == len({m["content"] for m in stored})
    acknowledged = {content: place for poster in posters for content, place in poster.acknowledged.items()}
    assert {m["content"]: (m["id"], m["seq"]) for m in stored} == acknowledged


@pytest.fixture
def patient_hub(tmp_path: Path) -> Iterator[HubProcess]:
    """A hub that gives calls ten minutes to end when it stops."""
    patient = tmp_path / "python"
    program = (
        "import greenroom.doors.http.server as server; server._GRACE_S = 600;"
        " from greenroom.cli.main import main; raise SystemExit(main())"
    )
    patient.write_text(f"#!/bin/sh\nshift 2\nexec {shlex.quote(sys.executable)} -c '{program}' \"$@\"\n")
    patient.chmod(0o755)
    yield from checked(HubProcess(tmp_path / "data", python=str(patient)))


async def test_a_second_sigterm_ends_the_hub_at_once(patient_hub: HubProcess) -> None:
    hub = patient_hub
    thread_id = await open_thread(hub.url, hub.token)
    upload = open_socket(hub.url)
    upload.sendall(UPLOAD.format(thread=thread_id, port=hub.port, token=hub.token).encode() + b'{"content": "half')
    async with KeepAliveConnection(hub.url, hub.token) as line:
        need_success(await line.call("GET", "/api/threads"))
        hub.send_signal(signal.SIGTERM)
        with pytest.raises(GONE):
            async with asyncio.timeout(WAIT_S):
                while True:
                    await line.call("GET", "/api/threads")
                    await asyncio.sleep(0.02)
    assert hub.is_running(), "it still waits for the upload"
    hub.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(hub.wait) == 0
    upload.close()
    assert_in_order(hub)
