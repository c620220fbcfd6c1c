"""Conversations as people look back at them: each answer with its citations and trace, a title, ratings, a link.

What the reasoner reads of a conversation is kept apart from this (threads.py): it needs the last messages alone.
"""

import json
import secrets
from datetime import UTC, datetime
from typing import Any, NamedTuple

from langgraph.checkpoint.sqlite import SqliteSaver

from ..errors import NotFoundError
from .threads import Thread

KEPT_TURNS = 200
"""Of a conversation, the newest."""
_LISTED = 200
"""Conversations of a client about one knowledge base, the newest."""
_TITLE = 80
_TABLES = (
    ("CREATE TABLE IF NOT EXISTS banyan_conversations (id TEXT PRIMARY KEY, client TEXT NOT NULL, kb TEXT NOT NULL, "
    "name TEXT NOT NULL, title TEXT NOT NULL, link TEXT UNIQUE, started_at TEXT NOT NULL, used_at TEXT NOT NULL)"),
    ("CREATE TABLE IF NOT EXISTS banyan_turns (conversation TEXT NOT NULL, number INTEGER NOT NULL, asked_at TEXT NOT "
    "NULL, question TEXT NOT NULL, answer TEXT NOT NULL, rating INTEGER NOT NULL DEFAULT 0, "
    "PRIMARY KEY (conversation, number))"))

_BY_ID = "SELECT id, kb, name, title, link, started_at, used_at FROM banyan_conversations WHERE id = ?"
_BY_LINK = "SELECT id, kb, name, title, link, started_at, used_at FROM banyan_conversations WHERE link = ?"


class Turn(NamedTuple):
    """A question of a conversation with its answer, as it was given."""

    number: int
    asked_at: str
    question: str
    answer: dict[str, Any]
    rating: int
    """1: found good, -1: found bad, 0: not rated."""


class Entry(NamedTuple):
    """A conversation without its turns."""

    kb: str
    name: str
    title: str
    link: str | None
    """What its link names; None: it has none."""
    started_at: str
    used_at: str


class Conversations:
    """The conversations of a server: two tables in the database of its checkpoints."""

    def __init__(self, saver: SqliteSaver) -> None:
        self._saver = saver
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

    def all(self, client: str, kb: str) -> list[Entry]:
        """A client's conversations about a knowledge base, the one used last first."""
        with self._saver.cursor(transaction=False) as cursor:
            rows = cursor.execute(
                "SELECT kb, name, title, link, started_at, used_at FROM banyan_conversations WHERE client = ? AND "
                "kb = ? ORDER BY used_at DESC, rowid DESC LIMIT ?", (client, kb, _LISTED)).fetchall()
        return [Entry(*row) for row in rows]

    def entry(self, thread: Thread) -> Entry:
        """A conversation.

        Raises:
            NotFoundError: there is none.
        """
        return self._one(_BY_ID, thread.key, f"there is no conversation {thread.name!r} about "
                                             f"{thread.knowledge_base!r}")[0]

    def linked(self, link: str) -> tuple[Entry, list[Turn]]:
        """A conversation by its link.

        Raises:
            NotFoundError: no conversation has it, or it was taken back.
        """
        entry, key = self._one(_BY_LINK, link, "no conversation has this link, or it is not shared any more")
        return entry, self._turns(key)

    def turns(self, thread: Thread) -> list[Turn]:
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
        """Forget a conversation; one that there is not is no error."""
        with self._saver.cursor() as cursor:
            cursor.execute("DELETE FROM banyan_turns WHERE conversation = ?", (thread.key,))
            cursor.execute("DELETE FROM banyan_conversations WHERE id = ?", (thread.key,))

    def rename_base(self, old: str, new: str) -> None:
        """A knowledge base has another name: conversations about it are found under that."""
        moved = "(SELECT client || '/' || :new || '/' || name FROM banyan_conversations WHERE id = {0})"
        of_base = "(SELECT id FROM banyan_conversations WHERE kb = :old)"
        names = {"old": old, "new": new}
        with self._saver.cursor() as cursor:
            for table, column in (("banyan_turns", "conversation"), ("banyan_threads", "id")):
                place = moved.format(f"{table}.{column}")
                cursor.execute(f"UPDATE {table} SET {column} = {place} WHERE {column} IN {of_base}",  # noqa: S608
                               names)
            cursor.execute("UPDATE banyan_conversations SET id = client || '/' || :new || '/' || name, kb = :new "
                           "WHERE kb = :old", names)

    def forget_base(self, kb: str) -> None:
        """A knowledge base is gone, and conversations about it with it."""
        of_base = "(SELECT id FROM banyan_conversations WHERE kb = ?)"
        with self._saver.cursor() as cursor:
            for table, column in (("banyan_turns", "conversation"), ("banyan_threads", "id")):
                cursor.execute(f"DELETE FROM {table} WHERE {column} IN {of_base}", (kb,))  # noqa: S608
            cursor.execute("DELETE FROM banyan_conversations WHERE kb = ?", (kb,))

    def _one(self, query: str, value: str, missing: str) -> tuple[Entry, str]:
        with self._saver.cursor(transaction=False) as cursor:
            row = cursor.execute(query, (value,)).fetchone()
        if row is None:
            raise NotFoundError(missing)
        return Entry(*row[1:]), row[0]

    def _turns(self, key: str) -> list[Turn]:
        with self._saver.cursor(transaction=False) as cursor:
            rows = cursor.execute("SELECT number, asked_at, question, answer, rating FROM banyan_turns WHERE "
                                  "conversation = ? ORDER BY number", (key,)).fetchall()
        return [Turn(number, asked_at, question, json.loads(answer), rating)
                for number, asked_at, question, answer, rating in rows]

    def _change(self, thread: Thread, statement: str, value: str | None) -> None:
        self.entry(thread)
        with self._saver.cursor() as cursor:
            cursor.execute(statement, (value, thread.key))
