"""What a user gets wrong, and what the machine does: a clear error or recovery, and nothing stored is lost."""

import errno
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest
from banyan import cli
from banyan.agents.resources import Resources
from banyan.graph_store import snapshot, store
from banyan.graph_store.database import Database
from banyan.graph_store.extractions import Extractions
from banyan.graph_store.layout import check_name, knowledge_bases
from banyan.graph_store.store import KnowledgeBase
from banyan.ingest.chunking import chunk_document
from banyan.schemas.documents import Document

from ..conftest import TESTS, load_test_module

scripted = load_test_module("scripted")

TEXTS = {
    "a.txt": "Ada:Person --employer--> Acme:Organization. Acme:Organization.founded = 1999.",
    "b.txt": "Acme:Organization --located_in--> Bonn:Place.",
    "c.txt": "Bob:Person --employer--> Acme:Organization.",
    "d.txt": "Bonn:Place --located_in--> Europe:Place.",
}


@dataclass
class Result:
    code: int
    out: str
    err: str


class Shell(scripted.Workshop):
    """The command line in this process, with the tests' embedder and reasoner."""

    def __init__(self, folder, embedder, monkeypatch, capsys):
        super().__init__(folder, embedder)
        self.monkeypatch = monkeypatch
        self.capsys = capsys
        monkeypatch.setattr("banyan.agents.resources.load_embedder", lambda _: self.embedder)
        monkeypatch.setattr(Resources, "_make_reasoner", lambda *_: self.scripted)
        monkeypatch.setenv("BANYAN_HOME", str(folder / "home"))
        monkeypatch.setenv("COLUMNS", "300")
        monkeypatch.chdir(folder)

    def __call__(self, *arguments):
        self.monkeypatch.setattr(sys, "argv", ["banyan", *map(str, arguments)])
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = self.capsys.readouterr()
        assert "Traceback" not in printed.err
        return Result(int(ended.value.code or 0), printed.out, printed.err.replace("\n", " "))

    def run_build(self, *paths, schema=True):
        given = paths or [self.documents]
        return self("build", *given, "--kb", "kb", "--json", *(["--schema", self.schema] if schema else []))

    def report(self):
        result = self.run_build()
        assert result.code == 0, result.err
        return orjson.loads(result.out)

    def sound(self):
        result = self("verify", "--kb", "kb")
        assert result.code == 0, result.out
        return True

    def kbs(self):
        return knowledge_bases(self.folder / "home")


@pytest.fixture
def shell(tmp_path, hashed_embedder, monkeypatch, capsys):
    for name in ("BANYAN_LLM_BASE_URL", "BANYAN_EMBEDDING_MODEL"):
        monkeypatch.delenv(name, raising=False)
    return Shell(tmp_path, hashed_embedder, monkeypatch, capsys)


# What is given to read.

def test_an_empty_folder(shell):
    result = shell.run_build()
    assert result.code == 1
    assert "there is nothing to read in" in result.err
    assert ".docx" in result.err
    assert shell.kbs() == [], "no empty knowledge base is left behind"
    shell.run_build(*shell.write(TEXTS))
    assert shell.run_build(shell.folder / "home" / "nothing").code == 1
    empty = shell.folder / "empty"
    empty.mkdir()
    assert shell.run_build(empty).code == 1
    assert shell.sound()
    assert len(shell.dump()["nodes"]) == 5


def test_a_path_that_is_not_there(shell):
    result = shell.run_build("nowhere.txt")
    assert result.code == 1
    assert "nowhere.txt does not exist: check its spelling" in result.err
    assert shell.kbs() == []


def test_an_empty_file_of_recorded_triples(shell):
    (shell.folder / "none.jsonl").write_text("\n", "utf-8")
    result = shell("import", "none.jsonl", "--format", "triples", "--kb", "kb", "--schema", "open")
    assert result.code == 1
    assert "there is nothing to read in none.jsonl" in result.err
    assert shell.kbs() == []


@pytest.mark.parametrize(("name", "data", "why"), [
    ("empty.txt", b"", "no text in it: fill it or take it out"),
    ("blank.md", b" \n\t\n", "no text in it: fill it or take it out"),
    ("program.txt", bytes(range(256)) * 40, "convert"),
    ("table.xyz", b"some text", ".xyz is not a known format: convert it to one of"),
    ("broken.json", b'[{"text": "a', "JSON"),
    ("broken.pdf", b"%PDF-1.4 nothing more", "pdf"),
])
def test_a_file_that_cannot_be_read_is_named_and_the_others_are_stored(shell, name, data, why):
    shell.write(TEXTS)
    (shell.documents / name).write_bytes(data)
    result = shell.run_build()
    assert result.code == 1
    assert f"not read: {shell.documents / name}: " in result.err
    assert why.lower() in result.err.lower()
    report = orjson.loads(result.out)
    assert report["documents"] == len(TEXTS)
    assert len(report["files_failed"]) == 1
    assert shell.sound()


