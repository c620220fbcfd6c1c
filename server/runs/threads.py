"""Conversations kept by thread, over restarts of the server, in the database of its checkpoints.

REST and the LangServe chat share them: a thread that started through one goes on through the other. A thread is of
one knowledge base and one client; what others call the same is another thread.
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, cast

from langchain_core.messages import AnyMessage, messages_from_dict, messages_to_dict
from langgraph.checkpoint.sqlite import SqliteSaver

from ...graph_store.layout import check_name
from ...schemas.errors import BanyanError
from ..errors import StateError

MAX_THREAD_NAME = 128
THREAD_NAME = rf"^[A-Za-z0-9_.:-]{{1,{MAX_THREAD_NAME}}}$"
KEPT_MESSAGES = 100
"""Of a thread, the newest: follow-ups are resolved from the last messages, and each is read by the reasoner."""


class ThreadNameError(BanyanError):
    """A name that a thread cannot have."""


class Thread(NamedTuple):
    """Which conversation: the client that owns it, the knowledge base that it asks, and its name."""

    client: str
    knowledge_base: str
    name: str

    @property
    def key(self) -> str:
        """Under what it is kept: no client reaches another one's, whatever names it gives.

        Raises:
            ThreadNameError, KnowledgeBaseNameError: a name is not of the form; says which form.
        """
        if not isinstance(self.name, str) or not re.fullmatch(THREAD_NAME, self.name):
            raise ThreadNameError(f"{str(self.name)[:MAX_THREAD_NAME]!r} cannot name a thread: use 1 to "
                                  f"{MAX_THREAD_NAME} letters from a to z, digits and '-', '_', '.', ':'")
        # The last two parts hold no slash.
        return f"{self.client}/{check_name(self.knowledge_base)}/{self.name}"


class Threads:
    """The conversations of a server: a table in the database of its checkpoints."""

    def __init__(self, saver: SqliteSaver) -> None:
        self._saver = saver
        self._busy: set[str] = set()
        self._lock = threading.Lock()
        with saver.cursor() as cursor:
            cursor.execute("CREATE TABLE IF NOT EXISTS banyan_threads (id TEXT PRIMARY KEY, messages TEXT NOT NULL)")

    def messages(self, thread: Thread) -> list[AnyMessage]:
        """The conversation so far, oldest message first; empty for a thread that was never used."""
        with self._saver.cursor(transaction=False) as cursor:
            row = cursor.execute("SELECT messages FROM banyan_threads WHERE id = ?", (thread.key,)).fetchone()
        return cast("list[AnyMessage]", messages_from_dict(json.loads(row[0]))) if row else []

    @contextmanager
    def turn(self, thread: Thread) -> Iterator[list[AnyMessage]]:
        """One turn of the conversation: what the block appends to its messages is kept, if it ends without an error.

        Raises:
            StateError: another turn of the same thread is not over.
        """
        with self._alone(thread):
            messages = self.messages(thread)
            before = len(messages)
            yield messages
            if len(messages) > before:
                kept = json.dumps(messages_to_dict(messages[-KEPT_MESSAGES:]))
                with self._saver.cursor() as cursor:
                    cursor.execute("INSERT OR REPLACE INTO banyan_threads VALUES (?, ?)", (thread.key, kept))

    def delete(self, thread: Thread) -> None:
        """Forget a conversation; one that was never used is no error.

        Raises:
            StateError: a turn of it is not over.
        """
        with self._alone(thread), self._saver.cursor() as cursor:
            cursor.execute("DELETE FROM banyan_threads WHERE id = ?", (thread.key,))

    @contextmanager
    def _alone(self, thread: Thread) -> Iterator[None]:
        key = thread.key
        with self._lock:
            if key in self._busy:
                raise StateError(f"a question of the thread {thread.name!r} is being answered; wait until it is")
            self._busy.add(key)
        try:
            yield
        finally:
            with self._lock:
                self._busy.discard(key)
