"""Conversations kept by thread, over restarts of the server, in the database of its checkpoints.

REST and the LangServe chat share them: a thread that started through one goes on through the other. A thread is of
one knowledge base and one client; what others call the same is another thread.
"""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from langchain_core.messages import AnyMessage, RemoveMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from ...graph_store.layout import check_name
from ...schemas.errors import BanyanError
from ..errors import StateError

MAX_THREAD_NAME = 128
THREAD_NAME = rf"^[A-Za-z0-9_.:-]{{1,{MAX_THREAD_NAME}}}$"
KEPT_MESSAGES = 100
"""Of a thread, the newest: follow-ups are resolved from the last messages, and each is read by the reasoner."""
_TURN = "turn"


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
    """The conversations that a saver keeps."""

    def __init__(self, saver: SqliteSaver) -> None:
        self._saver = saver
        # A graph of messages alone: what a question's search finds (50 KB a turn) is no part of the conversation.
        graph = StateGraph(MessagesState)
        graph.add_node(_TURN, lambda _: {})
        graph.add_edge(START, _TURN)
        graph.add_edge(_TURN, END)
        self._conversations = graph.compile(checkpointer=saver)
        self._busy: set[str] = set()
        self._lock = threading.Lock()

    def messages(self, thread: Thread) -> list[AnyMessage]:
        """The messages so far, oldest first; empty for a thread that was never used."""
        return list(self._conversations.get_state(_config(thread)).values.get("messages", ()))

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
                self._keep(thread, messages, before)

    def delete(self, thread: Thread) -> None:
        """Forget a conversation; one that was never used is no error.

        Raises:
            StateError: a turn of it is not over.
        """
        with self._alone(thread):
            self._saver.delete_thread(thread.key)

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

    def _keep(self, thread: Thread, messages: list[AnyMessage], before: int) -> None:
        forgotten = [RemoveMessage(id=str(message.id)) for message in messages[:-KEPT_MESSAGES]]
        config = self._conversations.update_state(
            _config(thread), {"messages": [*forgotten, *messages[before:]]}, as_node=_TURN)
        # Every checkpoint holds the whole conversation, and nobody goes back to an earlier one.
        with self._saver.cursor() as cursor:
            for table in ("checkpoints", "writes"):
                cursor.execute(f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_id <> ?",  # noqa: S608 (ours)
                               (thread.key, config["configurable"]["checkpoint_id"]))


def _config(thread: Thread) -> Any:
    return {"configurable": {"thread_id": thread.key}}
