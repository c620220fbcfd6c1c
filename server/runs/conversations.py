"""Stored conversations: answers with citations and trace, a title, ratings, a link, and the messages for follow-ups.

REST and the LangServe chat share them: a conversation can continue through either. Each is a thread, which belongs to
one knowledge base and one client, and has a name; the same name of another client is another thread.
"""

import json
import secrets
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, delete, func, insert, select, text, update

from ...config import Settings
from ...graph_store.layout import check_names, split_names
from ...schemas.documents import EVERYTHING, Scope
from ...schemas.retrieval import AnswerRow
from ...subagent.tool import AskResult
from ...text.cleaning import clean_json, clean_text
from ..responses import NotFoundError
from ..server_database import CONVERSATIONS, FILE, TURNS, ServerDatabase

THREAD_NAME = r"^[A-Za-z0-9_.:-]{1,128}$"
KEPT_TURNS = 200  # the newest turns to store of a conversation
READ_TURNS = 50  # the newest turns to send with a follow-up; the reasoner reads them all
_MOST_LISTED = 200  # the newest conversations to list for a client and a knowledge base
_TITLE_LENGTH = 80


class AskAnswer(AskResult):
    """An answer with its citations."""

    rows: list[AnswerRow] = Field(default=[], description="facts and rows of tables that the answer rests on")
    trace: list[dict[str, Any]] | None = None
    turn: int | None = Field(default=None, description="its number in the conversation, if it is in one")


class ConversationTurn(BaseModel):
    """A question with the answer that was given."""

    number: int
    asked_at: str
    question: str
    documents: list[str] = Field(default=[], description="the documents that the question was limited to; empty: all")
    where: dict[str, str] = Field(default={}, description="their metadata; empty: any")
    answer: AskAnswer
    rating: int = Field(description="1: good, -1: bad, 0: not rated")


class ConversationItem(BaseModel, from_attributes=True):
    """A conversation in a list."""

    name: str = Field(description="the name of its thread")
    title: str
    link: str | None
    started_at: str
    used_at: str


class SharedConversation(BaseModel):
    """A conversation read through its link."""

    kb: str
    title: str
    turns: list[ConversationTurn]


_ENTRIES = select(*(CONVERSATIONS.c[name] for name in ConversationItem.model_fields))


class Thread(NamedTuple):
    """A conversation's identity: the client that owns it, the knowledge base, and its name."""

    client: str
    knowledge_base: str
    name: str

    @property
    def key(self) -> str:
        """The id of the conversation's row: CLIENT/KNOWLEDGE_BASE/NAME, of which the last two contain no slash."""
        return f"{self.client}/{check_names(self.knowledge_base)}/{self.name}"


