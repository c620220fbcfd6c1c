"""The ledger's transactions: all or nothing, and on the disk when they have ended."""

from contextlib import closing

import pytest
from banyan.graph_store.ledger.database import Database

FULL = 2  # of SQLite's `PRAGMA synchronous`


@pytest.fixture
def database(tmp_path):
    with closing(Database(tmp_path / "ledger.sqlite")) as opened:
        yield opened


def test_transactions_wait_for_the_disk(database):
    assert database.count("PRAGMA synchronous") == FULL


def test_a_transaction_that_fails_leaves_nothing_behind_even_within_another(database):
    with pytest.raises(ZeroDivisionError), database.transaction():
        database.set_meta("color", "red")
        with database.transaction():
            database.set_meta("size", "large")
        _ = 1 / 0
    assert (database.get_meta("color"), database.get_meta("size")) == (None, None)
