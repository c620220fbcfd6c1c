"""Names and folders of uploads."""

import io
import os
import unicodedata

import pytest
from banyan.server.runs.uploads import (
    FileNameError,
    Upload,
    reading_files,
    remove_files,
    safe_name,
    safe_names,
    store_files,
    sweep_files,
)
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
def test_whatever_is_kept_stays_below_its_folder_and_is_kept_again(name):
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
async def test_files_are_kept_privately_as_they_are_until_their_job_is_over(tmp_path):
    database = ServerDatabase(tmp_path / "server.sqlite")
    large = bytes(range(256)) * 10_000
    for job, files in (("b1", {"x/a.md": b"A", "b.md": large, "empty.md": b""}), ("b2", {"b.md": b"C"})):
        with database.transaction() as connection:
            uploads = [Upload(name, io.BytesIO(content)) for name, content in files.items()]
            store_files(connection, job, uploads, safe_names(list(files)))
    for _ in range(2):  # another process goes on with it
        async with reading_files(database, tmp_path, "b1", "demo") as first:
            assert {path.name: path.read_bytes() for path in first.rglob("*.md")} == {
                "a.md": b"A", "b.md": large, "empty.md": b""}
            if os.name == "posix":
                assert (tmp_path / ".uploads").stat().st_mode & 0o077 == 0
        assert not first.exists()
    async with reading_files(database, tmp_path, "b2", "demo") as second:
        assert second == first, "a document's source does not change with the job"
    with database.transaction() as connection:
        remove_files(connection, "b1")
    async with reading_files(database, tmp_path, "b1", "demo") as removed:
        assert list(removed.iterdir()) == []
    assert kept(tmp_path) == []


def test_what_killed_servers_left_is_swept_and_what_others_read_is_not(tmp_path):
    for name in ("killed", "other"):
        (tmp_path / ".uploads" / "read" / name).mkdir(parents=True)
        (tmp_path / ".uploads" / "read" / name / f"{name}.md").touch()
    sweep_files(tmp_path, ["other"])
    assert kept(tmp_path) == ["other.md"]
