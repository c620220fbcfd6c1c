"""Checking a knowledge base against its invariants."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

from ..errors import DatabaseError, StoreError
from ..index.store import damages as index_damages
from ..knowledge_base import KnowledgeBase
from ..layout import Layout
from ..ledger.database import Database
from ..vectors.place import collections_of
from . import verify_derived as derived
from . import verify_facts as facts
from . import verify_ledger as ledger
from . import verify_schema as schema
from .problems import REINDEX, RESTORE, Problem, some
from .status import status_of

__all__ = ["Problem", "damages_on_disk", "unsound", "verify"]

_Check = Callable[[KnowledgeBase], Iterator[Problem]]

_CHECKS: tuple[tuple[str, _Check, str], ...] = (
    ("the ledger's file", ledger.file, RESTORE),
    ("the tables", ledger.tables, RESTORE),
    ("documents and chunks", ledger.chunks, RESTORE),
    ("new content that waits", ledger.waiting, RESTORE),
    ("the stages of chunks", ledger.stages, RESTORE),
    ("the positions", ledger.positions, REINDEX),
    ("the accounts", ledger.accounts, RESTORE),
    ("the schema's history", schema.history, RESTORE),
    ("the schema's growth", schema.growth, RESTORE),
    ("the extractions of chunks", facts.contributions, RESTORE),
    ("what waits for the schema", facts.bounded, REINDEX),
    ("the graph", derived.graph, REINDEX),
    ("the aliases", derived.alias_grounds, REINDEX),
    ("the names of entities", derived.aliases, REINDEX),
    ("the vectors", derived.vectors, REINDEX),
    ("the communities", derived.communities, REINDEX),
    ("the index", derived.index, REINDEX),
)


_DERIVED = {"what waits for the schema", "the names of entities", "the vectors", "the index"}
"""Checks that compute again what opening or the next build makes of the ledger."""

_MADE_AGAIN = "it was made again from the ledger; if this comes back, check the disk"


def damages_on_disk(layout: Layout) -> list[Problem]:
    """Find the derived files that opening the knowledge base and verifying it make again, because they are damaged.

    To be asked for before it is opened: afterwards they are whole, or no longer in use.
    """
    with closing(Database(layout.ledger, create=False)) as database:
        fingerprint = (database.get_meta("embedding") or "").partition("\n")[2]
        vectors = collections_of(layout, database, fingerprint).damages()
    return [*(Problem(what=line, fix=_MADE_AGAIN)
              for line in (*derived.damaged_graph(layout.graph), *index_damages(layout.index))),
            *(Problem(what=line, fix=REINDEX) for line in vectors)]


def verify(knowledge_base: KnowledgeBase) -> list[Problem]:
    """Check an open knowledge base against every invariant.

    Returns:
        What is wrong: with the ledger's file, tables and rows; facts whose span does not quote its source,
        that do not fit the schema in force or are not what it admits of the extractions; a schema that its
        history does not lead to; a graph, vectors or tree that are not what the ledger gives. Empty when
        all is well.
    """
    problems: list[Problem] = []
    for name, check, fix in _CHECKS:
        try:
            problems += some(check(knowledge_base))
        except DatabaseError:
            raise  # of the server: nothing can be said of what it holds
        except (StoreError, sqlite3.DatabaseError, ValueError, KeyError, TypeError) as error:
            # Rows that were damaged may be anything, and the other checks go on.
            problems.append(Problem(what=f"{name} cannot be read ({type(error).__name__}: {error})", fix=fix))
    return problems


def unsound(knowledge_base: KnowledgeBase) -> list[Problem]:
    """What is wrong with the rows of a ledger, whatever is derived from it; empty when all can be read and is sound.

    Raises:
        Exception: a row that cannot be read, by whichever code reads it.
    """
    kb = knowledge_base
    status_of(kb)
    kb.schema_control.waiting(1)
    kb.schemas.declined()
    kb.documents.entries()
    kb.entities.decisions()
    kb.entities.verdicts()
    kb.edits.table.all()
    return [problem for name, check, _ in _CHECKS if name not in _DERIVED for problem in some(check(kb))]
