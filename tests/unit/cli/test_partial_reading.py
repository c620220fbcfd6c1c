"""What `banyan build` and `banyan status` print of what was not read, and of files that were moved."""

from ... import scripted

shell = scripted.shell
FACT = "Ada:Person --employer--> Acme:Organization."


def test_parts_that_were_not_read_are_listed_by_build_and_status(shell):
    shell.write({f"{number:02}.rtf": rf"{{\rtf1 {FACT}{{\pict 00}}{{\footnote no}}}}" for number in range(22)})
    built = shell("build", shell.documents, "--kb", "kb", "--schema", "open")
    assert built.code == 0
    assert "partly read: 00.rtf: 1 picture, 1 footnote" in built.err
    assert built.err.count("partly read:") == 20
    assert "and 2 more; `banyan status --kb kb --json` lists all" in built.err
    status = " ".join(shell("status", "--kb", "kb").out.split())
    assert "22, in 22 chunks, all read; 22 documents only in part" in status
    assert "partly read: 00.rtf: 1 picture, 1 footnote" in status


def test_a_moved_file_is_offered_with_the_command_that_deletes_its_old_document(shell):
    shell.write({"old plan.txt": FACT})
    assert shell("build", shell.documents, "--kb", "kb", "--schema", "open").code == 0
    (shell.documents / "old plan.txt").rename(shell.documents / "plan.txt")
    built = shell("build", shell.documents, "--kb", "kb")
    assert "moved: old plan.txt -> plan.txt" in built.err
    assert "banyan delete 'old plan.txt' --kb kb" in built.err
    assert shell("delete", "old plan.txt", "--kb", "kb").code == 0


def test_a_build_without_paths_repeats_what_failed_and_creates_nothing(shell):
    shell.monkeypatch.setenv("BANYAN_KB", "kb")
    for words in (["build"], ["build", "--kb", "kb"]):
        assert "name files or folders to read" in shell(*words).err
    assert shell("build", "--kb", "nothing", "--retry-failed").code == 1
    assert shell.kbs() == []
    shell.copy_built()
    assert shell("build", "--kb", "kb", "--retry-failed").code == 0