def test_mixed_encodings_in_one_folder(shell):
    text = "Zoë:Person --knows--> Łukasz:Person. 张三:Person --knows--> 李四:Person."
    west = "Zoë:Person --knows--> André:Person. Zoë went to see André in a café, où elle a trouvé un élève."
    chinese = "张三:人物 --knows--> 王五:人物。" + "张三和王五是同学，他们在北京大学读书，后来一起创办了公司。" * 5
    for name, content, encoding in (("utf8.txt", text, "utf-8"), ("bom.txt", text, "utf-8-sig"),
                                    ("wide.txt", text, "utf-16"), ("west.txt", west, "cp1252"),
                                    ("gb.txt", chinese, "gb18030")):
        (shell.documents / name).write_bytes(content.encode(encoding))
    assert shell.report()["chunks_failed"] == 0
    with shell.resources() as resources:
        kb = resources.knowledge_base("kb")
        names = {kb.graph.entity(one).name for one in kb.graph.entity_ids()}
        assert kb.documents.get("bom.txt").text == text
    assert names == {"Zoë", "Łukasz", "张三", "李四", "André", "王五"}
    assert shell.sound()


def test_twenty_megabytes_in_one_line(tmp_path, hashed_embedder):
    """All of it is stored, and reading its chunks one by one, as extraction does, stays linear."""
    text = ("lorem ipsum dolor sit amet 42 consectetur " * 500_000)[:20_000_000]
    began = time.process_time()
    document = Document(id="big", title="big", text=text, source="test")
    with KnowledgeBase.create(tmp_path, "kb", hashed_embedder) as kb:
        kb.put_document(document, 400, 60)
        chunks = chunk_document(document, max_tokens=400, overlap_tokens=60)
        assert len(chunks) == kb.documents.count() > 5000
        for chunk in chunks:
            assert kb.documents.chunks([chunk.id]) == [chunk]
    assert time.process_time() - began < 60


# Names and questions.

@pytest.mark.parametrize("name", ["..", "../up", "a/b", "/etc", "a\0b", "x" * 300, "", ".", "a b", "-a", "a\n", "a\\b"])
def test_names_that_are_no_names(shell, name):
    result = shell("build", shell.documents, f"--kb={name}")
    assert result.code == 1
    assert "cannot name a knowledge base: use 1 to 64 letters, digits" in result.err
    assert len(result.err) < 500
    for command in (["ask", "Who?"], ["status"], ["delete", "a.txt"], ["reindex"]):
        result = shell(*command, f"--kb={name}")
        assert (result.code, "cannot name a knowledge base" in result.err) == (1, True)
    assert shell.kbs() == []
    assert {path.name for path in shell.folder.iterdir()} <= {"documents", "schema.json", "home"}


@pytest.mark.parametrize("name", ["a", "Börse-2024", "知识库", "x" * 64])
def test_names_of_any_script(name):
    assert check_name(name) == name


@pytest.mark.parametrize("command", [["ask", "Who is Ada?"], ["status"], ["documents"], ["verify"], ["reindex"],
                                     ["delete", "a.txt"]])
def test_a_knowledge_base_that_is_not_there(shell, command):
    result = shell(*command, "--kb", "none")
    assert result.code == 1
    assert "there is no knowledge base 'none' in" in result.err
    assert "make one with `banyan build`" in result.err
    assert shell.kbs() == []
    shell.run_build(*shell.write(TEXTS))
    assert "there are: kb" in shell(*command, "--kb", "none").err


def test_a_document_that_is_not_there(shell):
    shell.run_build(*shell.write(TEXTS))
    result = shell("delete", "z.txt", "--kb", "kb")
    assert result.code == 1
    assert "there is no document 'z.txt'; see `banyan documents`" in result.err


@pytest.mark.parametrize(("question", "why"), [
    ("", "the question is empty: ask something"), (" \n", "the question is empty"),
    ("who " * 25_000, "the question has 99,999 characters, at most 10,000 are read: shorten it"),
])
def test_questions_that_are_none(shell, question, why):
    shell.run_build(*shell.write(TEXTS))
    result = shell("ask", question, "--kb", "kb")
    assert result.code == 1
    assert why in result.err


