"""Names and folders of uploads."""

import io
import os
import unicodedata

import anyio
import pytest
from banyan.server.runs.process_lock import ProcessLock, holding_one
from banyan.server.runs.uploads import FileNameError, Upload, Uploads, safe_name, safe_names
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


@pytest.mark.anyio
async def test_files_are_kept_privately_until_they_are_read(tmp_path):
    uploads = Uploads(tmp_path, "process")
    files = [Upload("x/a.md", io.BytesIO(b"A")), Upload("b.md", io.BytesIO(b"B"))]
    assert uploads.store("b1", files) == ["x/a.md", "b.md"]
    uploads.store("b2", [Upload("b.md", io.BytesIO(b"C"))])
    if os.name == "posix":
        assert (tmp_path / ".uploads").stat().st_mode & 0o077 == 0
    async with holding_one([uploads.lock_of("demo")]), uploads.reading("b1", "demo") as first:
        assert {path.name: path.read_bytes() for path in first.rglob("*.md")} == {"a.md": b"A", "b.md": b"B"}
    assert not first.exists()
    async with holding_one([uploads.lock_of("demo")]), uploads.reading("b2", "demo") as second:
        assert second == first, "a document's source does not change with the build"
    assert kept(tmp_path) == []


@pytest.mark.anyio
async def test_two_servers_of_a_home_read_into_a_knowledge_base_in_turn(tmp_path):
    ours, theirs = Uploads(tmp_path, "ours"), Uploads(tmp_path, "theirs")
    for name, server in (("ours", ours), ("theirs", theirs)):
        server.store("build", [Upload(f"{name}{number}.md", io.BytesIO(b"x")) for number in range(3)])
    read = {}

    async def reading(name, server):
        async with holding_one([server.lock_of("demo")]), server.reading("build", "demo") as folder:
            before = sorted(path.name for path in folder.iterdir())
            await anyio.sleep(0.2)
            read[name] = before, sorted(path.name for path in folder.iterdir())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reading, "ours", ours)
        tasks.start_soon(reading, "theirs", theirs)
    assert read == {name: ([f"{name}{number}.md" for number in range(3)],) * 2 for name in ("ours", "theirs")}


def test_a_refused_upload_leaves_nothing(tmp_path):
    uploads = Uploads(tmp_path, "process")
    with pytest.raises(FileNameError):
        uploads.store("b1", [Upload("a.md", io.BytesIO(b"A")), Upload("../b.md", io.BytesIO(b"B"))])
    assert list(tmp_path.rglob("*.md")) == []


def test_what_killed_servers_left_is_swept_and_what_others_have_is_not(tmp_path):
    for name in ("killed", "other"):
        lock = ProcessLock(tmp_path)
        lock.acquire()
        Uploads(tmp_path, lock.id).store("b1", [Upload(f"{name}.md", io.BytesIO(b"A"))])
        if name == "killed":
            lock._lock.release()  # as the system does for a process that ends
    (tmp_path / ".uploads" / "read" / "demo").mkdir(parents=True)
    (tmp_path / ".uploads" / "read" / "demo.lock").touch()
    (tmp_path / ".uploads" / "read" / "demo" / "read.md").touch()
    Uploads(tmp_path, "process").sweep()
    assert kept(tmp_path) == ["other.md"]
