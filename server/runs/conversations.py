"""Stored conversations: answers with citations and trace, a title, ratings, a link, and the messages for follow-ups.

REST and the LangServe chat share them: a conversation can continue through either. Each is a thread, which belongs to
one knowledge base and one client, and has a name; the same name of another client is another thread.
"""

import json
import re
import secrets
from collections.abc import Collection
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from sqlalchemy import ColumnElement, Connection, RowMapping, Select, delete, func, insert, select, text, update

from ...config import Settings
from ...graph_store.layout import check_name
from ...schemas.documents import EVERYTHING, Scope
from ...schemas.errors import BanyanError
from ...text.cleaning import clean_json, clean_text
from ..error_responses import NotFoundError
from ..responses import ConversationItem, ConversationTurn, SharedConversation
from ..server_database import CONVERSATIONS, FILE, TURNS, ServerDatabase

MAX_THREAD_NAME = 128
THREAD_NAME = rf"^[A-Za-z0-9_.:-]{{1,{MAX_THREAD_NAME}}}$"
KEPT_TURNS = 200
"""The newest turns to store of a conversation."""
READ_TURNS = 50
"""The newest turns to send with a follow-up; the reasoner reads them all."""
_LISTED = 200
"""The newest conversations to list for a client and a knowledge base."""
_TITLE = 80
_ENTRIES = select(*(CONVERSATIONS.c[name] for name in ConversationItem.model_fields))


class ThreadNameError(BanyanError):
    """A thread cannot have this name."""


class Thread(NamedTuple):
    """A conversation's identity: the client that owns it, the knowledge base, and its name."""

    client: str
    knowledge_base: str
    name: str

    @property
    def key(self) -> str:
        """The key under which it is stored: no client reaches another one's threads, regardless of the names it sends.

        Raises:
            ThreadNameError, KnowledgeBaseNameError: a name has the wrong form; the message says which form is right.
        """
        if not isinstance(self.name, str) or not re.fullmatch(THREAD_NAME, self.name):
            raise ThreadNameError(f"{str(self.name)[:MAX_THREAD_NAME]!r} cannot name a thread: use 1 to "
                                  f"{MAX_THREAD_NAME} letters from a to z, digits and '-', '_', '.', ':'")
        # The last two parts hold no slash.
        return f"{self.client}/{check_name(self.knowledge_base)}/{self.name}"


