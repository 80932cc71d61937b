"""Runs of workflows over REST, as tests of the engine use them."""

from typing import Any

from greenroom.testing.timeouts import WAIT_S
from tests.stage import Stage

ENDED = ("completed", "failed", "cancelled")
Json = dict[str, Any]


class Play:
    """Starts workflows on a stage, and looks at their runs."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.api = stage.api

    def start(
        self, *steps: Json, name: str = "test", takes: Json | None = None, inputs: Json | None = None, **more: Any
    ) -> str:
        """Carry out a workflow of these steps; steps without a kind of their own are the rehearsal agent's."""
        kinds = ("profile", "agent_runtime", "set", "wait", "workflow", "reuse_agent")
        whole = [
            step if any(kind in step for kind in kinds) or "prompt" not in step else {"profile": "rehearsal", **step}
            for step in steps
        ]
        definition = {"name": name, "inputs": takes or {}, "steps": whole, **more}
        body = {"definition": definition, "inputs": inputs or {}}
        answer = self.api.post("/api/workflow-runs", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def run(self, run_id: str) -> Json:
        found: Json = self.api.get(f"/api/workflow-runs/{run_id}").json()["run"]
        return found

    def steps(self, run_id: str) -> dict[str, Json]:
        report = self.api.get(f"/api/workflow-runs/{run_id}/report").json()
        return {step["id"]: step for step in report["steps"]}

    def end(self, run_id: str, within_s: float = WAIT_S) -> Json:
        """The run, once it is over."""
        ended: Json = self.api.get(f"/api/workflow-runs/{run_id}/wait", params={"for_s": within_s}).json()
        assert ended["status"] in ENDED, (ended, self.steps(run_id))
        return ended

    def done(self, *steps: Json, **more: Any) -> tuple[Json, dict[str, Json]]:
        """Carry a workflow out to its end: the run and its steps."""
        run_id = self.start(*steps, **more)
        return self.end(run_id), self.steps(run_id)

    def control(self, run_id: str, verb: str, **body: Any) -> Any:
        return self.api.post(f"/api/workflow-runs/{run_id}/{verb}", json=body)

    def until(self, run_id: str, step: str, status: str) -> Json:
        """A step, once it stands so."""

        def there() -> Json | None:
            found = self.steps(run_id)[step]
            return found if found["status"] == status else None

        found: Json = self.stage.until(there, f"{step} to be {status}")
        return found

    def ask_of(self, run_id: str, step: str) -> str:
        """The ask that a step waits for, once it is raised."""

        def there() -> str | None:
            found = self.steps(run_id)[step]
            ask_id = str(found["waits_key"])
            known = found["waits_kind"] == "ask" and self.api.get(f"/api/asks/{ask_id}").status_code == 200
            return ask_id if known else None

        return str(self.stage.until(there, f"{step} to ask"))
