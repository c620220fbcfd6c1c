"""Check a knowledge base against its invariants."""

import sqlite3
from collections.abc import Callable, Iterator
from itertools import islice

from ...schemas.documents import Frozen
from ..knowledge_base import KnowledgeBase
from ..layout import Layout
from ..store_errors import DatabaseError, StoreError
from . import verify_derived as derived
from . import verify_rows as rows

__all__ = ["Problem", "damages_on_disk", "unsound", "verify"]

RESTORE = "restore the knowledge base from a backup (`banyan restore FILE --kb NAME --force`), or build it again"
REINDEX = "run `banyan reindex`"
BUILD = "run `banyan build` again"
_SHOWN = 20


class Problem(Frozen):
    """A problem and its fix."""

    what: str
    fix: str


_CHECKS: tuple[tuple[str, Callable[[KnowledgeBase], Iterator[str]], str], ...] = (
    ("the ledger's file", rows.file, RESTORE),
    ("the tables", rows.tables, RESTORE),
    ("documents and chunks", rows.chunks, RESTORE),
    ("new content that waits", rows.waiting, RESTORE),
    ("what reports show", rows.reports, RESTORE),
    ("the stages of chunks", rows.stages, RESTORE),
    ("the settings of vectors", rows.vector_settings, REINDEX),
    ("the accounts", rows.accounts, RESTORE),
    ("the schema's history", rows.history, RESTORE),
    ("the schema's growth", rows.growth, BUILD),
    ("the extractions of chunks", rows.extractions, RESTORE),
    ("what waits for the schema", rows.bounding, REINDEX),
    ("the graph", derived.graph, REINDEX),
    ("the names of entities", derived.aliases, REINDEX),
    ("the model's verdicts", derived.verdicts, REINDEX),
    ("the vectors", derived.vectors, REINDEX),
    ("the communities", derived.communities, REINDEX),
    ("the index", derived.index, REINDEX),
)

_DERIVED = {"what waits for the schema", "the names of entities", "the vectors", "the index"}
"""Checks of data that opening the knowledge base or the next build rebuilds from the ledger."""

_MADE_AGAIN = "it was made again from the ledger; if this comes back, check the disk"


def damages_on_disk(layout: Layout) -> list[Problem]:
    """Find damaged derived files before opening and verifying the knowledge base rebuilds them.

    Call this before the knowledge base is opened: afterwards the files are rebuilt or no longer used.
    """
    return [Problem(what=line, fix=_MADE_AGAIN) for line in derived.damaged_files(layout)]


def verify(knowledge_base: KnowledgeBase) -> list[Problem]:
    """Check an open knowledge base against every invariant.

    Returns:
        The problems: damage to the ledger's file, tables and rows; facts that the schema in force does not admit from
        the extractions; a graph, vectors or tree that differ from the ledger. Empty if there are none.
    """
    problems: list[Problem] = []
    for name, check, fix in _CHECKS:
        try:
            problems += _list_first(check(knowledge_base), fix)
        except DatabaseError:
            raise  # the server does not answer, so its data cannot be checked
        except (StoreError, sqlite3.DatabaseError, ValueError, KeyError, TypeError) as error:
            # Damaged rows may raise any of these, and the other checks must still run.
            problems.append(Problem(what=f"{name} cannot be read ({type(error).__name__}: {error})", fix=fix))
    return problems


def unsound(knowledge_base: KnowledgeBase) -> list[Problem]:
    """Find problems in the rows of a ledger, without its derived data; empty if every row is sound.

    Raises:
        Exception: a row cannot be read; of any class that the code reading it raises.
    """
    return [problem for name, check, fix in _CHECKS if name not in _DERIVED
            for problem in _list_first(check(knowledge_base), fix)]


def _list_first(lines: Iterator[str], fix: str) -> Iterator[Problem]:
    """Yield the first problems that a check found, with their fix, and how many more there are.

    One kind of damage must not hide all others.
    """
    yield from (Problem(what=line, fix=fix) for line in islice(lines, _SHOWN))
    if more := sum(1 for _ in lines):
        yield Problem(what=f"... and {more} more like this", fix=fix)
