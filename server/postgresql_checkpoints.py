"""LangGraph's checkpoints in the PostgreSQL database that servers share; it needs an extra of the package."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager

import psycopg
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row
from pydantic import SecretStr

from ..graph_store.postgresql import connection_string, explain_error
from .database import SESSION

_MAKING = 0x62616E79616F
"""The advisory lock to hold while creating the tables."""
_POLL = 0.2


class PostgresqlCheckpoints:
    """Implements `Checkpoints` in the schema of the server's tables."""

    def __init__(self, url: SecretStr) -> None:
        self._url = url
        self._address = connection_string(url, SESSION)
        with (self._translate_errors(),
              psycopg.connect(self._address, autocommit=True, row_factory=dict_row) as connection):
            # Poll, because the other process's index creation would wait for a statement that waits for the lock.
            while connection.execute(f"SELECT pg_try_advisory_lock({_MAKING}) AS held").fetchall() == [{"held": False}]:
                time.sleep(_POLL)
            PostgresSaver(connection).setup()

    def saver(self) -> AbstractAsyncContextManager[BaseCheckpointSaver[str]]:
        """See `Checkpoints.saver`."""
        return self._saver()

    @asynccontextmanager
    async def _saver(self) -> AsyncIterator[BaseCheckpointSaver[str]]:
        with self._translate_errors():
            async with AsyncPostgresSaver.from_conn_string(self._address) as saver:
                yield saver

    def delete(self, thread: str) -> None:
        """See `Checkpoints.delete`."""
        with self._translate_errors(), PostgresSaver.from_conn_string(self._address) as saver:
            saver.delete_thread(thread)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            lost = isinstance(error, psycopg.OperationalError)
            raise explain_error(error, self._url, lost=lost) from None
