"""LangGraph's checkpoints of builds, stored in the server's database by LangGraph's own savers."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import anyio
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from ..graph_store.postgresql_bases import missing
from .server_database import ServerDatabase

OpenSaver = Callable[[], AbstractAsyncContextManager[BaseCheckpointSaver[str]]]
"""Opens a saver with its own connection."""


def saver_in(database: ServerDatabase) -> OpenSaver:
    """Return the function that opens savers in the server's database, creating their tables if missing.

    Raises:
        DatabaseError: PostgreSQL cannot be reached, or the package for its checkpoints is not installed.
    """
    if isinstance(database.place, Path):
        return partial(AsyncSqliteSaver.from_conn_string, str(database.place))
    try:
        from .postgresql_checkpoints import postgresql_saver  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise missing(error) from error
    return postgresql_saver(database.place)


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
