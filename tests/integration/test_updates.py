"""Documents that change: what is in service stays until what replaces it is there; in the end nothing of it is left."""

import csv
import io
import json
from contextlib import contextmanager
from itertools import count

import pytest
from banyan.graph_store.evolution.control import SchemaControl
from banyan.graph_store.integrity.verify import verify
from banyan.models.reasoner import ReasonerError
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from .. import scripted
from ..conftest import EXAMPLES
from ..newest import contents, newest

FILLER = " ".join(f"Filler sentence number {n} stands here." for n in range(24))
OLD = "Ada:Person --employer--> Acme:Organization."
NEW = "Ada:Person --employer--> Bolt:Organization."
NEWER = "Ada:Person --employer--> Core:Organization."


def text(*facts):
    return "# Title\n\n" + "\n\n".join(f"## {fact[:3]}\n\n{fact} {FILLER}" for fact in facts)


KEPT = "Bob:Person --knows--> Eva:Person."
LAST = "Acme:Organization --located_in--> Bonn:Place."


@pytest.fixture
def shop(tmp_path, hashed_embedder):
    return scripted.Workshop(tmp_path, hashed_embedder, chunk_tokens=120, chunk_overlap=0)


def state(shop):
    with shop.resources() as resources:
        kb = newest(resources).kb
        return contents(kb) | {
            "chunks": [c.model_dump() for c in kb.documents.chunks()], "repairs": kb.extractions.count_repairs(),
            "updating": [entry.id for entry in kb.documents.entries() if entry.updating], "records": records(kb)}


def records(kb):
    engine = kb.open_tables(kb.graph)
    return {table.name: engine.run(f"SELECT * FROM {table.name}").rows
            for table in engine.tables() if table.kind == "records"}


def fresh(shop, texts, name="fresh"):
    other = scripted.Workshop(shop.folder / name, shop.embedder, chunk_tokens=120, chunk_overlap=0)
    if texts:
        other.build(other.write(texts))
    return state(other)


def paid(shop):
    """How often each chunk with a fact was asked for; what is filler alone stands in several chunks."""
    return {number for said, number in shop.scripted.extracted.items() if "--" in said}


def failing(words, error=ReasonerError):
    def before(text):
        if words in text:
            raise error(f"no answer for {words}")
    return before


def test_only_changed_chunks_are_extracted_again(shop):
    shop.copy_built({"a.md": text(KEPT, OLD, LAST)})
    shop.scripted.extracted.clear()
    shop.build(shop.write({"a.md": text(KEPT, NEW, LAST)}))
    said = "".join(shop.scripted.extracted)
    assert "Bolt" in said
    assert "Eva" not in said
    assert "Bonn" not in said
    assert paid(shop) == {1}
    assert state(shop) == fresh(shop, {"a.md": text(KEPT, NEW, LAST)})


def test_old_facts_answer_until_the_new_ones_are_there(shop):
    shop.copy_built({"a.md": text(KEPT, OLD, LAST)})
    stood = shop.dump()
    shop.scripted.before = failing("Bolt")
    report = shop.build(shop.write({"a.md": text(NEW, KEPT, LAST)}))
    assert report["chunks_failed"] == 1
    assert shop.dump() == stood
    with shop.resources() as resources:
        kb = newest(resources).kb
        assert verify(kb) == []
        assert "Acme" in kb.documents.get("a.md").text
        assert [(entry.failed, entry.updating) for entry in kb.documents.entries()] == [(1, True)]
    shop.scripted.before = lambda _: None
    shop.build(retry_failed=True)
    assert state(shop) == fresh(shop, {"a.md": text(NEW, KEPT, LAST)})
    assert paid(shop) == {1}


@pytest.mark.parametrize("step", ["extract", "swap"])
def test_a_build_that_died_in_between_leaves_the_old_facts_and_is_taken_up(shop, monkeypatch, step):
    shop.copy_built({"a.md": text(KEPT, OLD, LAST)})
    stood = shop.dump()
    paths = shop.write({"a.md": text(KEPT, NEW, NEWER)})
    calls = count()
    write = SchemaControl.write

    def dies(self, chunk_ids):
        write(self, chunk_ids)
        if next(calls) == 0:
            raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        if step == "extract":
            shop.scripted.before = failing("Core", OSError)
        else:
            patch.setattr(SchemaControl, "write", dies)
        with pytest.raises(OSError, match=r"no answer|no space"):
            shop.build(paths)
    shop.scripted.before = lambda _: None
    assert shop.dump() == stood
    shop.build()
    assert state(shop) == fresh(shop, {"a.md": text(KEPT, NEW, NEWER)})
    assert paid(shop) == {1}


