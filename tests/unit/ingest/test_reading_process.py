"""Files whose parser can be made to fail: their failure is theirs alone, and ends in time."""

import asyncio
import resource
import time
import zipfile
from pathlib import Path

import pytest
from banyan.ingest.loaders import load_documents
from banyan.ingest.reading import Limits
from banyan.runtime.threads import in_thread, run

RTF = r"{\rtf1\ansi Good words.}"


def load(folder: Path, **limits: float) -> tuple[dict[str, str], dict[str, str]]:
    failures: dict[str, str] = {}
    documents = load_documents([folder], limits=Limits(**limits),
                               on_failure=lambda f: failures.__setitem__(Path(f.path).name, f.reason))
    return {document.id: document.text for document in documents}, failures


def docx(path: Path, body: str, styles: str = "", root: str = "document") -> None:
    names = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", (
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" '
            'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'))
        archive.writestr("_rels/.rels", (
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
            'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
            'Target="word/document.xml"/></Relationships>'))
        archive.writestr("word/document.xml", f"<w:{root} {names}>{body}</w:{root}>")
        archive.writestr("word/styles.xml", f"<w:styles {names}>{styles}</w:styles>")


def paragraph(text: str, style: str = "") -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'


def test_odd_files_among_good_ones_fail_alone(tmp_path):
    (tmp_path / "a.rtf").write_text(RTF)
    docx(tmp_path / "bodyless.docx", "")
    docx(tmp_path / "root.docx", "<w:body/>", root="other")
    docx(tmp_path / "style.docx", f"<w:body>{paragraph('Styled.', '&quot;]|//*[')}<w:p><w:pPr><w:pStyle/></w:pPr><w:r>"
                                  "<w:t>Bare.</w:t></w:r></w:p></w:body>")
    (tmp_path / "hex.html").write_bytes(b"<meta charset=hex><p>Caf\xe9 in the old town, f\xfcr alle.</p>")
    (tmp_path / "escape.html").write_bytes(b"<meta charset=unicode_escape><p>Caf\xe9 \\u0041 in the old town</p>")
    (tmp_path / "z.md").write_text("Plain words.")
    documents, failures = load(tmp_path)
    assert documents["a.rtf"].strip() == "Good words."
    assert documents["z.md"] == "Plain words."
    assert documents["style.docx"] == "Styled.\n\nBare."
    assert documents["hex.html"] == "Café in the old town, für alle."
    assert "\\u0041" in documents["escape.html"]
    assert failures.keys() == {"bodyless.docx", "root.docx"}


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """A folder where files are read as they say: not to their end, in pages, with all memory, or not at all."""
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(
        "import banyan.ingest.readers.office_files as module\n"
        "import time\n"
        "from banyan.ingest.reading import ON_PAGE\n"
        "read = module.read_rtf\n"
        "def wait(data, limits):\n"
        "    if b'forever' in data: time.sleep(600)\n"
        "    if b'pages' in data:\n"
        "        for _ in range(4): time.sleep(3.5); ON_PAGE.get()()\n"
        "    if b'memory' in data: bytearray(2 ** 40)\n"
        "    if b'crash' in data: import os; os.abort()\n"
        "    return read(data, limits)\n"
        "module.read_rtf = wait\n")
    monkeypatch.syspath_prepend(str(hook))
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.rtf").write_text(RTF)
    (folder / "z.rtf").write_text(RTF)
    return folder


def test_a_file_that_never_ends_crashes_or_takes_all_memory_ends_alone_and_each_page_has_a_deadline(slow):
    for name, word in (("b", "memory"), ("c", "pages"), ("d", "crash"), ("e", "forever")):
        (slow / f"{name}.rtf").write_text(rf"{{\rtf1 {word}}}")
    documents, failures = load(slow, seconds=12)  # a process that starts takes some of it
    assert documents.keys() == {"a.rtf", "c.rtf", "z.rtf"}
    assert failures.keys() == {"b.rtf", "d.rtf", "e.rtf"}
    assert "MB of memory" in failures["b.rtf"]
    assert "the process that read it ended" in failures["d.rtf"]
    assert "not read within 12 s (BANYAN_MAX_FILE_SECONDS)" in failures["e.rtf"]


def test_a_cancelled_run_ends_the_file_that_is_read(slow):
    (slow / "b.rtf").write_text(r"{\rtf1 forever}")
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        run(asyncio.wait_for, in_thread(load, slow), 2)
    assert time.monotonic() - began < 60


def test_json_that_takes_many_times_its_size_ends_alone(tmp_path):
    values = "[]," * 4_000_000  # 12 MB of text, 250 MB of lists
    (tmp_path / "a.json").write_text('[{"text": "Fine.", "id": "fine"}]')
    (tmp_path / "b.json").write_text(f'[{{"text": "Huge.", "more": [{values}1]}}]')
    (tmp_path / "c.jsonl").write_text(f'{{"text": "Huge.", "more": [{values}1]}}\n{{"text": "Next."}}\n')
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    documents, failures = load(tmp_path, memory_mb=256)
    assert documents == {"a.json/fine": "Fine.", "c.jsonl#1": "Next."}
    assert "more than 256 MB of memory" in failures["b.json"]
    assert "more than 100,000 values in one record" in failures["c.jsonl"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000  # in KB: some copies of the text
