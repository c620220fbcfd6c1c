"""Conversations kept by thread: apart from each other, over restarts, and bounded."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest
from banyan.graph_store.layout import KnowledgeBaseNameError
from banyan.graph_store.ledger.database import write_ahead
from banyan.server.errors import StateError
from banyan.server.runs.threads import KEPT_MESSAGES, Thread, ThreadNameError, Threads
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver

ONE, TWO = Thread("", "kb", "one"), Thread("", "kb", "two")


@contextmanager
def opened(folder):
    """The conversations as a server that was just started has them."""
    with SqliteSaver.from_conn_string(str(folder / "server.sqlite")) as saver:
        yield Threads(saver)


def say(threads, thread, question, answer):
    with threads.turn(thread) as messages:
        messages += [HumanMessage(question), AIMessage(answer)]


def texts(threads, thread):
    return [message.text for message in threads.messages(thread)]


def test_threads_of_other_names_bases_and_clients_are_apart_and_outlive_the_server(tmp_path):
    every = [ONE, TWO, Thread("", "other", "one"), Thread("bob", "kb", "one"), Thread("bob/kb", "kb", "one")]
    with opened(tmp_path) as threads:
        for number, thread in enumerate(every):
            say(threads, thread, f"question {number}", f"answer {number}")
        say(threads, ONE, "and then?", "nothing")
    with opened(tmp_path) as threads:
        assert [texts(threads, thread) for thread in every] == [
            ["question 0", "answer 0", "and then?", "nothing"],
            *([f"question {number}", f"answer {number}"] for number in range(1, 5))]


def test_a_turn_that_fails_leaves_no_trace(tmp_path):
    with opened(tmp_path) as threads:
        say(threads, ONE, "one?", "1")
        with pytest.raises(ZeroDivisionError), threads.turn(ONE) as messages:
            messages.append(HumanMessage("two?"))
            raise ZeroDivisionError
        assert texts(threads, ONE) == ["one?", "1"]
        say(threads, ONE, "three?", "3")
        assert texts(threads, ONE) == ["one?", "1", "three?", "3"]


def test_a_thread_has_one_turn_at_a_time(tmp_path):
    with opened(tmp_path) as threads, threads.turn(ONE):
        with pytest.raises(StateError, match="the thread 'one' is being answered"), threads.turn(ONE):
            pass
        with pytest.raises(StateError):
            threads.delete(ONE)
        say(threads, TWO, "others?", "do not wait")


def test_the_newest_messages_are_kept_and_only_once(tmp_path):
    turns = KEPT_MESSAGES // 2 + 3
    with opened(tmp_path) as threads:
        say(threads, TWO, "?", "!")
        for number in range(turns):
            say(threads, ONE, f"{number}?", str(number))
        said = texts(threads, ONE)
        assert len(said) == KEPT_MESSAGES
        assert said[:2] == ["3?", "3"]
        assert said[-1] == str(turns - 1)
        assert texts(threads, TWO) == ["?", "!"]


def test_a_deleted_thread_begins_anew(tmp_path):
    with opened(tmp_path) as threads:
        say(threads, ONE, "one?", "1")
        say(threads, TWO, "two?", "2")
        threads.delete(ONE)
        threads.delete(Thread("", "kb", "never"))
        assert (texts(threads, ONE), texts(threads, TWO)) == ([], ["two?", "2"])


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
                SqliteSaver(connection).setup()

        with ThreadPoolExecutor(4) as pool:
            for begun in [pool.submit(begin) for _ in range(4)]:
                begun.result()
