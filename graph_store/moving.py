"""Dropping and renaming a knowledge base: its folder as a whole, and its vectors on a server."""

import shutil
import uuid
from contextlib import closing, suppress
from pathlib import Path

from ..runtime import audit
from .layout import DROPPED, Layout
from .ledger.database import Database
from .store_errors import FormatError, KnowledgeBaseNameError, LedgerDamagedError
from .vectors.vector_store import VectorStore


def drop(layout: Layout) -> None:
    """Delete a knowledge base, even a damaged one: its folder is first renamed, so that it disappears in one step."""
    with suppress(LedgerDamagedError):  # a damaged knowledge base can be dropped, too
        layout.require()
    with layout.alone():
        if layout.server is not None:
            # Do this first: only the ledger tells which of the server's vectors belong to it.
            with suppress(LedgerDamagedError, FormatError), closing(Database(layout.ledger, create=False)) as database:
                VectorStore.of(layout, database, "").clear()
        if not isinstance(layout.ledger, Path):
            layout.ledger.drop()
        # Move the folder below one that is no knowledge base: if this is killed, the rest is not taken for one.
        grave = layout.root.parent / f"{DROPPED}{uuid.uuid4().hex}"
        grave.mkdir(parents=True)
        if layout.root.is_dir():
            layout.root.rename(grave / layout.name)
        audit.record(layout.root.parent, "drop", layout.name)
    for dropped in layout.root.parent.glob(f"{DROPPED}*"):
        shutil.rmtree(dropped, ignore_errors=True)  # a reader that has it open may add files
    if grave.exists():
        shutil.rmtree(grave)  # which says what cannot be deleted


def rename(layout: Layout, new: str) -> Layout:
    """Give a knowledge base another name, and return its new layout; KnowledgeBaseNameError if it cannot have it."""
    renamed = Layout.of(layout.root.parent, new, layout.server, layout.database)
    with suppress(LedgerDamagedError):  # a damaged knowledge base can be renamed, too
        layout.require()
    if renamed.is_taken():
        raise KnowledgeBaseNameError(f"there is a knowledge base {new!r} already: choose another name, or drop "
                                     "it first")
    shutil.rmtree(renamed.root, ignore_errors=True)  # it has nothing but locks, or what was derived from a lost ledger
    with layout.alone():
        layout.graph.unlink(missing_ok=True)  # it contains the old name; the next opening rebuilds it
        _rename_ledger(layout, new)
        try:
            if layout.root.is_dir():
                layout.root.rename(renamed.root)
        except OSError:
            _rename_ledger(renamed, layout.name)  # the knowledge base keeps its name
            raise
        audit.record(renamed.root.parent, "rename", layout.name, f"to {renamed.name}")
    return renamed


def _rename_ledger(layout: Layout, new: str) -> None:
    """Rename a ledger in PostgreSQL; one in SQLite is named by its folder."""
    if not isinstance(layout.ledger, Path):
        layout.ledger.rename(new)
