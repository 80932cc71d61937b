"""Every tool of the hub, called by each of the five CLIs: all of them take what it answers."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import msgspec
import pytest

from greenroom.doors.mcp.catalog import TOOLS
from greenroom.node.processes import ProcessSpawner
from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.hub_process import HubProcess
from tests.clis.five import FIVE, make_desk
from tests.runtimes.native_rig import on_trial, said

pytestmark = [pytest.mark.anyio, pytest.mark.clis]
REFUSED_BY_CLI = ("MCP error", "invalid_type", "Input validation error")
HERE = {"thread_id": "{{thread_id}}"}
POSTING = {"expected_last_seq": "{{current_seq}}", "reply_token": "{{reply_token}}"}
MESSAGE = {"message_id": "{{msg_id}}"}
ASKED = {"project_directory": "/desk"}
Calls = tuple[tuple[str, dict[str, object]], ...]
IN_A_THREAD: Calls = (
    ("bus_connect", {"thread_name": "all tools"}),
    ("thread_list", {}),
    ("thread_get", HERE),
    ("thread_settings_get", HERE),
    ("thread_settings_update", {**HERE, "timeout_seconds": 60}),
    ("thread_wait_state_get", HERE),
    ("agent_set_typing", {**HERE, "is_typing": True}),
    ("msg_post", {**HERE, "content": "hello", **POSTING}),
    ("msg_list", HERE),
    ("msg_get", MESSAGE),
    ("msg_edit", {**MESSAGE, "new_content": "hello again"}),
    ("msg_edit_history", MESSAGE),
    ("msg_react", {**MESSAGE, "reaction": "eyes"}),
    ("msg_unreact", {**MESSAGE, "reaction": "eyes"}),
    ("msg_receipts", MESSAGE),
    ("msg_search", {"query": "hello"}),
    ("msg_wait", {**HERE, "timeout_ms": 50}),
    ("agent_invite", {**HERE, "agent_name": "nobody"}),
    ("thread_set_state", {**HERE, "state": "review"}),
    ("thread_close", HERE),
    ("close_meeting", HERE),
    ("thread_archive", HERE),
    ("thread_delete", {**HERE, "confirm": True}),
)
ELSEWHERE: Calls = (
    ("bus_get_config", {}),
    ("agent_list", {}),
    ("template_list", {}),
    ("profile_list", {}),
    ("workflow_list", {}),
    ("agent_register", {"ide": "CLI", "model": "fake"}),
    ("agent_heartbeat", {}),
    ("agent_resume", {}),
    ("agent_update", {"description": "at work"}),
    ("mail_send", {"agent_id": "nobody", "content": "hello"}),
    ("mail_wait", {"timeout_ms": 50}),
    ("template_get", {"template_id": "nothing"}),
    ("template_create", {"id": "own", "name": "Own"}),
    ("spawn_agent", {"profile": "nobody", "prompt": "hello"}),
    ("run_status", {"run_id": "nothing"}),
    ("run_cancel", {"run_id": "nothing"}),
    ("profile_put", {"name": "own", "definition": {"driver": "rehearsal"}}),
    ("profile_delete", {"name": "own"}),
    ("ask_question", {**ASKED, "question": "Which one?"}),
    ("work_report", {**ASKED, "summary": "Half of it."}),
    ("permission_request", {"tool_name": "Bash", "input": {"command": "true"}}),
    ("workflow_start", {"workflow": "nothing"}),
    ("workflow_status", {"run_id": "nothing"}),
    ("workflow_control", {"run_id": "nothing", "action": "pause"}),
    ("thread_create", {"topic": "another"}),
    ("task_finish", {**ASKED, "summary": "All of it."}),
    ("agent_unregister", {}),
)
"""Two turns: after thirty calls in one, Gemini CLI has the model judge whether it goes round in circles."""


@contextmanager
def somebody_answers(hub: HubProcess) -> Iterator[None]:
    """A person who answers whatever is asked."""
    over = threading.Event()

    def answer() -> None:
        with httpx.Client(base_url=hub.url, headers={"Authorization": f"Bearer {hub.token}"}) as api:
            while not over.wait(0.1):
                for ask in api.get("/api/asks").json()["asks"]:
                    verdict = "approve" if ask["kind"] == "permission" else "answer"
                    body = {"verdict": verdict, "text": "Go on.", "digest": ask.get("digest")}
                    api.post(f"/api/asks/{ask['id']}/answer", json=body)

    person = threading.Thread(target=answer)
    person.start()
    try:
        yield
    finally:
        over.set()
        person.join()


@pytest.mark.parametrize("name", FIVE)
async def test_a_cli_takes_what_every_tool_of_the_hub_answers(
    name: str, tmp_path: Path, hub: HubProcess, spawner: ProcessSpawner
) -> None:
    assert sorted(tool for tool, _ in IN_A_THREAD + ELSEWHERE) == sorted(tool.name for tool in TOOLS)
    with FakeModel() as model, somebody_answers(hub):
        desk = msgspec.structs.replace(make_desk(name, tmp_path / "home", hub, model), token=hub.token)
        async with on_trial(name, desk, spawner) as trial:
            await trial.open()
            heard = [said(await trial.run_turn(_script(calls))) for calls in (IN_A_THREAD, ELSEWHERE)]
        results = [str(entry["result"]) for entry in model.log if entry.get("result")]
    assert [text.endswith("done") for text in heard] == [True, True], heard
    assert len(results) == len(TOOLS)
    wrong = [text for text in results if any(sign in text for sign in REFUSED_BY_CLI)]
    assert wrong == []


def _script(calls: Calls) -> str:
    return "\n".join([*(f"USE_TOOL {tool} {json.dumps(arguments)}" for tool, arguments in calls), "SAY done"])
