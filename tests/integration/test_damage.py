"""What can happen to the files of a knowledge base: each damage is detected, named, and repaired or refused.

Whatever it is, what was extracted is there afterwards, or the ledger's damage is named and a backup restores it.
"""

import random
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing

import pytest
from banyan.graph_store.integrity.backup import back_up
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout
from banyan.graph_store.store_errors import StoreError
from filelock import FileLock

from .. import command_line, scripted, warm_start
from ..newest import dump_graph, newest

pytestmark = pytest.mark.sqlite  # files with ledgers are copied and broken


PEOPLE = 30


def text(number):
    return (f"P{number}:Person --knows--> P{number + 1}:Person. "
            f"P{number}:Person --employer--> Firm{number % 7}:Organization.")


@pytest.fixture(scope="module")
def built(tmp_path_factory, hashed_embedder):
    shop = scripted.Workshop(tmp_path_factory.mktemp("damage"), hashed_embedder)
    paths = shop.write({f"d{number}.txt": text(number) for number in range(PEOPLE)})
    assert shop.build(paths)["chunks_failed"] == 0
    with shop.resources() as resources, KnowledgeBase.open(shop.settings.home, "kb", shop.embedder) as kb:
        assert verify(kb) == []
        shop.state = dump_graph(kb.graph), said(kb), newest(resources).kb.communities.all()
    back_up(Layout.of(shop.settings.home, "kb"), shop.folder / "kb.zip", shop.embedder)
    return shop


@pytest.fixture
def shell(built, tmp_path, hashed_embedder, monkeypatch, capsys):
    shell = scripted.Shell(tmp_path, hashed_embedder, monkeypatch, capsys)
    shutil.copytree(built.settings.home, tmp_path / "home")
    shutil.copytree(built.documents, tmp_path / "documents", dirs_exist_ok=True)
    shutil.copy(built.folder / "kb.zip", tmp_path)
    return shell


def said(kb):
    return {chunk.id: kb.extractions.get(chunk.id) for chunk in kb.documents.chunks()}


def state(shell):
    with KnowledgeBase.open(shell.settings.home, "kb", shell.embedder) as kb:
        return dump_graph(kb.graph), said(kb), kb.communities.all()


def files(home):
    root = home / "kb"
    return {"graph.json": root / "graph.json", "chroma.sqlite3": next(root.glob("chroma*/chroma.sqlite3"))}


