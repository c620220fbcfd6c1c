"""The tables of the server's database, the same in SQLite and in PostgreSQL; see `server_database.py`."""

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, Table, text

from ..graph_store.ledger.tables import TEXT

METADATA = MetaData()


def _text(name: str, *, key: bool = False) -> Column[str]:
    return Column(name, TEXT, primary_key=key, nullable=False)


def _number(name: str, *, key: bool = False) -> Column[int]:
    return Column(name, Integer, primary_key=key, nullable=False, autoincrement=False)


CONVERSATIONS = Table(
    "banyan_conversations", METADATA, _text("id", key=True), _text("client"), _text("kb"), _text("name"),
    _text("title"), Column("link", TEXT, unique=True), _text("started_at"), _text("used_at"))
TURNS = Table(
    "banyan_turns", METADATA, _text("conversation", key=True), _number("number", key=True), _text("asked_at"),
    _text("question"), _text("answer"), Column("rating", Integer, nullable=False, server_default=text("0")))
BUSY = Table("banyan_busy", METADATA, _text("conversation", key=True), _text("process"))

BUILDS = Table(
    "banyan_jobs", METADATA, _text("id", key=True), _text("kb"), _text("state"), _text("process"), _text("record"),
    Index("banyan_jobs_by_state", "state"))
UPLOADS = Table(
    "banyan_uploads", METADATA, _text("build", key=True), _number("file", key=True), _number("part", key=True),
    _text("name"), Column("content", LargeBinary, nullable=False))

USAGE = Table(
    "banyan_usage", METADATA, _text("client", key=True), _text("day", key=True),
    Column("tokens", BigInteger, nullable=False))
KEYS = Table("banyan_keys", METADATA, _text("name", key=True), Column("record", TEXT))
"""The keys of servers that share PostgreSQL: a record, or null for a revoked key."""
