"""LangGraph's checkpoints of builds, stored in the server's database by LangGraph's own savers."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import anyio
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import SecretStr

from ..graph_store.postgresql_bases import connection_string, explain_error, missing
from .server_database import SESSION, ServerDatabase

OpenSaver = Callable[[], AbstractAsyncContextManager[BaseCheckpointSaver[str]]]
"""Opens a saver with its own connection."""
_MAKING = 0x62616E79616F
"""The advisory lock to hold while creating the tables in PostgreSQL."""
_POLL = 0.2


def saver_in(database: ServerDatabase) -> OpenSaver:
    """Return the function that opens savers in the server's database, creating their tables if missing.

    Raises:
        DatabaseError: PostgreSQL cannot be reached, or the package for its checkpoints is not installed.
    """
    if isinstance(database.place, Path):
        return partial(AsyncSqliteSaver.from_conn_string, str(database.place))
    try:
        return _postgresql_saver(database.place)
    except ImportError as error:
        raise missing(error) from error


def _postgresql_saver(url: SecretStr) -> OpenSaver:
    """Create the tables in the schema of the server's tables, and return the function that opens savers."""
    import psycopg  # noqa: PLC0415  (an extra)
    from langgraph.checkpoint.postgres import PostgresSaver  # noqa: PLC0415
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver  # noqa: PLC0415
    from psycopg.rows import dict_row  # noqa: PLC0415

    @contextmanager
    def translate_errors() -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise explain_error(error, url, lost=isinstance(error, psycopg.OperationalError)) from None

    @asynccontextmanager
    async def open_saver() -> AsyncIterator[BaseCheckpointSaver[str]]:
        with translate_errors():
            async with AsyncPostgresSaver.from_conn_string(address) as saver:
                yield saver

    address = connection_string(url, SESSION)
    with translate_errors(), psycopg.connect(address, autocommit=True, row_factory=dict_row) as connection:
        # Poll, because the other process's index creation would wait for a statement that waits for the lock.
        while connection.execute(f"SELECT pg_try_advisory_lock({_MAKING}) AS held").fetchall() == [{"held": False}]:
            time.sleep(_POLL)
        PostgresSaver(connection).setup()
    return open_saver


async def delete_checkpoints(open_saver: OpenSaver, thread: str) -> None:
    """Delete the checkpoints of a thread, if it has any."""
    async def delete() -> None:
        async with open_saver() as saver:
            if isinstance(saver, AsyncSqliteSaver):
                await saver.conn.execute("PRAGMA secure_delete=ON")
            await saver.adelete_thread(thread)
            if isinstance(saver, AsyncSqliteSaver):  # the log still has what was deleted
                await saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # A server that stops meanwhile waits for the thread; its own loop would end before the connection does.
    await anyio.to_thread.run_sync(lambda: asyncio.run(delete()))