@pytest.mark.parametrize("question", ["?!", "\ufffd\u200b", "🙂", "a", "Ada' OR 1=1 --", "[bold]Ada[/nothing]"])
def test_odd_questions_are_answered_or_abstained_from(shell, question):
    shell.run_build(*shell.write(TEXTS))
    result = shell("ask", "--kb", "kb", "--", question)
    assert result.code == 0, result.err
    assert result.out.strip()


# A store that is not as it was left.

class OtherEmbedder:
    """Another model: the same vectors turned round."""

    name = "another-model"
    fingerprint = "another-128"

    def __init__(self, embedder):
        self._embedder = embedder
        self.dimension = embedder.dimension

    def encode(self, texts):
        return self._embedder.encode(texts)[:, ::-1]


def test_a_store_of_another_embedding_model(shell):
    report = shell.run_build(*shell.write(TEXTS))
    shell.embedder = OtherEmbedder(shell.embedder)
    for command in (["ask", "Who?"], ["status"], ["verify"], ["build", shell.documents]):
        result = shell(*command, "--kb", "kb")
        assert result.code == 1
        assert "'kb' was built with the embedding model 'hashed-trigrams' and 'another-model' is in use" in result.err
        assert "`banyan reindex`" in result.err
    assert shell("reindex", "--kb", "kb").code == 0
    assert shell.sound()
    assert shell("ask", "Who employs Ada?", "--kb", "kb").code == 0
    assert orjson.loads(shell.run_build().out)["triples"] == orjson.loads(report.out)["triples"]
    assert set(shell.scripted.extracted.values()) == {1}


def test_a_reindex_that_ended_in_the_middle_is_taken_up(shell, monkeypatch):
    shell.run_build(*shell.write(TEXTS))
    before = shell.vectors()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(KnowledgeBase, "_put_chunks", full)
        result = shell("reindex", "--kb", "kb")
    assert result.code == 1
    assert "No space left on device" in result.err
    assert shell("ask", "Who employs Ada?", "--kb", "kb").code == 0
    assert shell.vectors() == before
    assert shell.sound()


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "gone", "position"])
def test_a_damaged_graph_file_is_made_again(shell, monkeypatch, damage):
    monkeypatch.setattr(store, "_SNAPSHOT_LEAST", 1)
    shell.run_build(*shell.write(TEXTS))
    before = shell.dump()
    path = shell.folder / "home" / "kb" / "graph.json"
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes({"cut": data[: len(data) // 2], "flip": data.replace(b"Bonn", b"Rome"), "empty": b"",
                          "position": data.replace(b'"position":4', b'"position":3')}[damage])
        assert path.read_bytes() != data
    assert shell("status", "--kb", "kb").code == 0
    assert shell.dump() == before
    assert shell.sound()


@pytest.mark.parametrize("damage", ["gone", "cut", "garbage"])
def test_lost_vectors_are_made_again(shell, damage):
    shell.run_build(*shell.write(TEXTS))
    before = shell.vectors()
    folder = shell.folder / "home" / "kb" / "chroma"
    if damage == "gone":
        shutil.rmtree(folder)
    elif damage == "cut":
        shutil.rmtree(next(path for path in folder.iterdir() if path.is_dir()))
        (folder / "chroma.sqlite3").unlink()
    else:
        (folder / "chroma.sqlite3").write_bytes(b"not a database" * 1000)
    result = shell("ask", "Who employs Ada?", "--kb", "kb")
    assert result.code == 0, result.err
    assert shell.vectors() == before
    assert shell.sound()


def test_a_ledger_that_is_none(shell):
    home = shell.folder / "home" / "kb"
    home.mkdir(parents=True)
    (home / "ledger.sqlite").write_bytes(b"this is no database at all" * 100)
    result = shell("status", "--kb", "kb")
    assert result.code == 1
    assert "is not a readable ledger" in result.err
    assert "restore it from a copy" in result.err


# A full disk, and Ctrl-C, in the middle of a build.

def after(shell):
    """The build that follows a broken one, compared with one that never broke; each chunk extracted once."""
    report = shell.report()
    assert report["stopped"] == ""
    assert shell.scripted.extracted == dict.fromkeys(TEXTS.values(), 1)
    whole = scripted.Workshop(shell.folder / "whole", shell.embedder)
    whole.build(whole.write(TEXTS))
    assert shell.dump() == whole.dump()
    assert shell.vectors() == whole.vectors()
    assert shell.sound()


def failing(original, error, *, after_calls=0):
    """A stand-in that does its work some times, then fails."""
    calls = []

    def stand_in(*arguments, **named):
        calls.append(arguments)
        if len(calls) > after_calls:
            raise error
        return original(*arguments, **named)

    return stand_in


@pytest.mark.parametrize(("owner", "name", "calls"), [
    (snapshot, "save", 0), (Extractions, "save", 2), (Extractions, "write", 1), (Database, "set_meta", 1),
], ids=["snapshot", "extraction", "writing", "vectors"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"),
                                   sqlite3.OperationalError("database or disk is full")], ids=["os", "sqlite"])
def test_a_full_disk_in_the_middle_of_a_build(shell, monkeypatch, owner, name, calls, error):
    monkeypatch.setattr(store, "_SNAPSHOT_LEAST", 1)
    first, *rest = shell.write(TEXTS)
    assert shell.run_build(first).code == 0
    stood = shell.dump()
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, failing(getattr(owner, name), error, after_calls=calls))
        result = shell.run_build(*rest)
    assert result.code == 1
    assert "o space left" in result.err or "database or disk is full" in result.err
    assert "Mend the cause (disk space, permissions) and run the command again" in result.err
    assert set(stood["nodes"]) <= set(shell.dump()["nodes"])
    after(shell)


