"""Check that a statement is one SELECT over known tables that calls only known functions, and rewrite it to be run.

sqlglot reads the statement and gives each table its full name. What DuckDB is to run is then checked again as DuckDB
itself reads it, so the two cannot differ in what they allow.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

import duckdb
import orjson
import sqlglot
from rapidfuzz import fuzz, process
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from ...schemas.errors import BanyanError
from ...schemas.records import TableInfo
from .graph_tables import FACTS, VALUES
from .logical_tables import ALLOWED, HIDDEN
from .table_file import database_of

# Its warnings repeat the statement, and what clients ask is not for the log.
logging.getLogger("sqlglot").setLevel(logging.ERROR)
DIALECT = "duckdb"
LONGEST = 20_000  # characters of a statement
MOST_WORDS = 2_000  # words and signs of a statement: reading takes more than twice as long for twice as many
MOST_TABLES = 60  # tables that a statement reads, each as often as it does: planning cannot be interrupted
MOST_NESTED = 50  # the most brackets that may be open at once
MOST_GROWING = 8  # the most calls of functions that can make long texts of short ones (`FEW`)
_LISTED, _NEAREST, _LEAST_LIKE = 40, 3, 70.0  # in messages: names listed, similar names, and rapidfuzz's least ratio
_NO_COLUMN = re.compile(r'Referenced column "(?P<column>[^"]+)" (?:was )?not found'
                        r'|Values list "(?P<list>[^"]+)" does not have a column named "(?P<of_list>[^"]+)"'
                        r'|Table "(?P<table>[^"]+)" does not have a column named "(?P<of_table>[^"]+)"')
_LONGEST_CAUSE = 400  # characters of DuckDB's message, which may repeat a long text of the statement
_PARTS = ("joins", "laterals", "pivots", "sample")  # what stays behind a table's name when a subquery replaces the name
_KNOWN_PARTS = frozenset({"this", "alias", *_PARTS})  # all that may stand there
_REPLACING = frozenset({"replace", "regexp_replace"})  # functions that put one text in the place of another
_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END})

FEW = frozenset(ALLOWED["growing"].split())
FUNCTIONS = FEW | frozenset(" ".join(ALLOWED["others"].values()).split())
_EXPRESSIONS, _TABLES, _NODES = (frozenset(ALLOWED["kinds"][name].split()) for name in (
    "expressions", "tables", "nodes"))


class SqlError(BanyanError):
    """A statement cannot be run; the message says why, and which names there are."""


class MixedUnitsError(SqlError):
    """A statement computes with numbers of several units, whose result would mean nothing."""


@contextmanager
def _bounded_depth() -> Iterator[None]:
    """Within the block, say that a statement is nested too deeply where Python's stack ends."""
    try:
        yield
    except RecursionError:
        raise SqlError("the statement is nested too deeply; write it in simpler steps") from None


@_bounded_depth()
def read_statement(sql: str) -> exp.Query:
    """Return a statement as sqlglot reads it, with the tables' names as they are given; SqlError if it is no SELECT."""
    if len(sql) > LONGEST:
        raise SqlError(f"the statement has {len(sql)} characters, and at most {LONGEST} are allowed")
    try:
        tokens = sqlglot.tokenize(sql, dialect=DIALECT)
        if len(tokens) > MOST_WORDS:
            raise SqlError(f"the statement has {len(tokens)} words and signs, and at most {MOST_WORDS} are allowed")
        depths = accumulate((one.token_type in _OPENING) - (one.token_type in _CLOSING) for one in tokens)
        if max(depths, default=0) > MOST_NESTED:
            raise SqlError(f"the statement is nested more than {MOST_NESTED} deep; write it in simpler steps")
        parsed = [statement for statement in sqlglot.parse(sql, dialect=DIALECT) if statement is not None]
    except SqlglotError as error:
        raise SqlError(f"the statement cannot be read (a name such as \"my-base\" needs quotation marks): "
                       f"{str(error).splitlines()[0]}") from error
    if len(parsed) != 1 or not isinstance(parsed[0], exp.Query):
        raise SqlError("only one SELECT statement is allowed")
    join_names(parsed[0])
    _check_size(parsed[0])
    return parsed[0]


def join_names(query: exp.Expr) -> None:
    """Make one word of each table's name BASE.TABLE, and take the base from columns' names; SqlError for more parts."""
    bases = set[str]()
    for table in query.find_all(exp.Table):
        if table.args.get("catalog"):
            raise SqlError(f"no table {table.sql(dialect=DIALECT)!r}: a table is named TABLE or BASE.TABLE")
        if base := table.db:
            bases.add(base.lower())
            if not table.alias:  # columns name the table without its base
                table.set("alias", exp.TableAlias(this=table.this.copy()))
            table.set("this", exp.to_identifier(f"{base}.{table.name}", quoted=True))
            table.set("db", None)
    for column in query.find_all(exp.Column):
        if column.db.lower() in bases:
            column.set("db", None)