def damage(path, kind, seed=0):
    """Do something to a file, as disks and people do; the same for the same seed."""
    data, rng = bytearray(path.read_bytes()), random.Random(seed)
    at = rng.randrange(len(data.rstrip(b"\0")) or len(data))
    if kind == "gone":
        path.unlink()
        return
    if kind == "flip":
        data[at] ^= rng.randrange(1, 256)
    elif kind == "page":
        start, end = at // 4096 * 4096, min(at // 4096 * 4096 + 4096, len(data))
        data[start:end] = rng.randbytes(end - start)
    else:
        # Whole pages: within a page SQLite reads zeros for what is gone, and only what was written there tells.
        data = data[:at // 1024 * 1024]
    path.write_bytes(data)


# How the graph's file is damaged a property test tries.
@pytest.mark.parametrize(("name", "kind"), [
    ("graph.json", "flip"), ("chroma.sqlite3", "cut"),
    *(pytest.param(*more, marks=pytest.mark.slow) for more in (("graph.json", "gone"), ("chroma.sqlite3", "flip")))])
def test_a_damaged_derived_file_is_named_and_made_again(shell, built, name, kind):
    path = files(shell.settings.home)[name]
    if name == "chroma.sqlite3":
        with closing(sqlite3.connect(path)) as database:
            database.execute("VACUUM")  # in a page that nothing uses damage is none
    damage(path, kind, seed=sum(map(ord, name + kind)))
    verified = shell("verify", "--kb", "kb")
    named = "made again from the ledger" in verified.out or "run `banyan reindex`" in verified.out
    harmless = kind == "flip" or (kind, name) == ("gone", "graph.json")
    assert (verified.code, named) == (1, True) or (harmless and verified.code == 0), verified
    assert named == (path.name in verified.out or "the vectors" in verified.out)
    asked = shell("ask", "Who employs P3?", "--kb", "kb")
    assert asked.code == 0 or "run `banyan reindex`" in asked.err, asked
    again = shell("verify", "--kb", "kb")
    if again.code:
        assert "run `banyan reindex`" in again.out, again
        assert shell("reindex", "--kb", "kb").code == 0
        again = shell("verify", "--kb", "kb")
    assert (again.code, again.out) == (0, "all is well\n"), again
    assert state(shell) == built.state


def run(shell, *arguments):
    done = command_line.CommandLine(shell.folder, ((warm_start.HASHED, "1"), ("COLUMNS", "300")))(
        *arguments, "--kb", "kb")
    assert done.code in (0, 1), done
    return done


def test_what_can_be_derived_again_is_repaired_and_the_rest_is_named(shell, built):
    damage(files(shell.settings.home)["graph.json"], "cut")
    with KnowledgeBase.open(shell.settings.home, "kb", shell.embedder) as kb, kb.writing():
        kb.database.execute("UPDATE chunks SET ordinal = 7 WHERE document = 'd1.txt'")
    repaired = shell("verify", "--kb", "kb", "--repair")
    assert repaired.code == 1
    assert "graph.json is damaged" in repaired.out.partition("repaired: ")[2]
    assert "document 'd1.txt', chunk 7: chunk 0 was expected" in repaired.out
    assert "1 problems" in repaired.out
    with KnowledgeBase.open(shell.settings.home, "kb", shell.embedder) as kb, kb.writing():
        kb.database.execute("UPDATE chunks SET ordinal = 0 WHERE document = 'd1.txt'")
    shell("verify", "--kb", "kb", "--repair")
    assert shell("verify", "--kb", "kb").code == 0
    assert state(shell) == built.state


def test_what_is_being_written_to_is_not_verified(shell):
    with FileLock(shell.settings.home / "kb" / "writer.lock"):
        shell("verify", "--kb", "kb").refused("another process is writing to 'kb'")


def test_vectors_whose_writer_was_killed_are_refused_and_made_again_by_the_next(shell, built):
    """A killed writer leaves no mark of completeness, and files of any content."""
    path = files(shell.settings.home)["chroma.sqlite3"]
    (path.parent / "complete").unlink()
    damage(path, "page")
    index = shell.settings.home / "kb" / "index.bin"
    index.rename(shell.folder / "index.bin")
    with (FileLock(index.with_name("writer.lock")),
          KnowledgeBase.open(shell.settings.home, "kb", shell.embedder) as reader):
        with pytest.raises(StoreError, match="they are being written, or their writer was killed"):
            reader.vectors.ids("chunks")
        assert reader.index()["chunks"].size == PEOPLE, "who reads meanwhile embeds"
    (shell.folder / "index.bin").rename(index)
    assert shell.sound()
    assert state(shell) == built.state


@pytest.mark.parametrize("kind", ["page", "gone"])
def test_a_damaged_ledger_is_named_and_refused_and_a_backup_restores_it(shell, built, kind):
    path = shell.settings.home / "kb" / "ledger.sqlite"
    damage(path, kind)
    verified = shell("verify", "--kb", "kb")
    assert verified.code == 1, "every page is somebody's"
    shown = verified.out + verified.err
    assert "ledger" in shown or "document 'd" in shown
    assert "banyan restore FILE --kb NAME --force" in shown
    for command in (["status"], ["ask", "Who employs P3?"], ["build", shell.documents], ["backup", "-o", "new.zip"]):
        result = shell(*command, "--kb", "kb")
        assert result.code == 0 or "banyan restore FILE" in result.err, (command, result)
    assert not (shell.folder / "new.zip").exists() or kind == "page"
    result = shell("restore", "kb.zip", "--kb", "kb", "--force")
    assert result.code == 0, result.err
    assert shell.sound()
    assert state(shell) == built.state


def test_an_empty_ledger_never_takes_the_place_of_a_lost_one(shell):
    root = shell.settings.home / "kb"
    (root / "ledger.sqlite").unlink()
    for command in (["build", shell.documents], ["status"], ["reindex"]):
        shell(*command, "--kb", "kb").refused("ledger.sqlite is missing, and what was made from it is there")
    assert not (root / "ledger.sqlite").exists()


@pytest.fixture
def mounted(tmp_path):
    done = []

    def mount(*arguments):
        result = subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True, check=False)
        if result.returncode:
            pytest.skip(f"mounting takes rights that this machine does not give: {result.stderr.strip()}")
        if not any("remount" in str(one) for one in arguments):
            done.append(arguments[-1])

    yield mount
    for place in reversed(done):
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_read_only_folder_is_refused_with_the_cause(shell, built, mounted):
    home = shell.settings.home
    mounted("--bind", home, home)
    mounted("-o", "remount,ro,bind", home)
    for command in (["build", shell.documents], ["delete", "d1.txt"], ["reindex"], ["restore", "kb.zip", "--force"],
                    ["verify"], ["ask", "Who employs P3?"]):
        result = run(shell, *command)
        if result.code:
            shown = result.err + result.out  # `verify` lists what cannot be read
            assert re.search("ead-only|readonly|unable to open", shown), result
            assert "Fix the cause (disk space, permissions)" in shown or "reindex" in shown, result
        else:
            assert command[0] in ("ask", "verify"), result
    run(shell, "backup", "-o", "kb2.zip")
    subprocess.run(["mount", "-o", "remount,rw,bind", str(home)], check=True)
    assert state(shell) == built.state
    assert shell.sound()


