"""The fake model plays its script alike in every dialect."""

import json
from collections.abc import Iterator

import httpx
import pytest

from greenroom.testing.fake_llm import FakeModel
from greenroom.testing.fake_llm.answer import Answer, Say, UseTool
from greenroom.testing.fake_llm.request import Blocks, Json, ModelRequest
from greenroom.testing.fake_llm.script import answer_request
from tests.clis.dialects import CLIENTS, Client

TOOLS = ["join", "wait", "post"]
CONVERSATION = """Please do this:
USE_TOOL join {"room": "stage"}
REPEAT 2 msg_id
  USE_TOOL wait {"after": "{{current_seq}}"}
  USE_TOOL post {"text": "round {{round}} after {{author}}", "token": "{{reply_token}}", "deep": [{"seq": "{{seq}}"}]}
END
SAY the last one was {{msg_id}}"""


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    with FakeModel() as model, httpx.Client(base_url=model.url) as client:
        yield client


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS.keys())
def test_a_conversation_is_played_alike_in_every_dialect(http: httpx.Client, client: Client, streamed: bool) -> None:
    context = {"type": "sync_context", "current_seq": 7, "reply_token": "t1"}
    results = [
        [json.dumps({"current_seq": 0, "reply_token": "t0"})],
        [json.dumps(context), "[7] Ann (Person) (user) 2026-01-01T00:00:00+00:00", "hello"],
        [json.dumps({"error": "SeqMismatch", "new_messages": [{"msg_id": "m8", "seq": 8, "author": "Bob"}]})],
        [json.dumps({"messages": [], "current_seq": 8, "reply_token": "t2"})],
        [json.dumps({"msg_id": "m9", "seq": 9})],
        [json.dumps({"messages": [{"seq": 10, "author": "Cy"}, {"seq": 11, "author": "Di"}], "reply_token": "t3"})],
        [json.dumps({"msg_id": "m12", "seq": 12})],
    ]
    asked = [client.ask(http, CONVERSATION, results[:n], TOOLS, streamed) for n in range(len(results) + 1)]
    names = [name.removeprefix("mcp").strip("_").removeprefix("hub").strip("_:") for name, _ in asked]
    assert names == ["join", "wait", "post", "wait", "post", "wait", "post", "say"]
    assert [value for _, value in asked] == [
        {"room": "stage"},
        {"after": 0},
        {"text": "round 1 after Ann (Person)", "token": "t1", "deep": [{"seq": 7}]},
        {"after": 7},
        {"text": "round 1 after Bob", "token": "t2", "deep": [{"seq": 8}]},
        {"after": 8},
        {"text": "round 2 after Di", "token": "t3", "deep": [{"seq": 11}]},
        "the last one was m12",
    ]


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS.keys())
def test_a_side_request_without_tools_is_never_answered_by_a_call(http: httpx.Client, client: Client) -> None:
    for prompt in ("USE_TOOL post {}", "FORCE_TOOL post {}"):
        assert client.ask(http, prompt, [], [], True)[0] == "say"


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS.keys())
def test_texts_and_errors_reach_the_client_as_the_script_says(http: httpx.Client, client: Client) -> None:
    assert client.ask(http, "SYSTEM be.*", [], TOOLS, False) == ("say", "FAKE system: be brief")
    assert client.ask(http, "SLOW 3 0.001", [], TOOLS, True) == ("say", "w0 w1 w2")
    assert client.ask(http, "hello there", [], TOOLS, True) == ("say", "FAKE: hello there")
    with pytest.raises(httpx.HTTPStatusError, match="529"):
        client.ask(http, "ERROR 529", [], TOOLS, True)


def test_the_same_request_always_gets_the_same_bytes(http: httpx.Client) -> None:
    client = CLIENTS["anthropic"]
    body = {**client.body("USE_TOOL post {}", [], TOOLS), "stream": True}
    first, second = (http.post(client.path, json=body).content for _ in range(2))
    assert first == second


def play(script: str, results: list[Blocks] | None = None, tools: dict[str, Json] | None = None) -> Answer:
    offered: dict[str, Json] = {name: {} for name in TOOLS} if tools is None else tools
    return answer_request(ModelRequest([script], results or [], offered, ""))


