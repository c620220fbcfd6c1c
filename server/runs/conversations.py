"""Conversations: each answer with its citations and trace, a title, ratings, a link; and what follow-ups are read with.

REST and the LangServe chat share them: a conversation that started through one goes on through the other.
"""

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver

from ..answers import ConversationItem, ConversationTurn, SharedConversation
from ..errors import NotFoundError, StateError
from .threads import Thread

KEPT_TURNS = 200
"""Of a conversation, the newest."""
READ_TURNS = 50
"""The newest, from which a follow-up is understood: each is read by the reasoner."""
_LISTED = 200
"""Conversations of a client about one knowledge base, the newest."""
_TITLE = 80
_TABLES = (
    ("CREATE TABLE IF NOT EXISTS banyan_conversations (id TEXT PRIMARY KEY, client TEXT NOT NULL, kb TEXT NOT NULL, "
    "name TEXT NOT NULL, title TEXT NOT NULL, link TEXT UNIQUE, started_at TEXT NOT NULL, used_at TEXT NOT NULL)"),
    ("CREATE TABLE IF NOT EXISTS banyan_turns (conversation TEXT NOT NULL, number INTEGER NOT NULL, asked_at TEXT NOT "
    "NULL, question TEXT NOT NULL, answer TEXT NOT NULL, rating INTEGER NOT NULL DEFAULT 0, "
    "PRIMARY KEY (conversation, number))"),
    "CREATE TABLE IF NOT EXISTS banyan_busy (conversation TEXT PRIMARY KEY, process TEXT NOT NULL)")
_ENTRY = "SELECT id, kb, name, title, link, started_at, used_at FROM banyan_conversations"