def test_a_ledger_that_really_cannot_grow(shell, monkeypatch):
    """SQLite's own failure, at a size that it may not exceed."""
    first, *rest = shell.write({**TEXTS, "b.txt": TEXTS["b.txt"]})
    assert shell.run_build(first).code == 0
    stood = shell.dump()
    big = shell.documents / "big.txt"
    big.write_text("Filler sentence. " * 40_000, "utf-8")
    prepare = Database._prepare

    def small(self, path):
        prepare(self, path)
        self._connection.execute("PRAGMA max_page_count=60")

    with monkeypatch.context() as patch:
        patch.setattr(Database, "_prepare", small)
        result = shell.run_build(big, *rest)
        assert result.code == 1
        assert "database or disk is full" in result.err
        assert shell.dump() == stood
    big.unlink()
    after(shell)


def test_ctrl_c_in_the_middle_of_a_build(shell):
    paths = shell.write(TEXTS)
    seen = iter(range(2))
    lock = threading.Lock()

    def interrupt(_):
        with lock:
            if next(seen, None) is None:
                raise KeyboardInterrupt

    shell.scripted.before = interrupt
    result = shell.run_build(*paths)
    assert result.code == 130
    shell.scripted.before = lambda _: None
    after(shell)


INTERRUPTED = """
import importlib.util, signal, sys, threading
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import scripted
from hashed_embedding import HashedEmbedder
from banyan import cli
from banyan.agents import resources

signal.signal(signal.SIGINT, signal.default_int_handler)
reasoner = scripted.ScriptedReasoner(HashedEmbedder())
extracted, slow = Path("extracted.txt"), sys.argv[2] == "slow"
calling = threading.Lock()

def before(text):
    with calling:
        if slow and extracted.exists() and len(extracted.read_text().splitlines()) >= 2:
            print("calling", flush=True)
            threading.Event().wait(1)
            raise OSError("the endpoint never answered")
        with extracted.open("a") as file:
            file.write(text + "\\n")

reasoner.before = before
resources.load_embedder = lambda _: reasoner._embedder
resources.Resources._make_reasoner = lambda *_: reasoner
sys.argv = ["banyan", "build", "documents", "--kb", "kb", "--schema", "schema.json", "--json"]
cli.main()
"""


def test_sigint_to_a_building_process(shell):
    shell.write(TEXTS)
    script = shell.folder / "interrupted.py"
    script.write_text(INTERRUPTED, "utf-8")
    command = [sys.executable, str(script), str(TESTS)]
    with subprocess.Popen([*command, "slow"], cwd=shell.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        try:
            assert process.stdout.readline() == "calling\n"
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130, err
    assert "interrupted; what was done stands. Run the command again to go on from here" in err
    assert "Traceback" not in err
    done = subprocess.run([*command, "quick"], cwd=shell.folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert orjson.loads(done.stdout)["documents"] == len(TEXTS)
    assert sorted((shell.folder / "extracted.txt").read_text("utf-8").splitlines()) == sorted(TEXTS.values())
    assert shell.sound()
    assert Path(shell.folder / "home" / "kb" / "ledger.sqlite").is_file()
