"""Conversations that the real programs have kept: found, and gone on with by an agent of the hub."""

import json
import os
from pathlib import Path

import pytest

from greenroom.node.processes import ProcessSpawner
from greenroom.runtimes.local_conversations import find_local_conversations, get_local_conversation
from greenroom.testing.fake_llm import FakeModel
from tests.runtimes.native_rig import make_desk, on_trial, said

_ID = "8f38be21-be3f-473a-9cb7-aca85db3189b"


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["claude", "codex"])
async def test_a_conversation_is_found_with_its_place_and_its_first_words(
    name: str, tmp_path: Path, spawner: ProcessSpawner
) -> None:
    with FakeModel() as model:
        desk = make_desk(name, tmp_path / "home", model.url)
        desk.directory.mkdir(parents=True)
        (desk.directory / "AGENTS.md").write_text("Be brief.")
        async with on_trial(name, desk, spawner) as trial:
            opened = await trial.open()
            assert said(await trial.run_turn("SAY good evening")) == "good evening"
    (past,) = find_local_conversations({"HOME": str(tmp_path / "home"), **desk.env}, 10)
    assert (past.driver, past.session, past.words) == (name, opened.session, "SAY good evening")
    assert Path(past.directory) == trial.directory


def kept(home: Path, session: str, *lines: object, at: float = 1_800_000_000) -> None:
    """A file as Claude Code keeps it."""
    file = home / f".claude/projects/-work/{session}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines))
    os.utime(file, (at, at))


def user(content: object, **more: object) -> dict[str, object]:
    return {"type": "user", "cwd": "/work", "message": {"role": "user", "content": content}, **more}


def test_what_the_program_has_added_is_not_what_a_person_said(tmp_path: Path) -> None:
    kept(tmp_path, _ID, user("never mind", isMeta=True), user("<command-name>/clear"), user([{"text": "mend\nit"}]))
    assert [past.words for past in find_local_conversations({"HOME": str(tmp_path)}, 10)] == ["mend it"]


def test_the_newest_come_first_and_files_that_make_no_sense_are_left_out(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path)}
    assert find_local_conversations(env, 10) == []
    other = _ID.replace("8f38", "9f38")
    kept(tmp_path, _ID, "{not json", [1], user("older"), at=1_800_000_000)
    kept(tmp_path, other, user("newer"), at=1_800_000_100)
    kept(tmp_path, "not-an-id", user("what is this"))
    kept(tmp_path, _ID.replace("8f38", "7f38"), {"type": "user", "message": None}, "")
    assert [past.session for past in find_local_conversations(env, 10)] == [other, _ID]
    assert [past.session for past in find_local_conversations(env, 1)] == [other]
    assert get_local_conversation(env, _ID) is not None
    assert get_local_conversation(env, "gone") is None