class Conversations:
    """The conversations of a server, shared by its processes."""

    def __init__(self, database: ServerDatabase) -> None:
        self._db = database

    def add(self, thread: Thread, question: str, answer: dict[str, Any], scope: Scope = EVERYTHING, *,
            follows: bool = False) -> int | None:
        """Store a question with the fields of its answer as the next turn of a conversation; return its number, from 1.

        The first turn creates the conversation, and turns older than the newest `KEPT_TURNS` are deleted. If the
        question `follows` earlier turns whose conversation was deleted meanwhile, nothing is stored, and None returned.
        """
        now, key, question = datetime.now(UTC), thread.key, clean_text(question)
        second = now.isoformat(timespec="seconds")
        limits = {} if scope.is_everything else {"documents": list(scope.documents), "where": dict(scope.where)}
        title = " ".join(question.split())
        if len(title) > _TITLE_LENGTH:
            title = f"{title[:_TITLE_LENGTH - 1]}…"
        with self._db.transaction() as connection:
            if follows and not connection.execute(select(CONVERSATIONS.c.id).where(CONVERSATIONS.c.id == key)).first():
                return None
            connection.execute(text(
                "INSERT INTO banyan_conversations (id, client, kb, name, title, started_at, used_at) "
                "VALUES (:id, :client, :kb, :name, :title, :started, :used) "
                "ON CONFLICT (id) DO UPDATE SET used_at = excluded.used_at"),
                {"id": key, "client": thread.client, "kb": thread.knowledge_base, "name": thread.name, "title": title,
                 "started": second, "used": now.isoformat(timespec="microseconds")})
            is_own = TURNS.c.conversation == key
            last = connection.execute(select(func.max(TURNS.c.number)).where(is_own)).scalar() or 0
            connection.execute(insert(TURNS).values(conversation=key, number=last + 1, asked_at=second,
                                                    question=question, answer=json.dumps(clean_json(answer | limits))))
            connection.execute(delete(TURNS).where(is_own, TURNS.c.number <= last + 1 - KEPT_TURNS))
        return last + 1

    def messages(self, thread: Thread) -> list[AnyMessage]:
        """Return the newest questions and answers as messages, oldest first; empty for a new conversation."""
        return [message for turn in self.turns(thread.key)[-READ_TURNS:]
                for message in (HumanMessage(turn.question), AIMessage(turn.answer.answer))]

    def all(self, client: str, kb: str) -> list[ConversationItem]:
        """Return a client's conversations about a knowledge base, most recently used first."""
        with self._db.reading() as connection:
            rows = connection.execute(_ENTRIES.where(
                CONVERSATIONS.c.client == client, CONVERSATIONS.c.kb == kb).order_by(
                CONVERSATIONS.c.used_at.desc()).limit(_MOST_LISTED)).fetchall()
        return [ConversationItem.model_validate(row) for row in rows]

    def entry(self, thread: Thread) -> ConversationItem:
        """Return a conversation without its turns; raise NotFoundError if there is none."""
        with self._db.reading() as connection:
            row = connection.execute(_ENTRIES.where(CONVERSATIONS.c.id == thread.key)).first()
        if row is None:
            raise NotFoundError(f"there is no conversation {thread.name!r} about {thread.knowledge_base!r}: "
                                "`GET /api/threads` lists them")
        return ConversationItem.model_validate(row)

    def by_link(self, link: str, is_readable: Callable[[str], bool] = lambda _: True) -> SharedConversation:
        """Return a conversation by its link; raise NotFoundError if there is none, or its bases may not be read."""
        with self._db.reading() as connection:
            row = connection.execute(select(CONVERSATIONS).where(CONVERSATIONS.c.link == link)).first()
        if row is None or not is_readable(row.kb):
            raise NotFoundError("no conversation has this link, or it is not shared any more")
        return SharedConversation(kb=row.kb, title=row.title, turns=self.turns(row.id))

    def turns(self, key: str) -> list[ConversationTurn]:
        """Return the turns of a conversation, by its row's id, oldest first; empty if there is none."""
        with self._db.reading() as connection:
            rows = connection.execute(
                select(TURNS).where(TURNS.c.conversation == key).order_by(TURNS.c.number)).mappings().fetchall()
        turns = []
        for row in rows:
            answer = json.loads(row["answer"])  # it has the scope, too
            turns.append(ConversationTurn(**{**row, "documents": answer.pop("documents", []),
                                             "where": answer.pop("where", {}), "answer": answer}))
        return turns

    def change(self, thread: Thread, *, title: str | None = None, shared: bool | None = None) -> ConversationItem:
        """Rename a conversation, or share it through a secret link or no longer; None means no change of that."""
        values: dict[str, str | None] = {}
        if title is not None:
            values["title"] = title.strip() or title  # a title of spaces stays as it is
        if shared is not None:
            values["link"] = (self.entry(thread).link or secrets.token_urlsafe(16)) if shared else None
        if values:
            with self._db.transaction() as connection:
                connection.execute(update(CONVERSATIONS).where(CONVERSATIONS.c.id == thread.key).values(values))
        return self.entry(thread)

    def rate(self, thread: Thread, number: int, rating: int) -> None:
        """Store a person's rating of an answer; raise NotFoundError if there is no such turn."""
        with self._db.transaction() as connection:
            if not connection.execute(update(TURNS).where(
                    TURNS.c.conversation == thread.key, TURNS.c.number == number).values(rating=rating)).rowcount:
                raise NotFoundError(f"the conversation {thread.name!r} has no turn {number}: open it again")

    def rename_base(self, old: str, new: str) -> None:
        """Move the conversations about a knowledge base to its new name, in place of an earlier one's."""
        self.forget_bases(lambda name: name == new)
        with self._db.transaction() as connection:
            for row in connection.execute(select(CONVERSATIONS)).fetchall():
                bases = split_names(row.kb)
                if old in bases:
                    kb = ",".join(new if base == old else base for base in bases)
                    key = Thread(row.client, kb, row.name).key
                    connection.execute(update(TURNS).where(TURNS.c.conversation == row.id).values(conversation=key))
                    connection.execute(update(CONVERSATIONS).where(CONVERSATIONS.c.id == row.id).values(id=key, kb=kb))

    def delete(self, thread: Thread) -> None:
        """Delete a conversation, if it exists. If a follow-up in it is being answered, its turn is not stored."""
        self._delete(CONVERSATIONS.c.id == thread.key)

    def forget_client(self, client: str) -> None:
        """Delete the conversations of a client, so that a later key of the same name does not get them."""
        self._delete(CONVERSATIONS.c.client == client)

    def forget_bases(self, is_gone: Callable[[str], bool]) -> None:
        """Delete the conversations about knowledge bases whose names fulfil a condition, alone or with others."""
        with self._db.reading() as connection:
            asked = connection.execute(select(CONVERSATIONS.c.kb).distinct()).scalars().all()
        self._delete(CONVERSATIONS.c.kb.in_([names for names in asked if any(map(is_gone, split_names(names)))]))

    def _delete(self, condition: ColumnElement[bool]) -> None:
        """Delete the conversations that fulfil a condition, with their turns, from the log of changes as well."""
        with self._db.transaction() as connection:
            ids = select(CONVERSATIONS.c.id).where(condition)
            connection.execute(delete(TURNS).where(TURNS.c.conversation.in_(ids)))
            connection.execute(delete(CONVERSATIONS).where(condition))
        self._db.empty_log()


def move_conversations(settings: Settings, old: str, new: str = "") -> None:
    """Update the conversations after a command has renamed a knowledge base, or dropped it (`new` is empty)."""
    if settings.database is None and not (settings.home / FILE).is_file():
        return  # no server has stored a conversation
    with closing(ServerDatabase.of(settings)) as database:
        conversations = Conversations(database)
        if new:
            conversations.rename_base(old, new)
        else:
            conversations.forget_bases(lambda name: name == old)