def test_questions_work_on_a_disk_without_any_room(shell, mounted):
    """Not even for SQLite's log; what else cannot be derived is made in memory."""
    home, plain = shell.settings.home, shell.folder / "plain"
    asked = answer(shell)
    home.rename(plain)
    home.mkdir()
    mounted("-t", "tmpfs", "-o", "size=20m", "tmpfs", home)
    shutil.copytree(plain, home, dirs_exist_ok=True)
    fill(home)
    assert answer(shell) == asked
    assert run(shell, "status").code == 0
    assert shell("list").code == 0
    refused = run(shell, "delete", "d1.txt")
    assert (refused.code, "full" in refused.err) == (1, True), refused
    (home / "filler").unlink()
    for path in ("index.bin", "graph.json"):
        (home / "kb" / path).unlink()
    shutil.rmtree(home / "kb" / "chroma")
    fill(home)
    assert answer(shell) == asked
    (home / "filler").unlink()
    assert answer(shell) == asked
    assert shell.sound()


def answer(shell):
    return shell.data("ask", "Who employs P3?")


def fill(disk):
    with pytest.raises(OSError, match="No space"), (disk / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_derived_files_of_another_base_are_not_read(shell, built, hashed_embedder):
    """Both bases had one build of as many documents, so all their counters agree."""
    other = scripted.Workshop(shell.folder / "second", hashed_embedder)
    other.build(other.write({f"d{number}.txt": text(number).replace("Firm", "Corp") for number in range(PEOPLE)}))
    for name in ("index.bin", "graph.json"):
        shutil.copy(other.settings.home / "kb" / name, shell.settings.home / "kb" / name)
    shutil.rmtree(shell.settings.home / "kb" / "chroma")
    shutil.copytree(other.settings.home / "kb" / "chroma", shell.settings.home / "kb" / "chroma")
    said = answer(shell)
    assert "Corp" not in str(said)
    assert "Firm3" in str(said)
    assert state(shell) == built.state
    assert shell.sound()
