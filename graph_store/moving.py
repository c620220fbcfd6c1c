"""Dropping and renaming a knowledge base: its folder as a whole, and its vectors on a server."""

import shutil
import time
import uuid
from contextlib import closing, suppress
from pathlib import Path

from ..runtime import audit
from .layout import DROPPED, Layout
from .ledger.database import Database
from .store_errors import FormatError, KnowledgeBaseNameError, LedgerDamagedError, UnknownKnowledgeBaseError
from .vectors.vector_store import collections_of

_TRIES, _BETWEEN = 20, 0.1


def drop(layout: Layout) -> None:
    """Delete a knowledge base, a damaged one too. It is gone at once; its files follow.

    Raises:
        UnknownKnowledgeBaseError: there is none of that name.
        WriterBusyError: something is writing to it.
        StoreError: the server that holds its vectors cannot be asked to remove them.
        OSError: its folder cannot be moved or removed.
    """
    _check_there(layout)
    with layout.alone():
        if layout.server is not None:
            # Without its ledger nobody knows which of the server's vectors are its own.
            with suppress(LedgerDamagedError, FormatError), closing(Database(layout.ledger, create=False)) as database:
                collections_of(layout, database, "").remove()
        # Below a folder that is no knowledge base: if this is killed, half a one is not taken for one.
        if not isinstance(layout.ledger, Path):
            layout.ledger.drop()
        grave = layout.root.parent / f"{DROPPED}{uuid.uuid4().hex}"
        grave.mkdir(parents=True)
        if layout.root.is_dir():
            layout.root.rename(grave / layout.name)
        audit.record(layout.root.parent, "drop", layout.name)
    _bury(grave)
    layout.remove_lone_lock()


def _bury(grave: Path) -> None:
    """Remove a dropped folder; a reader that was at work in it may add files for a moment."""
    for _ in range(_TRIES):
        shutil.rmtree(grave, ignore_errors=True)
        if not grave.exists():
            return
        time.sleep(_BETWEEN)
    shutil.rmtree(grave)


def rename(layout: Layout, new: str) -> Layout:
    """Give a knowledge base another name, and return its new layout.

    Vectors on a server go by the ids of the ledger and its folder, which stay, so they need no renaming.

    Raises:
        UnknownKnowledgeBaseError: there is none of the old name.
        KnowledgeBaseNameError: the new name is taken, or cannot be one.
        WriterBusyError: something is writing to it.
        OSError: its folder cannot be moved; it keeps its name.
    """
    renamed = Layout.of(layout.root.parent, new, layout.server, layout.database)
    _check_there(layout)
    renamed.remove_lone_lock()  # of a dropped knowledge base; it would take the name
    if renamed.exists() or renamed.root.exists():
        raise KnowledgeBaseNameError(f"there is a knowledge base {new!r} already: choose another name, or drop "
                                     "it first")
    with layout.alone():
        layout.graph.unlink(missing_ok=True)  # it has the name in it, and is made again when it is opened
        _rename_ledger(layout, new)
        try:
            if layout.root.is_dir():
                layout.root.rename(renamed.root)
        except OSError:
            _rename_ledger(renamed, layout.name)
            raise
        audit.record(renamed.root.parent, "rename", layout.name, f"to {renamed.name}")
    return renamed


def _rename_ledger(layout: Layout, new: str) -> None:
    """Rename a ledger in PostgreSQL; one in SQLite is in the folder and goes with it."""
    if not isinstance(layout.ledger, Path):
        layout.ledger.rename(new)


def _check_there(layout: Layout) -> None:
    with suppress(LedgerDamagedError):  # who has half a knowledge base may want to be rid of it
        layout.require()
    if not (layout.root.is_dir() if layout.database is None else layout.exists()):
        raise UnknownKnowledgeBaseError(layout.name, layout.root.parent)
