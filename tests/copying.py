"""Copies of knowledge bases that a process makes once, in SQLite or in PostgreSQL."""

import shutil
from contextlib import closing
from pathlib import Path

from banyan.graph_store.layout import Layout
from banyan.graph_store.ledger.database import Database


def copied(source: Layout, target: Layout) -> None:
    """Copy a knowledge base that nobody has open; what is derived of one in PostgreSQL is made again."""
    if isinstance(source.ledger, Path):
        shutil.copytree(source.root, target.root)
        return
    with closing(Database(source.ledger)) as old, closing(Database(target.ledger)) as new:
        new.copy_rows(old)
