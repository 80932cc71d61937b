"""A private PostgreSQL server for tests: its own directory, a socket in it, and no port unless requested."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg

from greenroom.ids import new_id
from greenroom.testing.hub_process import wait_until
from greenroom.testing.machine_requirements import need_program
from greenroom.testing.timeouts import WAIT_S

_PRIVATE = ("-c", "max_connections=200", "-c", "shared_buffers=32MB")


class PostgresServer:
    """A server that can be killed and started again on the same data."""

    def __init__(self, folder: Path, *, durable: bool = False, host: str = "") -> None:
        """`durable`: whether a commit waits for the disk; tests that kill no machine need not.

        `host`: the address that it also listens on, and trusts the network of.
        """
        self.folder = folder
        self.host = host
        self._settings = (*_PRIVATE, "-c", f"listen_addresses={host}", "-c", f"fsync={'on' if durable else 'off'}")
        self._data = folder / "data"
        self._server = need_program("postgres")
        self._user = "postgres" if os.getuid() == 0 else None
        self._process: subprocess.Popen[bytes] | None = None
        if self._user:
            account = pwd.getpwnam(self._user)
            os.chown(folder, account.pw_uid, account.pw_gid)
        initdb = [str(need_program("initdb")), "-D", str(self._data), "-U", "greenroom", "-A", "trust", "-E", "UTF8"]
        subprocess.run([*initdb, "--no-sync", "--locale=C.UTF-8"], check=True, capture_output=True, user=self._user)
        if host:
            with (self._data / "pg_hba.conf").open("a") as rules:
                rules.write("host all all samenet trust\n")

    @property
    def url(self) -> str:
        return self.build_url("postgres")

    def build_url(self, database: str) -> str:
        return f"postgresql://greenroom@/{database}?host={self.folder}"

    def start(self, env: Mapping[str, str] | None = None) -> None:
        """`env` is what the server finds in its environment besides what is in ours."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._server), "-D", str(self._data), "-k", str(self.folder), *self._settings],
                stdout=log,
                stderr=log,
                user=self._user,
                cwd=self.folder,
                env={**os.environ, **(env or {})},
            )
        wait_until(self._is_ready)

    def kill(self) -> None:
        """End it without a farewell."""
        if self._process is not None:
            self._process.send_signal(3)
            self._process.wait(WAIT_S)
            self._process = None

    def create_database(self) -> str:
        """The address of a database with nothing in it, by the network where the server listens on one."""
        name = new_id("db").replace("-", "_").lower()
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')  # type: ignore[call-overload, unused-ignore]
        return f"postgresql://greenroom@{self.host}/{name}" if self.host else self.build_url(name)

    def _is_ready(self) -> bool:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(self.url):
            return True
        return False


@contextlib.contextmanager
def postgres_server(*, durable: bool = False, host: str = "") -> Iterator[PostgresServer]:
    """A running server; gone with its data at the end."""
    folder = Path(tempfile.mkdtemp(prefix="greenroom-pg-"))
    try:
        server = PostgresServer(folder, durable=durable, host=host)
        server.start()
        try:
            yield server
        finally:
            server.kill()
    finally:
        shutil.rmtree(folder)
