"""Errors of statements, with the names that exist."""

import re
from collections.abc import Iterable, Sequence

import duckdb
from rapidfuzz import fuzz, process

from ...schemas.errors import BanyanError
from ...schemas.records import TableInfo

_LISTED, _NEAREST, _LEAST_LIKE = 40, 3, 70.0
_NO_COLUMN = re.compile(r'Referenced column "(?P<column>[^"]+)" (?:was )?not found'
                        r'|Values list "(?P<list>[^"]+)" does not have a column named "(?P<of_list>[^"]+)"'
                        r'|Table "(?P<table>[^"]+)" does not have a column named "(?P<of_table>[^"]+)"')
_LONGEST = 400


class SqlError(BanyanError):
    """A statement cannot be run; the message says why, and which names there are."""


def unknown_table(name: str, tables: Sequence[TableInfo]) -> SqlError:
    """Return the error for a table that there is not, with those that there are."""
    names = [table.name for table in tables]
    known = f"there are: {_list_names(names)}{_list_nearest(name, names)}" if names else "there are none"
    return SqlError(f"no table {name!r}; {known}")


def unknown_column(name: str, tables: Sequence[TableInfo]) -> SqlError:
    """Return the error for a column that none of a statement's tables has, with those that they have."""
    if not tables:
        return SqlError(f"no column {name!r}")
    near = _list_nearest(name, (column.name for table in tables for column in table.columns))
    has = "; ".join(f"{table.name if tables[1:] else 'it'} has: {_list_names([one.name for one in table.columns])}"
                    for table in tables)
    return SqlError(f"no column {name!r} in {', '.join(table.name for table in tables)}{near}; {has}")


def explain_error(error: duckdb.Error, tables: Sequence[TableInfo]) -> SqlError:
    """Return DuckDB's error in a statement over some tables as an error of ours."""
    message = str(error)
    if match := _NO_COLUMN.search(message):
        return unknown_column(match["column"] or match["of_list"] or match["of_table"], tables)
    if isinstance(error, duckdb.OutOfMemoryException):
        return SqlError("the statement needs more memory than a question may have; ask for fewer rows, or group them")
    cause = message.split("\n\nLINE", 1)[0].split("\nLINE", 1)[0].strip()
    return SqlError(f"the statement cannot be run: {cause[:_LONGEST]}")


def _list_names(names: Sequence[str]) -> str:
    rest = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + rest


def _list_nearest(name: str, names: Iterable[str]) -> str:
    found = process.extract(name, sorted(set(names)), scorer=fuzz.WRatio, limit=_NEAREST, score_cutoff=_LEAST_LIKE)
    return f" (the nearest: {', '.join(match for match, *_ in found)})" if found else ""
