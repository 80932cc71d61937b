"""The queue of attempts that hubs on one database share. DBOS keeps it and gives each attempt to one hub.

One DBOS workflow is one attempt. It holds nothing of the graph: its state is in the rows, so it can run again from its
beginning wherever it stopped. DBOS has threads and a loop of its own. It is called only from threads here, because its
calls on a loop would replace the hub's executor by their own.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import psycopg

from greenroom.errors import Unavailable
from greenroom.log.postgres_connection import connect
from greenroom.log.postgres_tx import WRITER_LOCK
from greenroom.rules.workflows.model import WorkflowStep
from greenroom.services.workflow_engine.loop_thread import LoopThread

if TYPE_CHECKING:
    import sqlalchemy
    from dbos import DBOSConfig

T = TypeVar("T")
logger = logging.getLogger(__name__)
_VERSION = "1"
"""A version of what an attempt gets; pinned, so that a hub of another release continues with what is queued."""
_NAME = "greenroom-attempt"
_QUEUE = "greenroom-attempts"
_SCHEMA = "greenroom_dbos"
_IDLE_POLL_S, _BUSY_POLL_S = 1.0, 0.2
_CALM_S = 10.0
"""How long nothing is put into the queue before it is looked at less often."""
_HERE_AT_ONCE = 16
"""How many attempts a hub begins at a time by itself; what is beyond that waits in the queue for whichever is free."""
_CONNECTIONS = 8
_AT_ONCE = 500
_RETRY_S = 5.0
_FAREWELL_S = 1
"""A thread of DBOS that has just taken an attempt waits for long if its loop is gone by then."""
CarryOut = Callable[[str, str, int], Coroutine[Any, Any, None]]


class ClaimedAttempt(NamedTuple):
    """An attempt that a hub has taken."""

    id: str
    hub: str


class DbosQueue:
    """This hub's end of the queue; `run` is a task for as long as the hub lives."""

    def __init__(self, url: str, hub: str, carry_out: CarryOut) -> None:
        self._url = url
        self._hub = hub
        self._carry_out = carry_out
        self._loop = asyncio.get_running_loop()
        self._door = ThreadPoolExecutor(
            1, "greenroom-queue-door"
        )  # it is closed after it was opened, and not meanwhile
        self._threads = ThreadPoolExecutor(_CONNECTIONS // 2, "greenroom-queue")
        self._engine: sqlalchemy.Engine | None = None
        self._attempt: CarryOut | None = None
        self._starts: LoopThread | None = None
        self._starting = 0
        self._is_quick = False
        self._used_at = 0.0
        self._is_open = asyncio.Event()
        self.here: set[str] = set()
        """The attempts that this process carries out at the moment."""

    async def run(self) -> None:
        """Take attempts from the queue until the hub stops."""
        starts = self._starts = LoopThread("greenroom-queue-starts")
        try:
            while not self._is_open.is_set():
                try:
                    await self._loop.run_in_executor(self._door, self._open)
                    self._is_open.set()
                except Exception as error:
                    from sqlalchemy.exc import SQLAlchemyError

                    bug = None if isinstance(error, (psycopg.Error, SQLAlchemyError)) else error
                    logger.warning(
                        "workflows wait, for their queue cannot be opened (%s)", _explain_error(error), exc_info=bug
                    )
                    await self._loop.run_in_executor(self._door, self._close)
                    await asyncio.sleep(_RETRY_S)
            await self._poll_slower_when_idle()
        finally:
            await starts.end_tasks()  # the attempts stay taken, and are found again
            await self._loop.run_in_executor(self._door, self._close)
            await self._loop.run_in_executor(self._door, starts.close)
            self._threads.shutdown(wait=False, cancel_futures=True)  # DBOS retries for as long as the database is away
            self._door.shutdown()

    async def put(self, step: WorkflowStep) -> None:
        """Queue the current attempt of a step for any hub; an attempt that is queued already stays as it is.

        This hub starts a few at once, so that a chain of steps does not wait for the next poll of the queue.
        """
        attempt = (step.run_id, step.id, step.attempt)
        if self._starting >= _HERE_AT_ONCE:
            await self.poll_faster()
            await self._call_dbos(lambda: self._put(*attempt))
            return
        self._starting += 1
        try:
            await self._await_dbos(lambda: self._start(*attempt))
        finally:
            self._starting -= 1

    async def find_claimed(self, hub: str | None = None) -> list[ClaimedAttempt]:
        """The attempts that one hub or any has taken and not finished."""
        return await self._call_dbos(lambda: self._find_claimed(hub))

    async def give_back(self, ids: list[str]) -> None:
        """Put attempts back into the queue, because the hub that had taken them does not carry them out any more."""
        if ids:
            await self.poll_faster()
            await self._call_dbos(lambda: self._give_back(ids))

    async def poll_faster(self) -> None:
        """Have all hubs look at the queue more often, for as long as it is used."""
        self._used_at = self._loop.time()
        if not self._is_quick:
            self._is_quick = True
            await self._call_dbos(lambda: self._set_poll_interval(_BUSY_POLL_S))

    async def _poll_slower_when_idle(self) -> None:
        while True:
            await asyncio.sleep(_CALM_S)
            if self._is_quick and self._loop.time() - self._used_at > _CALM_S:
                try:
                    await self._call_dbos(lambda: self._set_poll_interval(_IDLE_POLL_S))
                    self._is_quick = False
                except Unavailable as no:
                    logger.warning("the queue cannot be left alone yet: %s", no)

    async def delete_ended(self, before: str) -> bool:
        """Drop what is left of some attempts that ended before a time (as ISO 8601); whether there are more."""
        return await self._call_dbos(lambda: self._delete_ended(before))

    async def _call_dbos(self, work: Callable[[], T]) -> T:
        """Ask something of DBOS, as soon as it is there."""
        return await self._await_dbos(lambda: self._loop.run_in_executor(self._threads, work))

    async def _await_dbos(self, ask: Callable[[], Awaitable[T]]) -> T:
        await self._is_open.wait()
        from sqlalchemy.exc import SQLAlchemyError  # not while another thread imports it, or either finds half of it

        try:
            return await ask()
        except SQLAlchemyError as error:
            raise Unavailable("storage_unreachable.queue", error=_explain_error(error)) from error

    def _open(self) -> None:
        from dbos import DBOS, WorkflowSerializationFormat

        self._ensure_schema()

        @DBOS.workflow(
            name=_NAME,
            max_recovery_attempts=None,  # an agent may be at work for longer than many restarts of hubs
            serialization_type=WorkflowSerializationFormat.PORTABLE,
        )
        async def attempt(run_id: str, step_id: str, number: int) -> None:
            carried = asyncio.run_coroutine_threadsafe(self._carry_out_here(run_id, step_id, number), self._loop)
            await asyncio.wrap_future(carried)

        self._attempt = attempt
        DBOS(config=self._build_config())
        DBOS.launch()
        DBOS.register_queue(_QUEUE, polling_interval_sec=_IDLE_POLL_S)
        logging.getLogger("dbos").setLevel(logging.ERROR)

    def _ensure_schema(self) -> None:
        """Create the tables of DBOS, which logs at great length that a database is gone or closed."""
        with connect(self._url, autocommit=False) as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (WRITER_LOCK,))
            found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (_SCHEMA,)).fetchone()
            if found is None:
                connection.execute(f"CREATE SCHEMA {_SCHEMA}")

    def _build_config(self) -> "DBOSConfig":
        import sqlalchemy

        self._engine = sqlalchemy.create_engine(
            "postgresql+psycopg://",
            creator=lambda: connect(self._url, autocommit=False),
            pool_size=_CONNECTIONS,
            max_overflow=0,
            pool_pre_ping=True,
        )
        return {
            "name": "greenroom",
            "system_database_engine": self._engine,
            "dbos_system_schema": _SCHEMA,
            "application_version": _VERSION,
            "executor_id": self._hub,
            "use_listen_notify": False,  # nothing here waits for messages of DBOS
            "max_executor_threads": _CONNECTIONS,
            "log_level": "CRITICAL",  # until it is open: what fails before is raised, and reported here
        }

    def _close(self) -> None:
        from dbos import DBOS

        DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=_FAREWELL_S)
        if self._engine is not None:
            self._engine.dispose()

    async def _carry_out_here(self, run_id: str, step_id: str, number: int) -> None:
        attempt = _build_attempt_id(run_id, step_id, number)
        self.here.add(attempt)
        try:
            await self._carry_out(run_id, step_id, number)
        finally:
            self.here.discard(attempt)

    async def _start(self, *attempt: *tuple[str, str, int]) -> None:
        """Take an attempt past the queue; on a loop apart, for DBOS puts its own executor into the one it is on."""
        from dbos import DBOS, SetWorkflowID

        starts, body = self._starts, self._attempt
        assert starts is not None and body is not None  # noqa: S101 it is open

        async def take() -> None:
            with SetWorkflowID(_build_attempt_id(*attempt)):
                await DBOS.start_workflow_async(body, *attempt)

        await starts.run(take())

    def _put(self, run_id: str, step_id: str, number: int) -> None:
        from dbos import DBOS, WorkflowSerializationFormat

        DBOS.enqueue_workflow_with_options(
            {
                "workflow_name": _NAME,
                "queue_name": _QUEUE,
                "workflow_id": _build_attempt_id(run_id, step_id, number),
                "app_version": _VERSION,
                "serialization_type": WorkflowSerializationFormat.PORTABLE,
            },
            run_id,
            step_id,
            number,
        )

    def _set_poll_interval(self, poll_s: float) -> None:
        from dbos import DBOS

        queue = DBOS.retrieve_queue(_QUEUE)
        if queue is not None:
            queue.set_polling_interval_sec(poll_s)

    def _find_claimed(self, hub: str | None) -> list[ClaimedAttempt]:
        from dbos import DBOS

        found = DBOS.list_workflows(name=_NAME, status="PENDING", executor_id=hub, load_input=False, load_output=False)
        return [ClaimedAttempt(one.workflow_id, one.executor_id or "") for one in found]

    def _give_back(self, ids: list[str]) -> None:
        from dbos import DBOS

        DBOS.resume_workflows(ids, queue_name=_QUEUE)

    def _delete_ended(self, before: str) -> bool:
        from dbos import DBOS

        over = DBOS.list_workflows(
            name=_NAME,
            status=["SUCCESS", "ERROR", "CANCELLED"],
            completed_before=before,
            limit=_AT_ONCE,
            load_input=False,
            load_output=False,
        )
        if over:
            DBOS.delete_workflows([one.workflow_id for one in over])
        return len(over) == _AT_ONCE


def _explain_error(error: Exception) -> str:
    """Its first line, and what to do where that helps."""
    first = str(error).partition("\n")[0]
    denied = "permission denied" in first
    return f"{first}: let the database's role create a schema in it" if denied else first


def _build_attempt_id(run_id: str, step_id: str, number: int) -> str:
    return f"{run_id}:{step_id}:{number}"