@_bounded_depth()
def with_full_names(query: exp.Query, tables: Mapping[str, TableInfo]) -> tuple[exp.Query, list[TableInfo]]:
    """Return a query with a subquery for each table's name, and the tables it reads; SqlError for an unknown one."""
    query = query.copy()
    used: dict[str, TableInfo] = {}
    for node in list(query.find_all(exp.Table)):
        is_full = bool(node.catalog)  # a table of the database itself, put in by `table_source`
        is_function = not isinstance(node.this, exp.Identifier)
        if is_function or is_full or find_cte(node) is not None:
            continue
        if (info := tables.get(node.name.lower())) is None:
            raise unknown_table(node.name, list(tables.values()))
        if further := {name for name, value in node.args.items() if value} - _KNOWN_PARTS:
            raise SqlError(f"{' and '.join(sorted(further))} is not allowed behind the name of a table")
        source = named_source(node, table_source(info))
        for part in _PARTS:
            source.set(part, node.args.get(part))
        node.replace(source)
        used[info.name] = info
    return query, list(used.values())


@_bounded_depth()
def text_of(query: exp.Query) -> str:
    """Return the text of a query that DuckDB runs: all names in quotation marks, without comments."""
    return query.sql(dialect=DIALECT, identify=True, comments=False)


def full_text(query: exp.Query, tables: Mapping[str, TableInfo]) -> str:
    """Return the text of a query with its tables' full names, so that it can be a part of another statement."""
    return text_of(with_full_names(query, tables)[0])


def named_source(node: exp.Table, source: exp.Subquery) -> exp.Subquery:
    """Give the subquery that replaces a table's name the alias of the table, or else its name, and return it."""
    columns = node.args["alias"].args.get("columns") if node.args.get("alias") else None
    source.set("alias", exp.TableAlias(this=exp.to_identifier(node.alias or node.name, quoted=True), columns=columns))
    return source


def table_source(info: TableInfo, *further: exp.Expr) -> exp.Subquery:
    """Return the subquery for a table's name: its visible columns, or a relation's facts, and `further` expressions."""
    database, name = stored_table(info)
    stored = exp.table_(name, db="main", catalog=database, quoted=True)
    if info.kind != "relation":
        visible = exp.Star(except_=[exp.to_identifier(name, quoted=True) for name in HIDDEN])
        return exp.select(visible, *further).from_(stored).subquery()
    selected = [exp.column(column.name, quoted=True) for column in info.columns]
    by = "relation" if name == FACTS else "attribute"
    of_relation = exp.column(by, quoted=True).eq(exp.Literal.string(info.title))
    return exp.select(*selected, *further).from_(stored).where(of_relation).subquery()


def stored_table(info: TableInfo) -> tuple[str, str]:
    """Return the database and name of the table with the rows of a table: of all facts or values for a relation."""
    base, _, name = info.name.rpartition(".")
    if info.kind == "relation":
        name = FACTS if info.columns[0].name == "head" else VALUES
    return database_of(base), name


def visible_ctes(part: exp.Expr) -> Iterator[exp.CTE]:
    """Yield the common table expressions that a part of a statement can name, the innermost and last ones first."""
    child = part
    while (node := child.parent) is not None:
        if isinstance(node, exp.With):
            number = node.expressions.index(child)
            known = node.expressions if node.args.get("recursive") else node.expressions[:number]  # those before it
            yield from reversed(known)
        elif isinstance(node, exp.Query) and not isinstance(child, exp.With):
            yield from reversed(node.ctes)
        child = node


def find_cte(table: exp.Table) -> exp.CTE | None:
    """Return the common table expression that a table's name means, or None if it means a table."""
    return next((cte for cte in visible_ctes(table) if cte.alias.lower() == table.name.lower()), None)


def _check_size(query: exp.Query) -> None:
    """Raise SqlError if a statement reads too many tables, with each common table expression in place of its name."""
    sizes: dict[int, int] = {}

    def size_of(part: exp.Expr) -> int:
        """Return the number of tables that the statement or one of its common table expressions reads."""
        if id(part) not in sizes:
            sizes[id(part)] = 1  # a recursive one reads itself
            owner = part if isinstance(part, exp.CTE) else None
            own_tables = [table for table in part.find_all(exp.Table) if table.find_ancestor(exp.CTE) is owner]
            found = sum(1 if (cte := find_cte(table)) is None else size_of(cte) for table in own_tables)
            sizes[id(part)] = min(found, MOST_TABLES + 1)  # else nested ones could double it without end
        return sizes[id(part)]

    if size_of(query) > MOST_TABLES:
        raise SqlError(f"the statement reads more than {MOST_TABLES} tables; write it in simpler steps")


