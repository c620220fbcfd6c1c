"""The ledger's tables, the same in SQLite and in PostgreSQL, with statements that both understand."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Column, Connection, Index, Integer, Table, Text, text

METADATA = sa.MetaData()

# In PostgreSQL's own order texts would come as the server's language has them; SQLite compares their bytes.
TEXT = Text().with_variant(Text(collation="C"), "postgresql")
_TYPES: dict[str, Any] = {"": TEXT, "int": Integer, "real": sa.REAL().with_variant(sa.DOUBLE_PRECISION(), "postgresql")}
_COLUMN = re.compile(r"(\w+)(\*?)(?:>(\w+))?(?::(\w+))?")
"""A column's name, whether it is part of the key, the table to whose row it refers, and its type."""


def _table(name: str, columns: str, *others: sa.schema.SchemaItem, rowid: bool = True) -> Table:
    """Return a table of columns that always have a value, such as "chunk*>chunks reason times:int" (see `_COLUMN`)."""
    table_columns: list[Column[Any]] = []
    for column, key, owner, kind in _COLUMN.findall(columns):
        references = [sa.ForeignKey(f"{owner}.id", ondelete="CASCADE")] if owner else []
        table_columns.append(Column(column, _TYPES[kind], *references, primary_key=bool(key), nullable=False,
                                    autoincrement=False))
    # Without rowid, SQLite stores rows in the order of their keys, which suits small ones that are read by key.
    return Table(name, METADATA, *table_columns, *others, sqlite_with_rowid=rowid)


def _default(name: str, kind: Any, value: str, *others: sa.schema.SchemaItem) -> Column[Any]:
    """Return a column that has a value, an SQL expression, in rows that are inserted without one."""
    return Column(name, kind, *others, nullable=False, server_default=text(value))


def _partial_index(name: str, condition: str, *columns: str) -> Index:
    return Index(name, *columns, sqlite_where=text(condition), postgresql_where=text(condition))


META = _table("meta", "key* value", rowid=False)

DOCUMENTS = _table("documents", "id* title text source metadata pages tables added_at")
REVISIONS = _table("revisions", "document*>documents title text source metadata pages tables chunks")
CHUNKS = _table(
    "chunks", "id* document>documents ordinal:int start:int end:int heading",
    _default("status", TEXT, "'pending'", sa.CheckConstraint("status IN ('pending', 'extracted', 'done', 'failed')")),
    _default("revision", Integer, "0"), Index("chunks_by_document", "document", "ordinal"),
    _partial_index("chunks_to_do", "status <> 'done'", "status", "document", "ordinal"))

# Nothing fills the column `call` any more; without it, ledgers of this format would count as damaged.
EXTRACTIONS = _table("extractions", "chunk*>chunks reasoner extraction call",
                     _partial_index("extractions_by_call", "call <> ''", "call"))
FAILURES = _table("failures", "chunk*>chunks reason failed_at", _default("attempts", Integer, "1"))
REJECTIONS = _table("rejections", "chunk>chunks document reason label text subject_type object_type confidence:real",
                    Index("rejections_by_chunk", "chunk"), Index("rejections_by_label", "reason", "label"))
REPAIRS = _table("repairs", "chunk*>chunks repair* times:int", rowid=False)

# What is admitted of chunks, in order, each with the start and end of its words in the chunk.
MENTIONS = _table("mentions", "chunk*>chunks ordinal*:int name type start:int end:int", rowid=False)
FACTS = _table("facts", "chunk*>chunks ordinal*:int head head_type relation tail tail_type time start:int end:int "
                        "confidence:real", rowid=False)
ATTRIBUTE_VALUES = _table("attribute_values", "chunk*>chunks ordinal*:int entity entity_type attribute value normal "
                                              "time start:int end:int confidence:real", rowid=False)

SCHEMA_VERSIONS = _table("schema_versions", "version*:int schema base decisions who decided_at")
DECLINED = _table("declined", "kind* name* who why decided_at", rowid=False)
SCHEMA_REQUESTS = _table("schema_requests", "chunk>chunks document kind label subject_type object_type item "
                                            "start:int end:int confidence:real declared:int",
                         Index("schema_requests_by_chunk", "chunk"), Index("schema_requests_by_label", "kind", "label"))

ENTITY_ALIASES = _table("entity_aliases", "id* canonical type partner rule score:real evidence", rowid=False)
ENTITY_VERDICTS = _table("entity_verdicts", "first* second* same:int confidence:real reasoner statements", rowid=False)
ENTITY_DECISIONS = _table("entity_decisions", "seq*:int verdict first second who why decided_at")
EDITS = _table("edits", "number*:int edit who why decided_at undone_by undone_at")

COMMUNITIES = _table("communities", "id* level:int parent cohesion:real keywords members")
SUMMARIES = _table("summaries", "id* name summary shown")

CALLS = _table("calls", "key* step response documents prompt_tokens:int completion_tokens:int", rowid=False)
TOKENS = _table("tokens", "build* document* step* model* calls:int prompt:int completion:int cached:int "
                          "wasted_calls:int wasted:int", rowid=False)

# Keys of `meta`: two numbers that triggers count up (see `_COUNTED`), so that no writer can forget to.
POSITION = "position"  # grows with every change of what all else is derived from; the first schema precedes that
RESOLUTION = "resolution"  # grows with every change of aliases and of people's edits
_ANY = ("INSERT", "UPDATE", "DELETE")
_PLACES = 'UPDATE OF document, ordinal, start, "end", heading, revision'
# Nothing declines a 'link' any more; without its triggers, ledgers of this format would count as damaged.
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
    # The triggers only update these rows.
    connection.execute(META.insert(), [{"key": POSITION, "value": "0"}, {"key": RESOLUTION, "value": "0"}])


@lru_cache
def insertion(table: Table) -> str:
    """Return the statement that inserts rows."""
    names = table.columns.keys()
    return (f"INSERT INTO {table.name} ({quote_names(names)}) "  # noqa: S608
            f"VALUES ({', '.join(f':{name}' for name in names)})")


@lru_cache
def replacement(table: Table, *columns: str) -> str:
    """Return the statement that inserts a row, or updates the row with the same key in some columns or in all."""
    updated = columns or [column.name for column in table.columns if not column.primary_key]
    assignments = (f'"{name}" = excluded."{name}"' for name in updated)
    return (f"{insertion(table)} ON CONFLICT ({quote_names(table.primary_key.columns.keys())}) DO UPDATE SET "
            f"{', '.join(assignments)}")


def quote_names(names: Iterable[str]) -> str:
    """Return columns' names in quotation marks, as they may be words of SQL."""
    return ", ".join(f'"{name}"' for name in names)


def among(column: str) -> str:
    """Return an SQL condition: the column's value is in a JSON list, which is the parameter `:among`."""
    return f"{column} IN (SELECT value FROM json_each(CAST(:among AS TEXT)))"  # noqa: S608
