"""The construction graph: resumable, idempotent, a function of what was extracted and accepted."""

import subprocess
import sys
import threading

import pytest
from banyan.agents.construction.graph import build_graph
from banyan.agents.construction.state import BuildContext
from banyan.graph_store.evolution.control import SchemaControl
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout
from banyan.graph_store.store_errors import WriterBusyError
from banyan.graph_store.vectors.vector_synchroniser import VectorSynchroniser
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from .. import scripted

TEXTS = {
    "a.txt": "Ada:Person --employer--> Acme:Organization. Acme:Organization.founded = 1999.",
    "b.txt": "Acme:Organization --located_in--> Bonn:Place. Bob:Person --employer--> Acme:Organization.",
    "c.txt": "Bonn:Place --located_in--> Europe:Place. Ada:Person --knows--> Bob:Person (0.7).",
    "d.txt": "Bob:Person --knows--> Cem:Person.",
}


def others(shop, name, **settings):
    return scripted.Workshop(shop.folder / name, shop.embedder, **settings)


def test_a_batch_is_extracted_while_the_one_before_is_written(tmp_path, hashed_embedder, monkeypatch):
    shop = scripted.Workshop(tmp_path, hashed_embedder, batch_chunks=1)
    write, asked, written = SchemaControl.write, threading.Event(), []

    def written_late(control, chunks):
        if not written:
            assert asked.wait(30), "the second batch is not extracted until the first is written"
        written.extend(chunks)
        write(control, chunks)

    shop.scripted.before = lambda text: asked.set() if text == TEXTS["b.txt"] else None
    monkeypatch.setattr(SchemaControl, "write", written_late)
    report = shop.build(shop.write(TEXTS))
    assert len(written) == len(set(written)) == report["chunks"] == 4
    assert shop.problems() == []


# Killed and resumed; order and batches; deletion.

@pytest.mark.parametrize(("owner", "step"), [(SchemaControl, "write"), (VectorSynchroniser, "sync")])
def test_a_build_that_died_between_steps_is_taken_up_where_it_was(shop, monkeypatch, owner, step):
    paths = shop.write(TEXTS)

    class Killed(BaseException):
        pass

    def die(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, die)
        with pytest.raises(Killed):
            shop.build(paths)
    assert shop.build(paths)["stopped"] == ""
    assert shop.scripted.extracted == dict.fromkeys(TEXTS.values(), 1)
    whole = others(shop, "whole")
    whole.copy_built(TEXTS)
    assert shop.dump() == whole.dump()
    assert shop.vectors() == whole.vectors()
    assert shop.problems() == []


HOLD = """
import sys
from filelock import FileLock
with FileLock(sys.argv[1], timeout=0):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.sqlite
def test_another_process_that_writes_keeps_a_build_out_and_not_a_reader(shop):
    paths = shop.copy_built(TEXTS)
    lock = Layout.of(shop.settings.home, "kb").lock
    with subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as holder:
        try:
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(WriterBusyError, match=r"another process is writing to 'kb'; wait until it has"):
                shop.build(paths)
            assert len(shop.dump()["nodes"]) == 6
        finally:
            holder.communicate("\n", timeout=20)
    shop.build(paths)


def test_nothing_is_deleted_or_made_anew_while_a_build_of_this_process_runs(shop):
    shop.copy_built(TEXTS)
    before = shop.dump()
    with shop.resources() as resources:
        with resources.writers.step("kb", "a run"), pytest.raises(WriterBusyError):
            resources.delete_documents("kb", ["a.txt"])
        with pytest.raises(WriterBusyError):  # between two steps
            resources.reindex("kb")
        resources.writers.finish("kb", "a run")
        resources.delete_documents("kb", ["a.txt"])
    assert shop.dump() != before


def test_labels_that_cannot_name_an_element_are_no_candidates_and_stop_no_build(shop):
    labels = (" ", "?!", "x" * 150, "tab\tbed\ue000")
    texts = {f"{name}.txt": " ".join(f"{name}:Person --{label}--> Eve:Person." for label in ("knows", *labels))
             for name in ("Ada", "Cem")}
    report = shop.build(shop.write(texts))
    assert (report["triples"], report["schema_version"]) == (2, 1)
    assert report["rejected"] == {"unknown_relation": 2 * len(labels)}


def test_while_a_person_decides_others_may_write(shop):
    with shop.resources() as resources:
        graph = build_graph(resources, InMemorySaver())
        config = {"configurable": {"thread_id": "1"}}
        graph.invoke(shop.given(shop.write(scripted.WAITING)), config, context=BuildContext(review=True))
        assert graph.get_state(config).interrupts
        with KnowledgeBase.open(shop.settings.home, "kb", shop.embedder) as other, other.writing():
            other.database.set_meta("someone", "else")
        result = graph.invoke(Command(resume={"decisions": []}), config, context=BuildContext(review=True))
    assert result["report"]["stopped"] == ""


def test_a_build_names_each_file_before_it_reads_it(tmp_path, hashed_embedder):
    shop = scripted.Workshop(tmp_path, hashed_embedder)
    paths = shop.write({"a.txt": "Ada:Person --employer--> Acme:Organization.", "b.csv": "name,city\nAda,Bonn\n"})
    with shop.resources() as resources:
        events = list(build_graph(resources).stream(shop.given(paths), stream_mode="custom"))
    begun = [(event["file"], event["done"]) for event in events if event["step"] == "read"]
    assert [file for file, _ in begun[:2]] == ["a.txt", "b.csv"]
    assert begun[-1] == ("b.csv", 2)
    assert {event["file"] for event in events if event["step"] != "read"} == {""}
