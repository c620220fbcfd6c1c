"""The ledger's transactions: all or nothing, and which of them wait for the disk."""

from contextlib import closing

import pytest
from banyan.graph_store.ledger.database import Database

NORMAL, FULL = 1, 2  # of SQLite's `PRAGMA synchronous`


@pytest.fixture
def database(tmp_path):
    with closing(Database(tmp_path / "ledger.sqlite")) as opened:
        yield opened


def synchronous(database):
    return database.count("PRAGMA synchronous")


def test_only_an_unsynced_transaction_does_not_wait_for_the_disk(database, tmp_path):
    assert synchronous(database) == FULL
    with database.unsynced_transaction():
        assert synchronous(database) == NORMAL
        database.set_meta("color", "red")
    assert synchronous(database) == FULL
    with closing(Database(tmp_path / "ledger.sqlite")) as other:
        assert other.get_meta("color") == "red"


def test_an_unsynced_transaction_that_fails_leaves_nothing_behind(database):
    with pytest.raises(ZeroDivisionError), database.unsynced_transaction():
        database.set_meta("color", "red")
        _ = 1 / 0
    assert database.get_meta("color") is None
    assert synchronous(database) == FULL


def test_within_a_transaction_that_waits_for_the_disk_nothing_is_unsynced(database):
    with database.transaction():
        with database.unsynced_transaction():
            assert synchronous(database) == FULL
        assert synchronous(database) == FULL
