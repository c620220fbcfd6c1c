"""Reading a backup's ledger as restoring it does: before it replaces another one, and before it is called a backup."""

import sqlite3
from contextlib import closing

from ...models.embedding.embedder import Embedder
from ..knowledge_base import KnowledgeBase
from ..layout import Layout
from ..ledger.database import Database
from ..ledger.version import published_state
from ..store_errors import LedgerDamagedError, StoreError
from ..vectors.ledger_embedder import recorded_model
from .verify import unsound
from .verify_rows import foreign_objects

MESSAGE = 1000
"""Characters of a reason, which may quote what is in the ledger."""


class UnrestorableError(StoreError):
    """A ledger that cannot be a knowledge base's; says what is wrong with it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason[:MESSAGE])


def read_ledger(apart: Layout, embedder: Embedder) -> str:
    """Read every row of a ledger, alone in a separate folder, through the code that will read it.

    Files are made beside it; nothing is embedded but the schema's labels.

    Returns:
        The embedding model that the knowledge base was built with.

    Raises:
        UnrestorableError: it is not sound, or has more than a ledger's tables.
        OSError: the disk is full or not writable.
    """
    embedding = _check(apart)
    try:
        with KnowledgeBase(apart, embedder, any_embedding=True) as kb:
            kb.version()
            published_state(kb.database)
            problems = unsound(kb)
    except (OSError, sqlite3.OperationalError):
        raise  # of the disk
    except Exception as error:
        # Rows of a stranger's may be anything, and so may what reading them raises.
        raise UnrestorableError(f"its ledger cannot be opened ({type(error).__name__}: {error})") from error
    if problems:
        raise UnrestorableError(f"its ledger: {problems[0].what}")
    return embedding


def _check(apart: Layout) -> str:
    """Check that the ledger is sound and has its tables alone; return the name of the embedding model.

    A view or trigger of a stranger's would be run by our own statements.
    """
    try:
        with closing(sqlite3.connect(apart.ledger_file)) as raw:
            if raw.execute("SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index')").fetchone()[0]:
                raise UnrestorableError("its ledger has views or triggers")
            if not raw.execute("PRAGMA user_version").fetchone()[0]:
                raise UnrestorableError("its ledger is none")
        with closing(Database(apart.ledger_file)) as database:
            problems = [*database.problems(), *foreign_objects(database)]
            embedding = recorded_model(database)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # what SQLite says may quote what is there
        raise UnrestorableError(f"its ledger cannot be read ({error})") from error
    except LedgerDamagedError as error:
        raise UnrestorableError("its ledger is damaged") from error
    if problems:
        raise UnrestorableError(f"its ledger: {problems[0]}")
    return embedding
