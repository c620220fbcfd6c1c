"""Damaged backups: refused, with what stood there as it was, or restored to what can be asked."""

import hashlib
import io
import json
import random
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

from banyan.agents.resources import Resources
from banyan.agents.retrieval.graph import build_graph
from banyan.config import Settings
from banyan.graph_store.integrity.backup import back_up
from banyan.graph_store.integrity.restore import restore
from banyan.graph_store.integrity.status import status_of
from banyan.graph_store.layout import Layout
from banyan.models.embedding.embedder import Embedder
from banyan.schemas.errors import BanyanError

from .. import small_base
from ..backups import silent, tables
from ..newest import newest
from .mutations import mutated

_VALUES = (None, "", "x", "{", "[]", "null", -7, 0, 10**18, 1.5, b"\x00\xff", "\ud7ff\u202e", "Z" * 5000, "1", "{}")


class Restoring:
    """Restores damaged backups over a knowledge base."""

    name = "restore"

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        """Build a knowledge base and back it up."""
        self._embedder = embedder
        self._settings = Settings(home=folder / "restoring", llm_base_url=None, _env_file=None)
        small_base.people(self._settings.home, "kb", embedder)
        self._layout = Layout.of(self._settings.home, "kb")
        self._sound, self._strange = folder / "sound.zip", folder / "strange.zip"
        back_up(self._layout, self._sound, embedder, silent)
        with zipfile.ZipFile(self._sound) as archive:
            self._manifest = json.loads(archive.read("manifest.json"))
            self._ledger = archive.read("ledger.sqlite")
        self._before = tables(self._settings.home, "kb")

    def round(self, draw: random.Random) -> int:
        """Restore one damaged backup; returns 1."""
        as_file = draw.random() < 0.3
        self._strange.write_bytes(mutated(self._sound.read_bytes(), draw) if as_file
                                  else self._described(self._damaged(draw)))
        try:
            restore(self._strange, self._layout, self._embedder, silent, force=True)
        except BanyanError:
            assert tables(self._settings.home, "kb") == self._before, "it was refused, and something has changed"
            return 1
        with Resources(self._settings, self._embedder) as resources:
            try:
                build_graph(resources).invoke({"knowledge_base": "kb", "question": "Where was Ada Byron born?"})
                status_of(newest(resources).kb)
            except BanyanError as error:
                raise AssertionError(f"it was restored and cannot be asked: {error}") from error
        shutil.rmtree(self._layout.root)
        restore(self._sound, self._layout, self._embedder, silent, force=True)
        assert (after := tables(self._settings.home, "kb")) == self._before, [
            name for name, rows in after.items() if rows != self._before.get(name)]
        return 1

    def _damaged(self, draw: random.Random) -> bytes:
        """A ledger with other values in some cells, or without some rows, or with other bytes."""
        if draw.random() < 0.2:
            return mutated(self._ledger, draw)
        path = self._strange.with_suffix(".sqlite")
        path.write_bytes(self._ledger)
        with closing(sqlite3.connect(path, isolation_level=None)) as ledger:
            ledger.execute("PRAGMA ignore_check_constraints=ON")
            columns = ledger.execute("SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c "
                                     "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'").fetchall()
            for _ in range(draw.randint(1, 3)):
                table, column = draw.choice(columns)
                rows = ledger.execute(f"SELECT * FROM {table}").fetchall()
                if not rows:
                    continue
                at = [one[1] for one in columns if one[0] == table].index(column)
                chosen = f'WHERE "{column}" IS ?', draw.choice(rows)[at]
                try:
                    if draw.random() < 0.2:
                        ledger.execute(f"DELETE FROM {table} {chosen[0]}", chosen[1:])
                    else:
                        ledger.execute(f'UPDATE {table} SET "{column}" = ? {chosen[0]}',
                                       (draw.choice(_VALUES), *chosen[1:]))
                except sqlite3.IntegrityError:
                    continue  # of a key: two rows would be one
        return path.read_bytes()

    def _described(self, ledger: bytes) -> bytes:
        """A backup whose manifest fits its ledger."""
        about = self._manifest | {"size": len(ledger), "sha256": hashlib.sha256(ledger).hexdigest()}
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("manifest.json", json.dumps(about))
            archive.writestr("ledger.sqlite", ledger)
        return buffer.getvalue()

    def close(self) -> None:
        """Nothing stays open."""