class Conversations:
    """The conversations of a server: tables in the database of its checkpoints, which its processes share."""

    def __init__(self, saver: SqliteSaver, process: str) -> None:
        """Make the tables where there are none.

        Args:
            saver: has the database.
            process: the id of this process (see `ProcessLock`).
        """
        self._saver = saver
        self._process = process
        with saver.cursor() as cursor:
            for table in _TABLES:
                cursor.execute(table)

    def add(self, thread: Thread, question: str, answer: dict[str, Any]) -> int:
        """Keep a turn, and begin the conversation with the first; returns the turn's number, from 1."""
        now, key = datetime.now(UTC).isoformat(timespec="seconds"), thread.key
        title = " ".join(question.split())
        title = title if len(title) <= _TITLE else f"{title[:_TITLE - 1]}…"
        with self._saver.cursor() as cursor:
            cursor.execute("INSERT INTO banyan_conversations VALUES (?, ?, ?, ?, ?, NULL, ?, ?) "
                           "ON CONFLICT (id) DO UPDATE SET used_at = excluded.used_at",
                           (key, thread.client, thread.knowledge_base, thread.name, title, now, now))
            (last,) = cursor.execute("SELECT coalesce(max(number), 0) FROM banyan_turns WHERE conversation = ?", (key,)
                                     ).fetchone()
            cursor.execute("INSERT INTO banyan_turns VALUES (?, ?, ?, ?, ?, 0)",
                           (key, last + 1, now, question, json.dumps(answer)))
            cursor.execute("DELETE FROM banyan_turns WHERE conversation = ? AND number <= ?",
                           (key, last + 1 - KEPT_TURNS))
        return int(last) + 1

    def messages(self, thread: Thread) -> list[AnyMessage]:
        """The newest questions and answers, oldest first; empty for a thread that was never used."""
        with self._saver.cursor(transaction=False) as cursor:
            rows = cursor.execute("SELECT question, json_extract(answer, '$.answer') FROM banyan_turns WHERE "
                                  "conversation = ? ORDER BY number DESC LIMIT ?", (thread.key, READ_TURNS)).fetchall()
        return [message for question, answer in reversed(rows)
                for message in (HumanMessage(question), AIMessage(answer))]

    @contextmanager
    def turn(self, thread: Thread) -> Iterator[list[AnyMessage]]:
        """One turn of the conversation, with its messages so far.

        Raises:
            StateError: another turn of the same thread is not over.
        """
        key = thread.key
        with self._saver.cursor() as cursor:
            cursor.execute("INSERT OR IGNORE INTO banyan_busy VALUES (?, ?)", (key, self._process))
            if not cursor.rowcount:
                raise StateError(f"a question of the thread {thread.name!r} is being answered; wait until it is")
        try:
            yield self.messages(thread)
        finally:
            with self._saver.cursor() as cursor:
                cursor.execute("DELETE FROM banyan_busy WHERE conversation = ? AND process = ?", (key, self._process))

    def take_up(self, runs: Callable[[str], bool]) -> None:
        """End the turns of processes that were killed.

        Args:
            runs: whether the process with an id does.
        """
        with self._saver.cursor() as cursor:
            processes = cursor.execute("SELECT DISTINCT process FROM banyan_busy").fetchall()
            cursor.executemany("DELETE FROM banyan_busy WHERE process = ?",
                               [(process,) for (process,) in processes if not runs(process)])

    def all(self, client: str, kb: str) -> list[ConversationItem]:
        """A client's conversations about a knowledge base, the one used last first."""
        with self._saver.cursor(transaction=False) as cursor:
            rows = cursor.execute(f"{_ENTRY} WHERE client = ? AND kb = ? ORDER BY used_at DESC, rowid DESC LIMIT ?",
                                  (client, kb, _LISTED)).fetchall()
        return [_item(row) for row in rows]

    def entry(self, thread: Thread) -> ConversationItem:
        """A conversation.

        Raises:
            NotFoundError: there is none.
        """
        return _item(self._one("id", thread.key, f"there is no conversation {thread.name!r} about "
                                                 f"{thread.knowledge_base!r}"))

    def linked(self, link: str) -> SharedConversation:
        """A conversation by its link.

        Raises:
            NotFoundError: no conversation has it, or it was taken back.
        """
        row = self._one("link", link, str(no_link()))
        return SharedConversation(kb=row[1], title=row[3], turns=self._turns(row[0]))

    def turns(self, thread: Thread) -> list[ConversationTurn]:
        """The turns of a conversation, oldest first; empty for one that there is not."""
        return self._turns(thread.key)

    def rename(self, thread: Thread, title: str) -> None:
        """Give a conversation another title.

        Raises:
            NotFoundError: there is none.
        """
        self._change(thread, "UPDATE banyan_conversations SET title = ? WHERE id = ?", title)

    def share(self, thread: Thread, *, shared: bool) -> str | None:
        """Give a conversation a link that nobody guesses, or take it back; returns the link.

        Raises:
            NotFoundError: there is none.
        """
        link = (self.entry(thread).link or secrets.token_urlsafe(16)) if shared else None
        self._change(thread, "UPDATE banyan_conversations SET link = ? WHERE id = ?", link)
        return link

    def rate(self, thread: Thread, number: int, rating: int) -> None:
        """Keep what a person thinks of an answer.

        Raises:
            NotFoundError: there is no such turn.
        """
        with self._saver.cursor() as cursor:
            cursor.execute("UPDATE banyan_turns SET rating = ? WHERE conversation = ? AND number = ?",
                           (rating, thread.key, number))
            if not cursor.rowcount:
                raise NotFoundError(f"the conversation {thread.name!r} has no turn {number}")

    def delete(self, thread: Thread) -> None:
        """Forget a conversation; one that there is not is no error.

        Raises:
            StateError: a turn of it is not over.
        """
        with self.turn(thread), self._saver.cursor() as cursor:
            cursor.execute("DELETE FROM banyan_turns WHERE conversation = ?", (thread.key,))
            cursor.execute("DELETE FROM banyan_conversations WHERE id = ?", (thread.key,))

    def rename_base(self, old: str, new: str) -> None:
        """A knowledge base has another name: conversations about it are found under that."""
        names = {"old": old, "new": new}
        with self._saver.cursor() as cursor:
            cursor.execute("UPDATE banyan_turns SET conversation = (SELECT client || '/' || :new || '/' || name FROM "
                           "banyan_conversations WHERE id = conversation) WHERE conversation IN "
                           "(SELECT id FROM banyan_conversations WHERE kb = :old)", names)
            cursor.execute("UPDATE banyan_conversations SET id = client || '/' || :new || '/' || name, kb = :new "
                           "WHERE kb = :old", names)

    def forget_base(self, kb: str) -> None:
        """A knowledge base is gone, and conversations about it with it."""
        with self._saver.cursor() as cursor:
            cursor.execute("DELETE FROM banyan_turns WHERE conversation IN "
                           "(SELECT id FROM banyan_conversations WHERE kb = ?)", (kb,))
            cursor.execute("DELETE FROM banyan_conversations WHERE kb = ?", (kb,))

    def _one(self, column: str, value: str, missing: str) -> Any:
        with self._saver.cursor(transaction=False) as cursor:
            row = cursor.execute(f"{_ENTRY} WHERE {column} = ?", (value,)).fetchone()
        if row is None:
            raise NotFoundError(missing)
        return row

    def _turns(self, key: str) -> list[ConversationTurn]:
        with self._saver.cursor(transaction=False) as cursor:
            rows = cursor.execute("SELECT number, asked_at, question, answer, rating FROM banyan_turns WHERE "
                                  "conversation = ? ORDER BY number", (key,)).fetchall()
        return [ConversationTurn(number=number, asked_at=asked_at, question=question, answer=json.loads(answer),
                                 rating=rating) for number, asked_at, question, answer, rating in rows]

    def _change(self, thread: Thread, statement: str, value: str | None) -> None:
        self.entry(thread)
        with self._saver.cursor() as cursor:
            cursor.execute(statement, (value, thread.key))


def no_link() -> NotFoundError:
    """What is said of a link that shows nothing, or nothing to this client."""
    return NotFoundError("no conversation has this link, or it is not shared any more")


def _item(row: Any) -> ConversationItem:
    _, _, name, title, link, started_at, used_at = row
    return ConversationItem(name=name, title=title, link=link, started_at=started_at, used_at=used_at)
