"""Backups of strangers: what is no sound backup changes nothing."""

import hashlib
import io
import json
import os
import sqlite3
import zipfile
from contextlib import closing

import pytest
from banyan.graph_store.integrity.backup import back_up, restore
from banyan.graph_store.layout import Layout
from banyan.graph_store.ledger.database import FORMAT
from banyan.schemas.edits import EntityRef, Rename
from banyan.server.server_database import ServerDatabase

from ... import backups, small_base
from ...backups import left, tables

base, stored = backups.base, backups.stored


def parts(file):
    with zipfile.ZipFile(file) as archive:
        return json.loads(archive.read("manifest.json")), archive.read("ledger.sqlite")


def packed(*entries, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return buffer.getvalue()


def described(manifest, ledger, **changes):
    about = manifest | {"size": len(ledger), "sha256": hashlib.sha256(ledger).hexdigest()} | changes
    return packed(("manifest.json", json.dumps(about)), ("ledger.sqlite", ledger))


def altered(ledger, folder, *statements):
    path = folder / "altered.sqlite"
    path.write_bytes(ledger)
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        for statement in statements:
            raw.execute(statement)
    data = path.read_bytes()
    path.unlink()
    return data


STRANGE = {
    "no zip": (lambda m, d, f: b"hello" * 100, "is no backup, or damaged"),
    "flipped": (lambda m, d, f: flipped(packed(("manifest.json", json.dumps(m)), ("ledger.sqlite", d),
                                               compression=zipfile.ZIP_STORED)), "is no backup, or damaged"),
    "out of the folder": (lambda m, d, f: packed(("manifest.json", json.dumps(m)), ("../ledger.sqlite", d)),
                          "manifest.json and ledger.sqlite and nothing else"),
    "large manifest": (lambda m, d, f: packed(("manifest.json", b" " * 10**6), ("ledger.sqlite", d)),
                       "manifest.json has 1,000,000 bytes, at most 65,536 are read"),
    "other format": (lambda m, d, f: described(m, d, format="banyan-backup-2"), "manifest.json: format"),
    "later ledger": (lambda m, d, f: described(m, d, ledger_format=FORMAT + 1), f"a ledger of format {FORMAT + 1}"),
    "other checksum": (lambda m, d, f: described(m, d, sha256="0" * 64), "is not what manifest.json says (SHA-256)"),
    "other size": (lambda m, d, f: described(m, d, size=len(d) - 1), "is not what manifest.json says (SHA-256)"),
    "bomb": (lambda m, d, f: described(m, bytes(20_000_000)), "would become 20,000,000"),
    "no ledger": (lambda m, d, f: described(m, b"text " * 1000), "its ledger cannot be read"),
    "trigger": (lambda m, d, f: described(m, altered(
        d, f, "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM documents; END")), "the trigger t is"),
    "broken reference": (lambda m, d, f: described(m, altered(d, f, "DELETE FROM documents")), "refers to a missing"),
    "a count that is none": (lambda m, d, f: described(m, altered(
        d, f, "UPDATE meta SET value = '{\"tree\": [1, null]}' WHERE key = 'state'")), "its ledger cannot be read"),
    "a name that is no text": (lambda m, d, f: described(m, d.replace(
        b"CREATE TABLE calls", b"CREATE TABLE \x9c\xff(ls")), "its ledger cannot be read"),
    "no embedding model": (lambda m, d, f: described(m, altered(
        d, f, "UPDATE meta SET value = '{}' WHERE key = 'settings'")), "does not say which embedding model"),
    "damaged page": (lambda m, d, f: described(m, d[:8192] + bytes(4096) + d[12288:]), "its ledger"),
}


def flipped(data):
    # Of packed data, a flipped bit may mean the same.
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1:]


@pytest.mark.parametrize("case", STRANGE)
def test_what_is_no_sound_backup_changes_nothing(stored, case):
    make, why = STRANGE[case]
    (stored.folder / "strange.zip").write_bytes(make(*parts(stored.folder / "kb.zip"), stored.folder))
    before = tables(stored.folder / "home", "kb")
    result = stored("restore", "strange.zip", "--kb", "kb", "--force")
    assert (result.code, why in result.err) == (1, True), result.err
    assert left(stored.folder) == ["documents", "home", "kb.zip", "schema.json", "strange.zip"]
    assert left(stored.folder / "home") == ["kb"]
    assert tables(stored.folder / "home", "kb") == before


EDIT = Rename(entity=EntityRef(name="Ada", type="Person"), name="Countess Ada").model_dump_json()


@pytest.mark.parametrize(("table", "column", "value"), [
    ("documents", "metadata", "'{'"), ("chunks", "start", "-7"), ("extractions", "extraction", "'{'"),
    ("facts", "end", "-7"), ("schema_versions", "decisions", "'{'"), ("communities", "members", "'{'"),
    ("summaries", "shown", "'{'"), ("edits", "edit", "'{'"), ("entity_aliases", "evidence", "'{'"),
    ("calls", "response", "'{'")])
def test_rows_that_cannot_be_used_never_get_in(stored, table, column, value):
    """Whatever is in a column: the backup is refused and nothing has changed, or all that reads it works."""
    manifest, ledger = parts(stored.folder / "kb.zip")
    data = altered(ledger, stored.folder, f"INSERT INTO edits VALUES (1, '{EDIT}', 'Ann', '', '', '', '')",
                   "PRAGMA ignore_check_constraints=ON", f'UPDATE {table} SET "{column}" = {value}')
    (stored.folder / "strange.zip").write_bytes(described(manifest, data))
    result = stored("restore", "strange.zip", "--kb", "other")
    if result.code == 1:
        assert "Nothing was changed" in result.err
        assert left(stored.folder / "home") == ["kb"]
        return
    for command in (("ask", "Who knows Ada?"), ("status",), ("tree",), ("schema", "history")):
        assert stored(*command, "--kb", "other").code in {0, 2}, command


@pytest.mark.sqlite
@pytest.mark.skipif(os.name != "posix", reason="rights are POSIX's")
def test_ledger_and_server_database_are_for_their_owner_alone(tmp_path, hashed_embedder):
    before = os.umask(0)
    try:
        small_base.people(tmp_path, "people", hashed_embedder)
        back_up(Layout.of(tmp_path, "people"), tmp_path / "b.zip", hashed_embedder)
        restore(tmp_path / "b.zip", Layout.of(tmp_path, "again"), hashed_embedder)
        with closing(ServerDatabase(tmp_path / "server.sqlite")):
            files = [*tmp_path.glob("*/ledger.sqlite*"), *tmp_path.glob("server.sqlite*")]
            assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
            assert len(files) >= 3
    finally:
        os.umask(before)
