"""Names and folders of uploads."""

import io
import os
import unicodedata
from contextlib import asynccontextmanager

import anyio
import pytest
from banyan.server.runs.process_lock import FileProcessLock, holding_one, kb_lock
from banyan.server.runs.uploads import FileNameError, Upload, Uploads, safe_name, safe_names
from banyan.server.server_database import ServerDatabase
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(("name", "kept"), [
    ("a.md", "a.md"), ("folder/b.md", "folder/b.md"), ("folder\\b.md", "folder/b.md"), ("报告：一.md", "报告：一.md"),
    ("e\u0301.md", "\u00e9.md"), ("a b.md", "a b.md"), ("..a.md/x", None), ("", None), ("/a", None), ("a//b", None),
    ("../a", None), ("a/..", None), ("a/./b", None), ("C:/a", None), ("a:b", None), ("a\x00", None),
    ("a\x1b[31m", None),
    ("NUL", None), ("nul.txt", None), ("x/com1.md", None), ("a.", None), (" a", None), ("a /b", None), (".a", None),
    ("\u202ea", None),
    ("a\u200bb", None), ("a\u00adb", None), ("a\u2028b", None), ("\ufeffa", None),
    ("a" * 256, None), ("é" * 128, None), ("a/" * 600 + "a", None), ("\ud800", None), ("a*", None)])
def test_a_name_is_kept_or_refused(name, kept):
    if kept is None:
        with pytest.raises(FileNameError):
            safe_name(name)
    else:
        assert safe_name(name) == kept


@given(st.text(max_size=40))
def test_whatever_is_kept_stays_below_its_folder_and_is_kept_again(tmp_path_factory, name):
    try:
        kept = safe_name(name)
    except FileNameError:
        return
    assert os.path.normpath(f"/root/{kept}") == f"/root/{kept}"
    assert kept == unicodedata.normalize("NFC", kept) == safe_name(kept)


@pytest.mark.parametrize("names", [("a", "A"), ("a", "a"), ("ß", "ss"), ("é", "e\u0301"), ("a", "a/b"), ("A/b", "a")])
def test_two_names_that_would_be_one_file_are_refused(names):
    with pytest.raises(FileNameError):
        safe_names(names)


def kept(tmp_path):
    return sorted(path.name for path in (tmp_path / ".uploads").rglob("*.md"))


class Uploading:
    """Uploads of one process, and its locks."""

    def __init__(self, tmp_path):
        self.database = ServerDatabase(tmp_path / "server.sqlite")
        self.uploads = Uploads(self.database, tmp_path)
        self.process = FileProcessLock(tmp_path)

    def store(self, build, files):
        with self.database.transaction() as connection:
            self.uploads.add(connection, build, files, safe_names([file.name for file in files]))

    @asynccontextmanager
    async def reading(self, build):
        async with holding_one(self.process, [kb_lock("demo")]), self.uploads.reading(build, "demo") as folder:
            yield folder


@pytest.mark.anyio
async def test_files_are_kept_privately_as_they_are_until_their_build_is_over(tmp_path):
    server = Uploading(tmp_path)
    large = bytes(range(256)) * 10_000
    server.store("b1", [Upload("x/a.md", io.BytesIO(b"A")), Upload("b.md", io.BytesIO(large)),
                        Upload("empty.md", io.BytesIO(b""))])
    server.store("b2", [Upload("b.md", io.BytesIO(b"C"))])
    for _ in range(2):  # another process goes on with it
        async with server.reading("b1") as first:
            assert {path.name: path.read_bytes() for path in first.rglob("*.md")} == {
                "a.md": b"A", "b.md": large, "empty.md": b""}
            if os.name == "posix":
                assert (tmp_path / ".uploads").stat().st_mode & 0o077 == 0
        assert not first.exists()
    async with server.reading("b2") as second:
        assert second == first, "a document's source does not change with the build"
    with server.database.transaction() as connection:
        server.uploads.remove(connection, "b1")
    async with server.reading("b1") as removed:
        assert list(removed.iterdir()) == []
    assert kept(tmp_path) == []


@pytest.mark.anyio
async def test_two_servers_of_a_home_read_into_a_knowledge_base_in_turn(tmp_path):
    read = {}

    async def reading(name, server):
        async with server.reading(name) as folder:
            before = sorted(path.name for path in folder.iterdir())
            await anyio.sleep(0.2)
            read[name] = before, sorted(path.name for path in folder.iterdir())

    async with anyio.create_task_group() as tasks:
        for name in ("ours", "theirs"):
            server = Uploading(tmp_path)
            server.store(name, [Upload(f"{name}{number}.md", io.BytesIO(b"x")) for number in range(3)])
            tasks.start_soon(reading, name, server)
    assert read == {name: ([f"{name}{number}.md" for number in range(3)],) * 2 for name in ("ours", "theirs")}


def test_what_killed_servers_left_is_swept_and_what_others_read_is_not(tmp_path):
    ours, theirs = Uploading(tmp_path), Uploading(tmp_path)
    for name in ("killed", "other"):
        (tmp_path / ".uploads" / "read" / name).mkdir(parents=True)
        (tmp_path / ".uploads" / "read" / name / f"{name}.md").touch()
    assert theirs.process.try_lock(kb_lock("other"))
    ours.uploads.sweep(ours.process)
    assert kept(tmp_path) == ["other.md"]
