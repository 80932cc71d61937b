"""What an agent's processes are given, and that nothing is left of them."""

import os
import re
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from greenroom.link.tokens import PATTERN
from greenroom.node.sandbox import Sandbox, make_sandbox
from greenroom.runtimes.process_trees import build_family_mark
from greenroom.testing.hub_process import HubProcess
from greenroom.testing.machine_requirements import need_program
from tests.cli.shell import done
from tests.conftest import checked, end_node
from tests.stage import Stage


def marked(stage: Stage) -> list[int]:
    """Processes of the node's agents, by their mark."""
    mark = f"GREENROOM_TREE={build_family_mark(stage.hub.data / 'node')}.".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def node_pid(stage: Stage) -> int:
    return int((stage.hub.data / "node" / "lock").read_text())


def shell(stage: Stage, line: str, **fields: object) -> str:
    """Have an agent run a line of shell; what that writes."""
    stage.profile("open", approvals="never", **fields)
    run = stage.done(f"SHELL {line}", profile="open")
    assert run["status"] == "completed", run
    calls = stage.api.get(f"/api/runs/{run['id']}/calls").json()
    return str(calls[0].get("output", ""))


def test_an_agent_sees_only_what_is_passed_on_to_it(stage: Stage) -> None:
    env = shell(stage, "env", env={"GIVEN": "yes"})
    names = {line.partition("=")[0] for line in env.splitlines()}
    assert "GIVEN" in names
    assert not {name for name in names if name.startswith("GREENROOM_") and name != "GREENROOM_TREE"}
    assert "gr_agent_" not in env
    assert "gr_operator_" not in env


def test_a_secret_of_the_hub_and_the_node_reaches_no_agent(tmp_path: Path) -> None:
    canary = "canary-4f1c9d"
    hub = HubProcess(tmp_path / "data", env={"GREENROOM_LOCAL_NODE": "1", "AWS_SECRET_ACCESS_KEY": canary})
    try:
        for running in checked(hub):
            with Stage(running) as stage:
                stage.profile("open", approvals="never")
                run_id = stage.start("SHELL env; cat /proc/$PPID/environ; sleep 600", profile="open")
                stage.until(lambda: len(marked(stage)) > 1, "the agent to be at work")
                node = Path(f"/proc/{node_pid(stage)}/environ").read_bytes()
                assert canary.encode() in node
                for pid in marked(stage):
                    for name in ("environ", "cmdline"):
                        assert canary.encode() not in Path(f"/proc/{pid}/{name}").read_bytes()
                stage.api.post(f"/api/runs/{run_id}/cancel", json={})
                stage.until(lambda: not marked(stage), "the agent to be gone")
                assert canary not in str(stage.items(run_id))
    finally:
        end_node(hub.data)


def test_an_agent_has_no_files_of_the_node_open(stage: Stage) -> None:
    listed = shell(stage, "ls -l /proc/$PPID/fd | tail -n +2")
    targets = [line.rpartition("-> ")[2] for line in listed.splitlines() if "-> " in line]
    assert targets
    assert not [one for one in targets if "outbox" in one or "lock" in one or one.endswith(".db")]
    assert len(targets) <= 8, targets


def test_a_credential_is_in_a_private_file_and_never_in_arguments(stage: Stage) -> None:
    run_id = stage.start("SLEEP 600")
    stage.until(lambda: stage.run(run_id)["status"] == "running", "the agent to be at work")
    files = list((stage.hub.data / "node" / "scratch").glob("*/token"))
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600]
    assert not [pid for pid in marked(stage) if "gr_agent_" in " ".join(psutil.Process(pid).cmdline())]
    stage.api.post(f"/api/runs/{run_id}/cancel", json={})
    stage.until(lambda: not files[0].exists(), "the credential's file to be gone")


def agent_credentials(stage: Stage, agent_id: str) -> list[bool]:
    """Which of the agent's credentials are still good."""
    found = stage.api.get("/api/credentials").json()
    return [one.get("revoked_at") is None for one in found if one.get("agent_id") == agent_id]


