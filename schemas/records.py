"""Records: the rows of tables as they stand in documents, what their columns hold, and the results of SQL over them."""

from typing import Any, Literal

from pydantic import Field

from .documents import Citation, Frozen

ColumnKind = Literal["number", "date", "boolean", "list", "text"]
"""What the cells of a column are. A column has one kind; cells that are not of it keep their text and are counted."""
TableKind = Literal["records", "documents", "entities", "facts", "values", "relation"]
"""Where a table comes from: rows of documents, the documents themselves, or the knowledge graph."""


class ColumnInfo(Frozen):
    """A column of a table, as `banyan tables` and prompts show it."""

    name: str = Field(description="its name in SQL: in snake case, unique in its table")
    title: str = Field(description="its name as the documents have it")
    kind: ColumnKind
    unit: str = Field(default="", description="the unit or currency of all its numbers")
    units: tuple[str, ...] = Field(default=(), description="the units of its numbers, if they have several: then the "
                                   "column is text, and NAME_number and NAME_unit stand beside it")
    distinct: int = Field(default=0, ge=0)
    empty: int = Field(default=0, ge=0, description="cells without a text")
    untyped: int = Field(default=0, ge=0, description="cells that are not of the column's kind; NULL in SQL, and their "
                         "text is in NAME_text")
    frequent: tuple[tuple[str, int], ...] = Field(default=(), description="its most frequent values and their numbers")
    note: str = Field(default="", description="what its cells do not show and was decided without proof: what a point "
                      "means, or the order of day and month")
    smallest: str = ""
    largest: str = ""
    last: str = Field(default="", description="if some of its dates say a month or a year alone: the column with the "
                      "last day that each may mean, as this one has the first; NAME_text has what they say")


class TableInfo(Frozen):
    """A table that SQL can read."""

    name: str = Field(description="its name in SQL")
    title: str = Field(description="what it is called in the documents")
    kind: TableKind
    rows: int = Field(ge=0)
    documents: int = Field(default=0, ge=0, description="the documents that its rows are from")
    columns: tuple[ColumnInfo, ...] = ()


class LeftOut(Frozen):
    """How many of the records that a result rests on are not in its numbers, for lack of a value in a column."""

    column: str
    empty: int = Field(default=0, ge=0)
    untyped: int = Field(default=0, ge=0)


class Basis(Frozen):
    """What a computed number rests on: the query, how many records, and how many of these lack a value for it.

    `understood` says in words how a question was read as the query; "" if a model wrote it. `unread_files` could not
    be read, so their records are missing.
    """

    query: str
    understood: str = ""
    records: int | None
    left_out: tuple[LeftOut, ...] = ()
    unread_files: int = 0


class SqlResult(Frozen):
    """The result of one SELECT, and the records that it rests on."""

    sql: str
    columns: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    units: tuple[str, ...] = Field(description="the unit of each column's numbers, \"\" if they have none")
    rows: tuple[tuple[Any, ...], ...] = Field(description="JSON values; dates are in ISO form")
    total: int = Field(ge=0, description="the rows of the result, of which `rows` may be the first")
    records: int | None = Field(description="how many records the result rests on; None if that cannot be told")
    left_out: tuple[LeftOut, ...] = ()
    citations: tuple[Citation, ...] = Field(default=(), description="the first records that it rests on")
    row_citations: tuple[int | None, ...] = Field(default=(), description="of a list of records, the id of the "
                                                  "citation of each of the first rows; None: not certain")
    row_records: tuple[tuple[Citation, ...], ...] = Field(default=(), exclude=True, description="records that each of "
                                                          "the first rows rests on")
    notes: tuple[str, ...] = ()
    unread_files: int = Field(default=0, description="files that could not be read, whose records are missing")