def check_as_read(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """Check a statement as DuckDB reads it; raise SqlError if it has anything that is not allowed."""
    row = connection.execute("SELECT json_serialize_sql(?)", [text]).fetchone()
    read: Any = orjson.loads(row[0]) if row else {"error": True}
    if read["error"]:
        raise SqlError(f"the statement cannot be read: {str(read.get('error_message')).splitlines()[0]}")
    if len(read["statements"]) != 1:
        raise SqlError("only one SELECT statement is allowed")
    calls: Counter[str] = Counter()
    for node in _iterate_nodes(read["statements"][0]):
        _check_node(node, calls)
    if (growing := sum(calls[name] for name in FEW)) > MOST_GROWING:
        raise SqlError(f"the statement joins texts or lists {growing} times, and at most {MOST_GROWING} are allowed")


def _iterate_nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects within a value of JSON, without recursion."""
    pending = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield value
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)


def _check_node(node: Mapping[str, Any], calls: Counter[str]) -> None:
    """Raise SqlError if one part of a statement is not allowed, and count the function that it calls in `calls`."""
    # In DuckDB's JSON only expressions have a `class`, only what stands where a table may stand has `alias` and
    # `sample`, and only whole queries have a type that ends with `_NODE`.
    kind = str(node.get("type", ""))
    is_source = "class" not in node and "sample" in node and "alias" in node
    if "class" in node and node["class"] not in _EXPRESSIONS:
        raise SqlError(f"{str(node['class']).lower()} is not allowed in a statement")
    if node.get("class") == "FUNCTION":
        _check_call(node, calls)
    elif is_source and (kind not in _TABLES or node["sample"]):  # a sample differs each time
        raise SqlError(f"{kind.lower().replace('_', ' ')} is not allowed where a table is expected")
    elif kind.endswith("_NODE") and kind not in _NODES:
        raise SqlError(f"{kind.lower().replace('_', ' ')} is not allowed in a statement")
    if kind == "TABLE_FUNCTION" and (name := str(node["function"]["function_name"]).lower()) != "unnest":
        raise SqlError(f"the function {name} is not allowed where a table is expected")
    if kind == "RECURSIVE_CTE_NODE" and any(part.get("function_name") in FEW for part in _iterate_nodes(node)):
        raise SqlError("a recursive part of a statement cannot join texts or lists")


def _check_call(node: Mapping[str, Any], calls: Counter[str]) -> None:
    """Raise SqlError unless a function is allowed, and its arguments cannot make texts long."""
    name = str(node["function_name"]).lower()
    calls[name] += 1
    if name not in FUNCTIONS:
        raise SqlError(f"the function {name} is not allowed")
    if node.get("schema") or node.get("catalog"):
        raise SqlError(f"the function {name} is called without a name before it")
    if name not in _REPLACING:
        return
    # What replaces a part of a text is given, and not longer than that part: texts would grow.
    texts = [argument["expression"].get("literal", {}).get("text") for argument in node["arguments"][1:3]]
    replaced, replacement = [*texts, None, None][:2]  # None: it is missing, or computed
    if name == "regexp_replace" and replaced is not None:
        replaced = " "  # a pattern may match a single character
    if replacement is None or replaced is None or len(replacement) > len(replaced):
        raise SqlError(f"what {name} puts in the place of a text is to be given as it is, and not longer than that")


def unknown_table(name: str, tables: Sequence[TableInfo]) -> SqlError:
    """Return the error for a table that there is not, with those that there are."""
    names = [table.name for table in tables]
    known = f"there are: {_list_names(names)}{_list_nearest(name, names)}" if names else "there are none"
    return SqlError(f"no table {name!r}; {known}")


def explain_error(error: duckdb.Error, tables: Sequence[TableInfo]) -> SqlError:
    """Return DuckDB's error in a statement over some tables as an error of ours."""
    message = str(error)
    if match := _NO_COLUMN.search(message):
        name = match["column"] or match["of_list"] or match["of_table"]
        if not tables:
            return SqlError(f"no column {name!r}")
        near = _list_nearest(name, (column.name for table in tables for column in table.columns))
        has = "; ".join(f"{table.name if tables[1:] else 'it'} has: {_list_names([one.name for one in table.columns])}"
                        for table in tables)
        return SqlError(f"no column {name!r} in {', '.join(table.name for table in tables)}{near}; {has}")
    if isinstance(error, duckdb.OutOfMemoryException):
        return SqlError("the statement needs more memory than a question may have; ask for fewer rows, or group them")
    cause = message.partition("\nLINE")[0].strip()  # without the statement
    return SqlError(f"the statement cannot be run: {cause[:_LONGEST_CAUSE]}")


def _list_names(names: Sequence[str]) -> str:
    """Return the first names in words, and how many more there are."""
    rest = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + rest


def _list_nearest(name: str, names: Iterable[str]) -> str:
    """Return the names most like an unknown one, in brackets; "" if none is."""
    found = process.extract(name, sorted(set(names)), scorer=fuzz.WRatio, limit=_NEAREST, score_cutoff=_LEAST_LIKE)
    return f" (the nearest: {', '.join(match for match, *_ in found)})" if found else ""