def test_a_credential_ends_with_the_run_and_a_kept_agent_has_just_one(stage: Stage) -> None:
    run = stage.done("SAY x")
    assert not any(agent_credentials(stage, run["agent_id"]))
    for _ in range(3):
        kept = stage.done("SAY x", agent="bob") if _ else stage.done("SAY x", keep_as="bob")
    assert sum(agent_credentials(stage, kept["agent_id"])) == 1


def test_a_grandchild_in_a_session_of_its_own_ends_with_the_agent(stage: Stage) -> None:
    shell(stage, "setsid sh -c 'sleep 600 & sleep 600' > /dev/null 2>&1 & nohup sleep 600 > /dev/null 2>&1 & echo ok")
    stage.until(lambda: not marked(stage), "all processes to be gone")


def test_a_descendant_that_hides_its_mark_ends_with_the_agent(stage: Stage) -> None:
    pid_file = stage.hub.data.parent / "hidden.pid"
    shell(stage, f"(setsid env -i /bin/sh -c 'echo $$ > {pid_file}; exec sleep 600' > /dev/null 2>&1 &) ; sleep 0.3")
    pid = int(pid_file.read_text())
    stage.until(lambda: not psutil.pid_exists(pid), "the hidden process to be gone")


def test_after_a_kill_of_the_node_nothing_of_its_agents_is_left(stage: Stage) -> None:
    stage.profile("open", approvals="never")
    line = "setsid sleep 600 & sh -c 'sleep 600; true' & sleep 600"
    runs = [stage.start(f"SHELL {line}", profile="open") for _ in range(2)]

    def is_at_work(run_id: str) -> bool:
        """Whether the hub knows its session and its call: only then it can be resumed."""
        return {"opened", "call_started"} <= {item["kind"] for item in stage.items(run_id)}

    stage.until(lambda: all(map(is_at_work, runs)) and len(marked(stage)) >= 8, "all to be at work")
    before = marked(stage)
    os.kill(node_pid(stage), signal.SIGKILL)
    for run_id in runs:
        assert stage.end(run_id)["status"] == "interrupted"
    assert not [pid for pid in before if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]
    assert not [path for name in ("scratch", "work") for path in (stage.hub.data / "node").glob(f"{name}/*")]
    go = stage.hub.data.parent / "go"
    prompt = f"SHELL until [ -e '{go}' ]; do sleep 0.1; done\nRECALL"
    twice = [stage.api.post(f"/api/runs/{runs[0]}/resume", json={"prompt": prompt}) for _ in range(2)]
    go.touch()
    assert [answer.status_code for answer in twice] == [201, 409], [answer.text for answer in twice]
    assert stage.end(twice[0].json()["id"])["status"] == "completed"


