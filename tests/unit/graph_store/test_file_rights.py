"""Files that hold texts are their owner's alone, whatever the system's default rights are."""

import os
from contextlib import closing

import pytest
from banyan.graph_store.integrity.backup import back_up
from banyan.graph_store.integrity.restore import restore
from banyan.graph_store.layout import Layout
from banyan.server.server_database import ServerDatabase

from ... import small_base

pytestmark = [pytest.mark.sqlite, pytest.mark.skipif(os.name != "posix", reason="rights are POSIX's")]


def test_ledger_and_server_database_are_for_their_owner_alone(tmp_path, hashed_embedder):
    before = os.umask(0)
    try:
        small_base.people(tmp_path, "people", hashed_embedder)
        back_up(Layout.of(tmp_path, "people"), tmp_path / "b.zip", hashed_embedder, lambda *_: None)
        restore(tmp_path / "b.zip", Layout.of(tmp_path, "again"), hashed_embedder, lambda *_: None)
        with closing(ServerDatabase(tmp_path / "server.sqlite")):
            files = [*tmp_path.glob("*/ledger.sqlite*"), *tmp_path.glob("server.sqlite*")]
            assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
            assert len(files) >= 3
    finally:
        os.umask(before)
