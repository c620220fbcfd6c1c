"""The names of threads, and the database that conversations are kept in."""

import sqlite3
import threading
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


def test_servers_that_begin_at_once_on_a_new_home_all_begin(tmp_path):
    """SQLite does not wait for another connection that sets the write-ahead log of the same new file."""
    for attempt in range(10):
        path, barrier = tmp_path / f"{attempt}.sqlite", threading.Barrier(4)

        def begin(path=path, barrier=barrier):
            barrier.wait()
            with closing(sqlite3.connect(path)) as connection:
                write_ahead(connection)

        with ThreadPoolExecutor(4) as pool:
            for begun in [pool.submit(begin) for _ in range(4)]:
                begun.result()
