"""The ledger's tables, the same in SQLite and in PostgreSQL, with statements that both understand."""

from functools import lru_cache

import sqlalchemy as sa
from sqlalchemy import Column, Connection, Index, Integer, Table, Text, text

METADATA = sa.MetaData()

# In PostgreSQL's own order texts would come as the server's language has them; SQLite compares their bytes.
TEXT = Text().with_variant(Text(collation="C"), "postgresql")
_REAL: sa.types.TypeEngine[float] = sa.REAL().with_variant(sa.DOUBLE_PRECISION(), "postgresql")


def _texts(*names: str) -> list[Column[str]]:
    return [Column(name, TEXT, nullable=False) for name in names]


def _text_keys(*names: str) -> list[Column[str]]:
    return [Column(name, TEXT, primary_key=True) for name in names]


def _integers(*names: str) -> list[Column[int]]:
    return [Column(name, Integer, nullable=False) for name in names]


def _real(name: str) -> Column[float]:
    return Column(name, _REAL, nullable=False)


def _number(name: str) -> Column[int]:
    return Column(name, Integer, primary_key=True, autoincrement=False)


def _owner(name: str, of: str, *, primary_key: bool = False) -> Column[str]:
    """Return a column that refers to the row of another table; when that is deleted, so is the row with this column."""
    return Column(name, TEXT, sa.ForeignKey(f"{of}.id", ondelete="CASCADE"), primary_key=primary_key, nullable=False)


META = Table("meta", METADATA, *_text_keys("key"), *_texts("value"), sqlite_with_rowid=False)

DOCUMENTS = Table("documents", METADATA, *_text_keys("id"),
                  *_texts("title", "text", "source", "metadata", "pages", "tables", "added_at"))
REVISIONS = Table("revisions", METADATA, _owner("document", "documents", primary_key=True),
                  *_texts("title", "text", "source", "metadata", "pages", "tables", "chunks"))
CHUNKS = Table(
    "chunks", METADATA, *_text_keys("id"), _owner("document", "documents"), *_integers("ordinal", "start", "end"),
    *_texts("heading"),
    Column("status", TEXT, sa.CheckConstraint("status IN ('pending', 'extracted', 'done', 'failed')"), nullable=False,
           server_default=text("'pending'")),
    Column("revision", Integer, nullable=False, server_default=text("0")),
    Index("chunks_by_document", "document", "ordinal"),
    Index("chunks_to_do", "status", "document", "ordinal", sqlite_where=text("status <> 'done'"),
          postgresql_where=text("status <> 'done'")))

EXTRACTIONS = Table("extractions", METADATA, _owner("chunk", "chunks", primary_key=True),
                    *_texts("reasoner", "extraction", "call"),
                    Index("extractions_by_call", "call", sqlite_where=text("call <> ''"),
                          postgresql_where=text("call <> ''")))
FAILURES = Table("failures", METADATA, _owner("chunk", "chunks", primary_key=True), *_texts("reason"),
                 Column("attempts", Integer, nullable=False, server_default=text("1")), *_texts("failed_at"))
REJECTIONS = Table("rejections", METADATA, _owner("chunk", "chunks"),
                   *_texts("document", "reason", "label", "text", "subject_type", "object_type"), _real("confidence"),
                   Index("rejections_by_chunk", "chunk"), Index("rejections_by_label", "reason", "label"))
REPAIRS = Table("repairs", METADATA, _owner("chunk", "chunks", primary_key=True), *_text_keys("repair"),
                *_integers("times"), sqlite_with_rowid=False)


def _admitted_table(name: str, *texts: str, confidence: bool = True) -> Table:
    """Return a table of admitted items of chunks, in order, each with the start and end of its words in the chunk."""
    return Table(name, METADATA, _owner("chunk", "chunks", primary_key=True),
                 _number("ordinal"), *_texts(*texts),
                 *_integers("start", "end"), *([_real("confidence")] if confidence else []), sqlite_with_rowid=False)


MENTIONS = _admitted_table("mentions", "name", "type", confidence=False)
FACTS = _admitted_table("facts", "head", "head_type", "relation", "tail", "tail_type", "time")
ATTRIBUTE_VALUES = _admitted_table("attribute_values", "entity", "entity_type", "attribute", "value", "normal", "time")

SCHEMA_VERSIONS = Table("schema_versions", METADATA, _number("version"),
                        *_texts("schema", "base", "decisions", "who", "decided_at"))
DECLINED = Table("declined", METADATA, *_text_keys("kind", "name"), *_texts("who", "why", "decided_at"),
                 sqlite_with_rowid=False)
SCHEMA_REQUESTS = Table(
    "schema_requests", METADATA, _owner("chunk", "chunks"),
    *_texts("document", "kind", "label", "subject_type", "object_type", "item"), *_integers("start", "end"),
    _real("confidence"), *_integers("declared"),
    Index("schema_requests_by_chunk", "chunk"), Index("schema_requests_by_label", "kind", "label"))

ENTITY_ALIASES = Table("entity_aliases", METADATA, *_text_keys("id"), *_texts("canonical", "type", "partner", "rule"),
                       _real("score"), *_texts("evidence"), sqlite_with_rowid=False)
