"""LangGraph's checkpoints of builds, stored in the server's database by LangGraph's own savers."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from ..graph_store.postgresql import missing
from .database import ServerDatabase


class Checkpoints(Protocol):
    """The checkpoints of builds that wait for a person."""

    def saver(self) -> AbstractAsyncContextManager[BaseCheckpointSaver[str]]:
        """Return a saver for one run of a graph, with its own connection."""

    def delete(self, thread: str) -> None:
        """Delete the checkpoints of a thread, if it has any."""


def checkpoints_in(database: ServerDatabase) -> Checkpoints:
    """Open the checkpoints in the server's database, creating their tables if missing.

    Raises:
        DatabaseError: PostgreSQL cannot be reached, or the package for its checkpoints is not installed.
    """
    if isinstance(database.place, Path):
        return _SqliteCheckpoints(database.place)
    try:
        from .postgresql_checkpoints import PostgresqlCheckpoints  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise missing(error) from error
    return PostgresqlCheckpoints(database.place)


class _SqliteCheckpoints:
    """Implements `Checkpoints` in the server's file."""

    def __init__(self, file: Path) -> None:
        self._file = str(file)

    def saver(self) -> AbstractAsyncContextManager[BaseCheckpointSaver[str]]:
        """See `Checkpoints.saver`."""
        return AsyncSqliteSaver.from_conn_string(self._file)

    def delete(self, thread: str) -> None:
        """See `Checkpoints.delete`."""
        with SqliteSaver.from_conn_string(self._file) as saver:
            saver.delete_thread(thread)