def test_a_document_deleted_while_its_update_waits_is_gone(shop):
    shop.copy_built({"a.md": text(KEPT, OLD), "b.md": LAST})
    shop.scripted.before = failing("Bolt")
    shop.build(shop.write({"a.md": text(KEPT, NEW)}))
    shop.scripted.before = lambda _: None
    shop.delete("a.md")
    shop.build(retry_failed=True)
    assert state(shop) == fresh(shop, {"b.md": LAST})


NAMES = ["Ada:Person", "Bob:Person", "Eva:Person", "Acme:Organization", "Bolt:School", "Bonn:Place", "Go:Game"]
_FACT = st.builds("{} --{}--> {} (0.9).".format, st.sampled_from(NAMES),
                  st.sampled_from(["employer", "works for", "knows", "located_in", "plays", "mentor of"]),
                  st.sampled_from(NAMES)) | st.just("Acme:Organization.founded = 1999.")
_TEXT = st.lists(_FACT, min_size=1, max_size=3).map(" ".join)
_ROWS = st.dictionaries(st.sampled_from(["k1", "k2", "k3", "k4"]), st.tuples(_FACT, st.integers(0, 99)), min_size=1)


def table(rows):
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(
        [("id", "note", "amount"), *((key, *row) for key, row in sorted(rows.items()))])
    return written.getvalue()


def documents_of_rows(rows):
    return "".join(json.dumps({"id": key, "text": fact, "amount": amount}) + "\n"
                   for key, (fact, amount) in sorted(rows.items()))


_FILES = st.dictionaries(st.sampled_from(["a.md", "b.md", "c.md"]), st.lists(
    _TEXT, min_size=1, max_size=3).map(lambda parts: text(*parts)), min_size=1, max_size=2)
_RECORDS = st.fixed_dictionaries({"rows.csv": _ROWS.map(table)}, optional={"notes.jsonl": _ROWS.map(documents_of_rows)})
_STEP = st.one_of(
    st.tuples(st.just("put"), st.one_of(_FILES, _RECORDS)),
    st.tuples(st.just("broken"), st.dictionaries(st.sampled_from(["a.md", "b.md", "c.md"]), _TEXT, min_size=1,
                                                 max_size=2)),
    st.tuples(st.just("broken"), _RECORDS),
    st.tuples(st.just("delete"), st.sampled_from(["a.md", "b.md", "c.md", "rows.csv"])),
    st.tuples(st.just("reindex"), st.none()))


def play(shop, steps):
    left = {}
    for step, value in steps:
        if step in ("put", "broken"):
            left.update(value)
            shop.scripted.before = failing("--") if step == "broken" else lambda _: None
            shop.build(shop.write(value))
            shop.scripted.before = lambda _: None
        elif step == "delete" and left.pop(value, None) is not None:
            shop.delete(value)
        elif step == "reindex" and (shop.folder / "home" / "kb").exists():
            with shop.resources() as resources:
                resources.reindex("kb")
    shop.build(retry_failed=True)
    return left


class Server(scripted.Workshop):
    """A workshop whose resources stay open from one step to the next, as a server's do."""

    def __enter__(self):
        self.open = scripted.Workshop.resources(self)
        return self

    def __exit__(self, *_):
        self.open.close()

    @contextmanager
    def resources(self):
        yield self.open


# A history with each kind of step; `make slow` makes up more.
@settings(max_examples=EXAMPLES, phases=[Phase.explicit, *([Phase.generate] if EXAMPLES > 1 else [])])
@example(steps=[("put", {"a.md": text(KEPT, OLD), "b.md": text(LAST, "Ada:Person --plays--> Go:Game (0.9).")}),
                ("broken", {"a.md": f"{NEW} {KEPT}", "c.md": "Bob:Person --mentor of--> Eva:Person (0.9)."}),
                ("put", {"rows.csv": table({"k1": (OLD, 3), "k2": (NEWER, 99)})}), ("reindex", None),
                ("delete", "b.md"), ("put", {"rows.csv": table({"k2": (LAST, 1)})})], batch=2, serving=True)
@given(steps=st.lists(_STEP, min_size=2, max_size=6), batch=st.sampled_from([1, 2, 64]), serving=st.booleans())
def test_whatever_came_and_went_the_end_is_a_fresh_build_of_what_is_left(tmp_path_factory, hashed_embedder, steps,
                                                                         batch, serving):
    folder = tmp_path_factory.mktemp("history")
    chunking = {"chunk_tokens": 120, "chunk_overlap": 0, "batch_chunks": batch}
    shop = scripted.Workshop(folder, hashed_embedder, **chunking)
    if serving:
        with Server(folder, hashed_embedder, **chunking) as server:
            left = play(server, steps)
    else:
        left = play(shop, steps)
    other = scripted.Workshop(folder / "fresh", hashed_embedder, chunk_tokens=120, chunk_overlap=0)
    other.build(other.write(left))
    assert state(shop) == state(other)