ENTITY_VERDICTS = Table("entity_verdicts", METADATA, *_text_keys("first", "second"), *_integers("same"),
                        _real("confidence"), *_texts("reasoner", "statements"), sqlite_with_rowid=False)
ENTITY_DECISIONS = Table("entity_decisions", METADATA, _number("seq"),
                         *_texts("verdict", "first", "second", "who", "why", "decided_at"))
EDITS = Table("edits", METADATA, _number("number"),
              *_texts("edit", "who", "why", "decided_at", "undone_by", "undone_at"))

COMMUNITIES = Table("communities", METADATA, *_text_keys("id"), *_integers("level"), *_texts("parent"),
                    _real("cohesion"), *_texts("keywords", "members"))
SUMMARIES = Table("summaries", METADATA, *_text_keys("id"), *_texts("name", "summary", "shown"))

CALLS = Table("calls", METADATA, *_text_keys("key"), *_texts("step", "response", "documents"),
              *_integers("prompt_tokens", "completion_tokens"), sqlite_with_rowid=False)
TOKENS = Table("tokens", METADATA, *_text_keys("build", "document", "step", "model"),
               *_integers("calls", "prompt", "completion", "cached", "wasted_calls", "wasted"),
               sqlite_with_rowid=False)


POSITION, RESOLUTION = "position", "resolution"
"""Keys of `meta`: two numbers that triggers count up.

`POSITION` grows with every change of what everything else is derived from: documents, chunks, whether a chunk is done,
admitted items, the schema, and which fields are links. `RESOLUTION` grows with every change of aliases and of people's
edits. No writer has to count, so none can forget it.
"""
_ANY = ("INSERT", "UPDATE", "DELETE")
_PLACES = 'UPDATE OF document, ordinal, start, "end", heading, revision'
_COUNTED: tuple[tuple[str, str, str, str], ...] = (
    *((POSITION, table.name, event, "") for table in (DOCUMENTS, MENTIONS, FACTS, ATTRIBUTE_VALUES) for event in _ANY),
    *((POSITION, "chunks", event, "") for event in ("INSERT", "DELETE", _PLACES)),
    (POSITION, "chunks", "UPDATE OF status", "(NEW.status = 'done') <> (OLD.status = 'done')"),
    (POSITION, "schema_versions", "INSERT", "NEW.version > 1"),
    (POSITION, "declined", "INSERT", "NEW.kind = 'link'"), (POSITION, "declined", "DELETE", "OLD.kind = 'link'"),
    *((RESOLUTION, table.name, event, "") for table in (ENTITY_ALIASES, EDITS) for event in _ANY))
"""The key to count up, and the table, event and condition of the trigger that does it."""
# Once for each transaction: a row that one transaction changes thousands of times is slow to read in it.
_COUNTING_IN_POSTGRESQL = """CREATE FUNCTION count_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
UPDATE meta SET value = (value::bigint + 1)::text WHERE key = TG_ARGV[0] AND xmin <> pg_current_xact_id()::xid;
RETURN NULL; END $$"""


def create_tables(connection: Connection) -> None:
    """Create the tables and triggers of a new ledger."""
    METADATA.create_all(connection, checkfirst=False)
    is_postgresql = connection.dialect.name == "postgresql"
    if is_postgresql:
        connection.exec_driver_sql(_COUNTING_IN_POSTGRESQL)
    for number, (key, table, event, condition) in enumerate(_COUNTED):
        when = f"WHEN ({condition})" if condition else ""
        action = (f"EXECUTE FUNCTION count_change('{key}')" if is_postgresql else
                  f"BEGIN UPDATE meta SET value = value + 1 WHERE key = '{key}'; END")  # noqa: S608
        connection.exec_driver_sql(
            f"CREATE TRIGGER counting_{number} AFTER {event} ON {table} FOR EACH ROW {when} {action}")
    connection.execute(META.insert(), [{"key": POSITION, "value": "0"}, {"key": RESOLUTION, "value": "0"}])


@lru_cache
def insertion(table: Table) -> str:
    """Return the statement that inserts rows."""
    names = table.columns.keys()
    return (f"INSERT INTO {table.name} ({', '.join(map(quote, names))}) "  # noqa: S608
            f"VALUES ({', '.join(f':{name}' for name in names)})")


@lru_cache
def replacement(table: Table, *columns: str) -> str:
    """Return the statement that inserts a row, or updates the row with the same key in some columns or in all."""
    keys = table.primary_key.columns.keys()
    changed = columns or [column.name for column in table.columns if not column.primary_key]
    return (f"{insertion(table)} ON CONFLICT ({', '.join(map(quote, keys))}) DO UPDATE SET "
            f"{', '.join(f'{quote(name)} = excluded.{quote(name)}' for name in changed)}")


def quote(name: str) -> str:
    """Return a column's name in quotation marks, as it may be a word of SQL."""
    return f'"{name}"'


def among(column: str) -> str:
    """Return an SQL condition: the column's value is in a JSON list, which is the parameter `:among`."""
    return f"{column} IN (SELECT value FROM json_each(CAST(:among AS TEXT)))"  # noqa: S608
