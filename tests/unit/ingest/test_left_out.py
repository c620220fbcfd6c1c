"""What a folder holds besides documents: it is left out, and counted."""

from ... import loading

load, write = loading.load, loading.write


def test_files_of_programs_are_left_out_and_counted_once(tmp_path):
    for name in ("a.md", "node_modules/x/README.md", "web/node_modules/y.md", "package-lock.json", "sub/Cargo.lock",
                 "app.min.js", "~$plan.docx", "Thumbs.db", "desktop.ini"):
        write(tmp_path / name, "words")
    documents, failures = load(tmp_path)
    assert [document.id for document in documents] == ["a.md"]
    (found,) = failures
    assert found.path == str(tmp_path)
    assert found.reason.startswith("left out: *.min.js (1), cargo.lock (1), desktop.ini (1), node_modules/ (2), "
                                   "package-lock.json (1), thumbs.db (1), ~$* (1): ")


def test_an_ignore_file_has_the_syntax_of_git(tmp_path):
    for name in ("a.md", "b.log", "drafts/c.md", "drafts/keep.md", "deep/drafts/d.md", "deep/e.txt", "deep/f.txt"):
        write(tmp_path / name, "words")
    write(tmp_path / ".banyanignore", "# comment\n*.log\n/drafts/*\n!/drafts/keep.md\ndeep/*.txt\n!f.txt\n")
    documents, failures = load(tmp_path)
    assert [document.id for document in documents] == ["a.md", "deep/drafts/d.md", "deep/f.txt", "drafts/keep.md"]
    assert [found.reason for found in failures] == ["left out: 3 files and folders that .banyanignore names"]


def test_texts_with_a_customary_name_need_no_ending_and_asciidoc_is_text(tmp_path):
    for name in ("README", "License", "notes", "plan.adoc"):
        write(tmp_path / name, f"the {name}")
    documents, failures = load(tmp_path)
    assert [document.text for document in documents] == ["the License", "the README", "the plan.adoc"]
    assert [found.path for found in failures] == [str(tmp_path / "notes")]
