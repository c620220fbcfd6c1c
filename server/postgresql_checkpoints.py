"""LangGraph's checkpoints in the PostgreSQL database that servers share; it needs an extra of the package."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import psycopg
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row
from pydantic import SecretStr

from ..graph_store.postgresql_bases import connection_string, explain_error
from .checkpoints import OpenSaver
from .server_database import SESSION

_MAKING = 0x62616E79616F
"""The advisory lock to hold while creating the tables."""
_POLL = 0.2


def postgresql_saver(url: SecretStr) -> OpenSaver:
    """Create the tables in the schema of the server's tables, and return the function that opens savers.

    Raises:
        DatabaseError: PostgreSQL cannot be reached.
    """
    address = connection_string(url, SESSION)
    with _translate_errors(url), psycopg.connect(address, autocommit=True, row_factory=dict_row) as connection:
        # Poll, because the other process's index creation would wait for a statement that waits for the lock.
        while connection.execute(f"SELECT pg_try_advisory_lock({_MAKING}) AS held").fetchall() == [{"held": False}]:
            time.sleep(_POLL)
        PostgresSaver(connection).setup()

    @asynccontextmanager
    async def open_saver() -> AsyncIterator[BaseCheckpointSaver[str]]:
        with _translate_errors(url):
            async with AsyncPostgresSaver.from_conn_string(address) as saver:
                yield saver

    return open_saver


@contextmanager
def _translate_errors(url: SecretStr) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise explain_error(error, url, lost=isinstance(error, psycopg.OperationalError)) from None