def test_an_adopted_orphan_does_not_stay_as_a_zombie(stage: Stage) -> None:
    shell(stage, "for i in 1 2 3 4 5; do (setsid sleep 0.1 &); done; echo ok")
    node = psutil.Process(node_pid(stage))
    stage.until(
        lambda: not [one for one in node.children(recursive=True) if one.status() == "zombie"], "no zombie to be left"
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    for words in (
        ["init", "-q", "-b", "main"],
        ["config", "user.email", "a@example.org"],
        ["config", "user.name", "a"],
        ["commit", "-q", "--allow-empty", "-m", "first"],
    ):
        subprocess.run(["git", "-C", str(folder), *words], check=True, env=env)
    return folder


@pytest.mark.parametrize(
    ("line", "stays"),
    [("git rev-parse HEAD", False), ("touch new", True), ("git commit -q --allow-empty -m second", True)],
)
def test_a_worktree_goes_with_its_agent_unless_work_would_be_lost(
    stage: Stage, repository: Path, line: str, stays: bool
) -> None:
    shell(stage, line, directory=str(repository), worktree=True)
    scratch, trees = (stage.hub.data / "node" / name for name in ("scratch", "worktrees"))
    stage.until(lambda: not list(scratch.iterdir()), "the agent to be cleared away")
    if stays:
        assert len(list(trees.iterdir())) == 1
    else:
        stage.until(lambda: not list(trees.iterdir()), "the worktree to be removed")


def test_what_a_run_has_changed_in_its_worktree_is_kept_with_it(stage: Stage, repository: Path) -> None:
    stage.profile("open", approvals="never", directory=str(repository), worktree=True)
    line = "echo one > a.txt && git add a.txt && git commit -q -m a && echo two >> a.txt && echo three > b.txt"
    run = stage.done(f"SHELL {line}\nSAY done", profile="open")
    told = done(stage.hub.data, "runs", "diff", run["id"]).out
    assert "+one\n+two\n" in told and "+three\n" in told and "b/b.txt" in told
    nothing = stage.done("SAY done", profile="open")
    assert done(stage.hub.data, "runs", "diff", nothing["id"], "--json").json is None


def test_git_runs_no_program_that_an_agent_has_named_in_its_worktree(stage: Stage, repository: Path) -> None:
    stage.profile("open", approvals="never", directory=str(repository), worktree=True)
    mark = stage.hub.data.parent / "mark"
    planted = f"git init -q own && git -C own config filter.x.clean 'touch {mark}; cat'"
    line = f"{planted} && echo '* filter=x' > .gitattributes && echo x > c.txt && echo gitdir: $PWD/own/.git > .git"
    run = stage.done(f"SHELL {line}\nSAY done", profile="open")
    assert "+x\n" in done(stage.hub.data, "runs", "diff", run["id"]).out
    assert not mark.exists()


def test_a_program_in_the_agents_own_directory_is_never_taken(stage: Stage, tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    fake = folder / "agentprogram"
    fake.write_text("#!/bin/sh\ntouch hijacked\n")
    fake.chmod(0o755)
    for command in ("agentprogram", "./agentprogram"):
        fields = {"driver": "acp", "command": [command], "directory": str(folder), "env": {"PATH": f".:{folder}"}}
        assert stage.api.put("/api/profiles/hijack", json=fields).status_code == 200
        run = stage.done("SAY x", profile="hijack")
        assert run["status"] == "failed"
        assert "could not be started" in run["error"]
    assert not (folder / "hijacked").exists()


def test_a_sandbox_that_is_missing_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="install bubblewrap"):
        Sandbox([], [], path=str(tmp_path))
    with pytest.raises(ValueError, match="write one of none, bwrap"):
        make_sandbox("firejail", tmp_path, None, [])


@pytest.mark.anywhere
def test_in_the_sandbox_the_hubs_files_are_not_there_and_the_level_is_shown(stage: Stage, tmp_path: Path) -> None:
    need_program("bwrap")
    data, folder = stage.hub.data, tmp_path / "desk"
    folder.mkdir()
    # In a file, because the hub itself would refuse such a line.
    (folder / "probe.sh").write_text(
        f"ls -A {data} {data}/operator.token 2>&1; touch here && echo wrote; touch /etc/x 2>&1 || echo no\n"
    )
    seen = shell(stage, "sh probe.sh", sandbox="bwrap", directory=str(folder))
    assert "wrote" in seen
    assert "no" in seen.split()
    assert "greenroom.db" not in seen
    assert "No such file" in seen
    assert [run["isolation"] for run in stage.api.get("/api/runs").json()] == ["bwrap"]
    shell(stage, "true", sandbox="none")
    assert stage.api.get("/api/runs").json()[0]["isolation"] == "none"


@pytest.mark.anywhere
def test_in_the_sandbox_other_processes_are_not_seen_and_it_ends_as_a_whole(stage: Stage) -> None:
    need_program("bwrap")
    seen = shell(stage, "ls /proc | grep -c '^[0-9]'; setsid sleep 600 > /dev/null 2>&1 & echo ok", sandbox="bwrap")
    assert int(seen.split()[0]) < 20
    stage.until(lambda: not marked(stage), "all processes to be gone")


def test_a_credential_in_a_tool_s_answer_is_kept_nowhere(stage: Stage) -> None:
    ended = stage.done('TOOL bus_connect {"thread_name": "tea"}\nSAY joined')
    (call,) = stage.api.get(f"/api/runs/{ended['id']}/calls").json()
    assert "gr_agent_" in call["output"]
    assert PATTERN.search(call["output"]) is None
    for path in stage.hub.data.rglob("*.db*"):
        assert re.search(PATTERN.pattern.encode(), path.read_bytes()) is None, path