class Conversations:
    """The conversations of a server, shared by its processes."""

    def __init__(self, database: ServerDatabase) -> None:
        """Store conversations in the server's database, which its processes share."""
        self._db = database

    def add(self, thread: Thread, question: str, answer: dict[str, Any], scope: Scope = EVERYTHING, *,
            follows: bool = False) -> int | None:
        """Store a turn with its scope, starting the conversation with the first; return the turn's number, from 1.

        Remove characters that cannot be stored or sent from its texts (`clean_text`). A turn that `follows` others is
        not stored if the conversation was deleted meanwhile.
        """
        now, key = datetime.now(UTC), thread.key
        question = clean_text(question)
        title = " ".join(question.split())
        title = title if len(title) <= _TITLE else f"{title[:_TITLE - 1]}…"
        with self._db.transaction() as connection:
            if follows and not connection.execute(select(CONVERSATIONS.c.id).where(CONVERSATIONS.c.id == key)).first():
                return None
            connection.execute(text(
                "INSERT INTO banyan_conversations (id, client, kb, name, title, started_at, used_at) "
                "VALUES (:id, :client, :kb, :name, :title, :started, :used) "
                "ON CONFLICT (id) DO UPDATE SET used_at = excluded.used_at"),
                {"id": key, "client": thread.client, "kb": thread.knowledge_base, "name": thread.name, "title": title,
                 "started": now.isoformat(timespec="seconds"), "used": now.isoformat(timespec="microseconds")})
            last = connection.execute(select(func.max(TURNS.c.number)).where(TURNS.c.conversation == key)).scalar() or 0
            connection.execute(insert(TURNS).values(
                conversation=key, number=last + 1, asked_at=now.isoformat(timespec="seconds"), question=question,
                answer=json.dumps(clean_json(answer | _scope_fields(scope)))))
            connection.execute(delete(TURNS).where(TURNS.c.conversation == key,
                                                   TURNS.c.number <= last + 1 - KEPT_TURNS))
        return last + 1

    def messages(self, thread: Thread) -> list[AnyMessage]:
        """Return the newest questions and answers, oldest first; empty for a new thread."""
        with self._db.reading() as connection:
            rows = connection.execute(select(TURNS.c.question, TURNS.c.answer).where(
                TURNS.c.conversation == thread.key).order_by(TURNS.c.number.desc()).limit(READ_TURNS)).fetchall()
        return [message for question, answer in reversed(rows)
                for message in (HumanMessage(question), AIMessage(json.loads(answer)["answer"]))]

    def all(self, client: str, kb: str) -> list[ConversationItem]:
        """Return a client's conversations about a knowledge base, most recently used first."""
        with self._db.reading() as connection:
            rows = connection.execute(_ENTRIES.where(
                CONVERSATIONS.c.client == client, CONVERSATIONS.c.kb == kb).order_by(
                CONVERSATIONS.c.used_at.desc()).limit(_LISTED)).mappings().fetchall()
        return [ConversationItem.model_validate(dict(row)) for row in rows]

    def entry(self, thread: Thread) -> ConversationItem:
        """Return a conversation.

        Raises:
            NotFoundError: there is no such conversation.
        """
        row = self._one(_ENTRIES.where(CONVERSATIONS.c.id == thread.key), NotFoundError(
            f"there is no conversation {thread.name!r} about {thread.knowledge_base!r}"))
        return ConversationItem.model_validate(dict(row))

    def by_link(self, link: str) -> SharedConversation:
        """Return a conversation by its link.

        Raises:
            NotFoundError: no conversation has this link, or it is no longer shared.
        """
        row = self._one(select(CONVERSATIONS).where(CONVERSATIONS.c.link == link), no_link())
        return SharedConversation(kb=row["kb"], title=row["title"], turns=self._turns(row["id"]))

    def turns(self, thread: Thread) -> list[ConversationTurn]:
        """Return the turns of a conversation, oldest first; empty if it does not exist."""
        return self._turns(thread.key)

    def rename(self, thread: Thread, title: str) -> None:
        """Give a conversation another title.

        Raises:
            NotFoundError: there is no such conversation.
        """
        self._change(thread, title=title)

    def share(self, thread: Thread, *, shared: bool) -> str | None:
        """Share a conversation through a secret link, or stop sharing it; return the link.

        Raises:
            NotFoundError: there is no such conversation.
        """
        link = (self.entry(thread).link or secrets.token_urlsafe(16)) if shared else None
        self._change(thread, link=link)
        return link

    def rate(self, thread: Thread, number: int, rating: int) -> None:
        """Store a person's rating of an answer.

        Raises:
            NotFoundError: there is no such turn.
        """
        with self._db.transaction() as connection:
            if not connection.execute(update(TURNS).where(
                    TURNS.c.conversation == thread.key, TURNS.c.number == number).values(rating=rating)).rowcount:
                raise NotFoundError(f"the conversation {thread.name!r} has no turn {number}")

    def delete(self, thread: Thread) -> None:
        """Delete a conversation, if it exists; a question of it that is being answered is not stored."""
        with self._db.transaction() as connection:
            _delete(connection, CONVERSATIONS.c.id == thread.key)
        self._db.empty_log()

    def rename_base(self, old: str, new: str) -> None:
        """Move the conversations about a knowledge base to its new name.

        Delete those about an earlier knowledge base of that name.
        """
        names = {"old": old, "new": new}
        with self._db.transaction() as connection:
            _delete(connection, CONVERSATIONS.c.kb == new)
            connection.execute(text(
                "UPDATE banyan_turns SET conversation = (SELECT client || '/' || CAST(:new AS TEXT) || '/' || name "
                "FROM banyan_conversations WHERE id = conversation) WHERE conversation IN "
                "(SELECT id FROM banyan_conversations WHERE kb = :old)"), names)
            connection.execute(text(
                "UPDATE banyan_conversations SET id = client || '/' || CAST(:new AS TEXT) || '/' || name, kb = :new "
                "WHERE kb = :old"), names)

    def forget_base(self, kb: str) -> None:
        """Delete the conversations about a deleted knowledge base, and their links."""
        with self._db.transaction() as connection:
            _delete(connection, CONVERSATIONS.c.kb == kb)
        self._db.empty_log()

    def sweep(self, there: Collection[str]) -> None:
        """Delete the conversations about knowledge bases that no longer exist."""
        with self._db.transaction() as connection:
            _delete(connection, CONVERSATIONS.c.kb.not_in(list(there)))
        self._db.empty_log()

    def _one(self, query: Select[Any], missing: NotFoundError) -> RowMapping:
        with self._db.reading() as connection:
            row = connection.execute(query).mappings().first()
        if row is None:
            raise missing
        return row

    def _turns(self, key: str) -> list[ConversationTurn]:
        with self._db.reading() as connection:
            rows = connection.execute(
                select(TURNS).where(TURNS.c.conversation == key).order_by(TURNS.c.number)).fetchall()
        return [_turn(*row) for row in rows]

    def _change(self, thread: Thread, **values: str | None) -> None:
        self.entry(thread)
        with self._db.transaction() as connection:
            connection.execute(update(CONVERSATIONS).where(CONVERSATIONS.c.id == thread.key).values(**values))


def _scope_fields(scope: Scope) -> dict[str, Any]:
    """Return the scope as fields of a stored answer."""
    return {} if scope.is_everything else {"documents": list(scope.documents), "where": dict(scope.where)}


def _turn(_conversation: str, number: int, asked_at: str, question: str, stored: str, rating: int) -> ConversationTurn:
    """Read a row of the table of turns."""
    answer = json.loads(stored)
    return ConversationTurn(number=number, asked_at=asked_at, question=question, documents=answer.pop("documents", []),
                            where=answer.pop("where", {}), answer=answer, rating=rating)


def no_link() -> NotFoundError:
    """Return the error for a link that does not exist, or not for this client."""
    return NotFoundError("no conversation has this link, or it is not shared any more")


def move_conversations(settings: Settings, old: str, new: str = "") -> None:
    """Update the conversations after a command, rather than the server, has renamed or dropped a knowledge base.

    Args:
        settings: the location of the server's database.
        old: the knowledge base's old name.
        new: its new name; empty if it was dropped.
    """
    if settings.database is None and not (settings.home / FILE).is_file():
        return
    with closing(ServerDatabase.of(settings)) as database:
        conversations = Conversations(database)
        if new:
            conversations.rename_base(old, new)
        else:
            conversations.forget_base(old)


def _delete(connection: Connection, which: ColumnElement[bool]) -> None:
    connection.execute(delete(TURNS).where(TURNS.c.conversation.in_(select(CONVERSATIONS.c.id).where(which))))
    connection.execute(delete(CONVERSATIONS).where(which))
