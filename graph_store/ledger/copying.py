"""A ledger's rows, copied from one database to another."""

from collections.abc import Callable

from .database import Database
from .tables import METADATA


def copy_rows(source: Database, target: Database, progress: Callable[[int, int], None]) -> None:
    """Make a ledger's rows those of another one, all or none; whoever reads it has the old ones until all are there.

    Args:
        source: the other one, of which nothing else is read meanwhile; it is copied as it is when this begins.
        target: the ledger whose rows are replaced.
        progress: told how many rows of how many are copied.
    """
    source.freeze()
    tables = METADATA.sorted_tables  # what refers to others comes after them
    total = sum(source.count(f"SELECT count(*) FROM {table.name}") for table in tables)  # noqa: S608
    done = 0
    with target.transaction():
        for table in reversed(tables):
            target.execute(f"DELETE FROM {table.name}")  # noqa: S608
        for table in tables:
            for rows in source.batches(table):
                target.insert(table, rows)
                done += len(rows)
                progress(done, total)
        target.go_on_counting()
