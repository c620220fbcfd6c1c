"""Names of tables and columns in SQL, made of what documents call them."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

import duckdb

_LONGEST = 60
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_CASE_CHANGE = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_FURTHER_WORDS = frozenset({
    "alter", "between", "current_catalog", "current_date", "current_time", "current_timestamp", "current_user", "drop",
    "force", "grant", "if", "insert", "install", "localtime", "localtimestamp", "map", "revoke", "rollback", "rowid",
    "session_user", "user", "values"})
"""Words that only sqlglot reads as its own, and what DuckDB has without brackets."""


def snake_case(title: str) -> str:
    """Return a title as a name in snake case, with letters of any script; "" if it has neither letter nor digit."""
    words = _CASE_CHANGE.sub("_", unicodedata.normalize("NFKC", title)).lower()
    return _BETWEEN_WORDS.sub("_", words)[:_LONGEST].strip("_")


class NameSpace:
    """The names of the tables of a file, or of the columns of a table, each given once."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = set(reserved)

    def take(self, title: str, otherwise: str) -> str:
        """Return a free name for a title, or for `otherwise` if the title has no letters and digits."""
        wanted = name = _without_quotes(snake_case(title) or otherwise)
        number = 1
        while name in self._taken:
            number += 1
            name = f"{wanted.rstrip('_')}_{number}"
        self._taken.add(name)
        return name


def _without_quotes(name: str) -> str:
    """Return a name that needs no quotation marks in a statement."""
    if name[:1].isdigit():
        return f"_{name}"
    return f"{name}_" if name in _FURTHER_WORDS or name in _reserved_words() else name


@cache
def _reserved_words() -> frozenset[str]:
    with duckdb.connect(config={"threads": 1, "async_threads": 0}) as connection:
        words = connection.execute("SELECT keyword_name FROM duckdb_keywords() "
                                   "WHERE keyword_category IN ('reserved', 'type_function')").fetchall()
    return frozenset(word for (word,) in words)
