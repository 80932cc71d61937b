"""What `greenroom doctor` checks about the database that several hubs share: it is reachable and usable."""

import importlib.util
from typing import NamedTuple

from greenroom.log.store_factory import SCHEMES

_WAIT_S = 5
_OLDEST = 140_000
_QUESTION = """
    SELECT has_database_privilege(current_database(), 'CREATE'),
           coalesce(has_schema_privilege(current_schema(), 'CREATE'), false),
           current_user
"""


class DatabaseCheck(NamedTuple):
    """The findings, and how to fix what is wrong."""

    found: str
    remedy: str = ""


def check_database(url: str) -> DatabaseCheck:
    """See whether a hub could keep its log there."""
    if not url.startswith(SCHEMES):
        return DatabaseCheck("the setting names no PostgreSQL database", "write postgresql://user@host/name.")
    lacking = [name for name in ("psycopg", "dbos") if importlib.util.find_spec(name) is None]
    if lacking:
        return DatabaseCheck(f"not installed: {', '.join(lacking)}", 'pip install "greenroom[postgres]"')
    import psycopg

    try:
        with psycopg.connect(url, connect_timeout=_WAIT_S, autocommit=True) as connection:
            version = connection.info.server_version
            where = f"PostgreSQL {version // 10_000}.{version % 10_000} at {connection.info.host}"
            answer = connection.execute(_QUESTION).fetchone() or (False, False, "")
    except psycopg.Error as error:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        return DatabaseCheck(
            f"it cannot be reached ({first})", "see that the server runs and that `database` names it."
        )
    if version < _OLDEST:
        return DatabaseCheck(where, "use PostgreSQL 14 or newer.")
    if not (answer[0] and answer[1]):
        return DatabaseCheck(
            f"{where}: {answer[2]} may not create tables and a schema", "let the role own the database."
        )
    return DatabaseCheck(where)