@pytest.mark.parametrize(
    "cut",
    [
        '{"messages": [{"content": "lo…900 tokens truncated…t": "ng"}], "current_seq": 3, "reply_token": "t9"',
        'Preview (first 2KB):\n[{"text": "{\\"current_seq\\": 3, \\"reply_token\\":\\"t9\\",\\"messages\\": [{\n...',
    ],
    ids=["the middle is cut out", "only the beginning is left, and quoted"],
)
def test_a_value_survives_what_a_client_makes_of_a_long_result(cut: str) -> None:
    script = 'USE_TOOL join {}\nUSE_TOOL post {"t": "{{reply_token}}", "s": "{{current_seq}}"}'
    assert play(script, [[cut]]) == UseTool("post", {"t": "t9", "s": 3})


def test_null_is_no_value_and_an_older_result_speaks() -> None:
    results = [['{"reply_token": "old"}'], ['{"reply_token": null}']]
    script = 'USE_TOOL join {}\nUSE_TOOL join {}\nUSE_TOOL post {"t": "{{reply_token}}"}'
    assert play(script, results) == UseTool("post", {"t": "old"})


def test_loops_nest_and_count_their_own_rounds() -> None:
    script = """REPEAT 2
        USE_TOOL join {"n": "{{round}}"}
        REPEAT 2
          USE_TOOL post {"n": "{{round}}"}
        END
      END"""
    steps = [play(script, [["{}"]] * n) for n in range(6)]
    expected = [("join", 1), ("post", 1), ("post", 2), ("join", 2), ("post", 1), ("post", 2)]
    assert steps == [UseTool(name, {"n": number}) for name, number in expected]


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("REPEAT 3\nUSE_TOOL post {}", "REPEAT without END"),
        ("SAY hi\nEND", "END without REPEAT"),
        ("REPEAT often\nEND", "REPEAT needs a number, not 'often'"),
        ("USE_TOOL post {not json}", "Expecting property name"),
        ("USE_TOOL tost {}", "no such tool among ['join', 'post', 'wait']"),
        ('USE_TOOL post {"t": "{{nothing}}"}', "none of 0 tool results has 'nothing'"),
        ("SLOW many", "invalid literal"),
    ],
)
def test_a_wrong_script_is_answered_with_what_is_wrong(script: str, complaint: str) -> None:
    said = play(script)
    assert isinstance(said, Say)
    assert complaint in said.text


def test_a_command_that_codex_did_not_wait_for_is_waited_for_before_the_script_goes_on(http: httpx.Client) -> None:
    client, script = CLIENTS["responses"], "USE_TOOL join {}\nSAY done"
    running = ["Wall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\n"]
    offered = [*TOOLS, "write_stdin"]
    assert play(script, [running], {name: {} for name in offered}) == UseTool(
        "write_stdin", {"session_id": 7, "chars": ""}
    )
    assert client.ask(http, script, [running, running, ["Process exited with code 0"]], TOOLS, True) == ("say", "done")


def test_shell_and_file_tools_are_found_by_what_they_take() -> None:
    claude: dict[str, Json] = {"Bash": {"properties": {"command": {"type": "string"}, "description": {}}}}
    codex: dict[str, Json] = {"exec_command": {"properties": {"cmd": {}}}, "apply_patch": {"x-freeform": True}}
    assert play("USE_TOOL bash ls", tools=claude) == UseTool("Bash", {"command": "ls", "description": "run ls"})
    assert play("USE_TOOL bash ls", tools=codex) == UseTool("exec_command", {"cmd": "ls"})
    assert play("USE_TOOL write a.txt hi there", tools=codex) == UseTool(
        "apply_patch", "*** Begin Patch\n*** Add File: a.txt\n+hi there\n*** End Patch\n"
    )
    opencode: dict[str, Json] = {"write": {"properties": {"filePath": {}, "content": {}}}}
    assert play("USE_TOOL write a.txt hi", tools=opencode) == UseTool("write", {"filePath": "a.txt", "content": "hi"})
