"""The names of threads, and the database that conversations are kept in."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from banyan.graph_store.layout import KnowledgeBaseNameError
from banyan.graph_store.ledger.sqlite import write_ahead
from banyan.server.runs.conversations import Thread, ThreadNameError


@pytest.mark.parametrize("name", ["", "a/b", "a b", "x" * 129, "a\n", "é", None, 7])
def test_names_that_cannot_be_are_refused(name):
    with pytest.raises(ThreadNameError, match="cannot name a thread: use 1 to 128 letters"):
        Thread("", "kb", name).key  # noqa: B018


def test_a_thread_is_of_a_knowledge_base_with_a_name():
    with pytest.raises(KnowledgeBaseNameError):
        Thread("", "../kb", "t").key  # noqa: B018


def test_a_database_that_another_server_prepares_is_waited_for(tmp_path):
    """SQLite does not wait for another connection that sets the write-ahead log of the same new file."""
    path = tmp_path / "server.sqlite"
    with (closing(sqlite3.connect(path, isolation_level=None)) as first,
          closing(sqlite3.connect(path, timeout=0, check_same_thread=False)) as second, ThreadPoolExecutor() as pool):
        first.execute("BEGIN EXCLUSIVE")
        waiting = pool.submit(write_ahead, second)
        with pytest.raises(TimeoutError):
            waiting.result(0.1)
        first.execute("COMMIT")
        waiting.result(60)
