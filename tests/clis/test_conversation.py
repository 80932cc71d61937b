"""The real Claude Code and the real Codex talk with each other and with a person."""

from itertools import pairwise
from typing import Any

import httpx

from tests.clis.conftest import DONE, Stage

ROUNDS = 10
CLAUDE = """
USE_TOOL agent_register {"ide": "Claude Code", "model": "fake"}
USE_TOOL bus_connect {"thread_name": "rehearsal", "agent_id": "{{agent_id}}", "token": "{{token}}"}
REPEAT 10 msg_id
  USE_TOOL msg_wait {"thread_id": "{{thread_id}}", "after_seq": "{{current_seq}}", "timeout_ms": 2000, \
    "agent_id": "{{agent_id}}", "token": "{{token}}", "return_format": "json"}
  USE_TOOL msg_post {"thread_id": "{{thread_id}}", "expected_last_seq": "{{current_seq}}", \
    "reply_token": "{{reply_token}}", "author": "{{agent_id}}", "content": "Claude {{round}}, after {{current_seq}}"}
END
SAY done
"""
CODEX = """
USE_TOOL agent_register {"ide": "Codex", "model": "fake"}
USE_TOOL bus_connect {"thread_name": "rehearsal"}
REPEAT 10 msg_id
  USE_TOOL msg_wait {"thread_id": "{{thread_id}}", "timeout_ms": 2000}
  USE_TOOL msg_post {"thread_id": "{{thread_id}}", "expected_last_seq": "{{current_seq}}", \
    "reply_token": "{{reply_token}}", "content": "Codex {{round}}, after {{current_seq}}"}
END
SAY done
"""
"""Claude enrols with a credential for several agents and proves itself in every call; Codex has one of its own."""
DIALECTS = {"Claude": "anthropic", "Codex": "openai_responses"}
AUTHORS = {"Claude": "Claude Code (fake)", "Codex": "Codex (fake)"}


class Person:
    """Somebody who reads along over REST, and now and then says something."""

    def __init__(self, api: httpx.Client, topic: str) -> None:
        self._api = api
        self._path = "/api/threads/" + api.post("/api/threads", json={"topic": topic}).raise_for_status().json()["id"]

    def say(self, text: str) -> int:
        """Post, and return the message's seq."""
        body = {"author": "human", "content": text}
        return int(self._api.post(f"{self._path}/messages", json=body).raise_for_status().json()["seq"])

    def read(self) -> list[dict[str, Any]]:
        """All messages but the thread's system prompt."""
        found = self._api.get(f"{self._path}/messages").raise_for_status().json()
        return [message for message in found if message["seq"] > 0]

    def read_until(self, count: int, stage: Stage) -> None:
        """Wait until so many messages are there."""
        while len(messages := self.read()) < count:
            last = messages[-1]["seq"] if messages else 0
            patience_ms = min(2000, int(stage.left_s() * 1000))
            self._api.get(
                f"{self._path}/wait", params={"after_seq": last, "timeout_ms": patience_ms}
            ).raise_for_status()


def test_claude_and_codex_exchange_twenty_messages_while_a_person_posts_in_between(stage: Stage) -> None:
    person = Person(stage.api, "rehearsal")
    clis = [stage.start("claude", CLAUDE, stage.token(enrols=True)), stage.start("codex", CODEX, stage.token())]
    said = [person.say("Begin.")]
    for count in (8, 15):
        person.read_until(count, stage)
        said.append(person.say(f"I have read {count}."))
    for cli in clis:
        assert cli.wait() == 0
        assert cli.get_answer() == DONE

    messages = person.read()
    assert len(messages) == 2 * ROUNDS + len(said)
    for before, message in pairwise(messages):
        if message["seq"] not in said:
            assert message["content"].endswith(f"after {before['seq']}"), "it had not read everything"
    for name, author in AUTHORS.items():
        mine = [message for message in messages if message["author"] == author]
        assert [message["content"].partition(",")[0] for message in mine] == [f"{name} {n + 1}" for n in range(ROUNDS)]
        others = [message for message in messages if message not in mine and message["seq"] < mine[-1]["seq"]]
        given = str([entry.get("result") for entry in stage.model.log if entry["dialect"] == DIALECTS[name]])
        assert not [message for message in others if message["content"] not in given]
