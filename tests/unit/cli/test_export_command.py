"""`banyan export`: a file whole or not at all, or standard output."""

import stat

import pytest
from banyan.export.export_file import write_file

from ... import export_graphs as graphs
from ... import scripted

FORMATS = graphs.FORMATS


def test_a_failed_export_leaves_the_old_file_and_nothing_else(tmp_path):
    file = tmp_path / "out.json"
    write_file(file, ["old"])

    def pieces():
        yield "new"
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_file(file, pieces())
    assert file.read_text("utf-8") == "old"
    assert list(tmp_path.iterdir()) == [file]
    assert write_file(file, ["屠"]) == 3
    assert file.read_text("utf-8") == "屠"
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_the_command_writes_a_file_or_to_standard_output(form, tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shell.copy_built()
    file = tmp_path / f"out.{form}"
    written = shell("export", "--kb", "kb", "--format", form, "-o", file)
    assert written.code == 0, written.err
    assert f"{file.stat().st_size:,} bytes" in written.err
    assert written.out == ""
    text = file.read_text("utf-8")
    assert "Acme" in text
    assert "1999" in text
    printed = shell("export", "--kb", "kb", "--format", form, "-o", "-")
    assert printed.code == 0
    assert printed.out == text
