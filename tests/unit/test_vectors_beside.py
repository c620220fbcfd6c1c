"""Vectors that a thread of the store's makes while a build goes on: nothing waits for them, and none is left out."""

import threading
from contextlib import contextmanager
from functools import partial

import pytest
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.vectors.store import VectorStore
from banyan.graph_store.vectors.synchroniser import VectorSynchroniser

from ..conftest import load_test_module

scripted = load_test_module("scripted")
small_base = load_test_module("small_base")
HashedEmbedder = load_test_module("hashed_embedding").HashedEmbedder
TEXTS = {f"{number}.txt": f"Ada{number}:Person --employer--> Acme{number % 3}:Organization." for number in range(9)}
FULL = OSError(28, "No space left on device")


def workshop(folder, embedder):
    return scripted.Workshop(folder, embedder, batch_chunks=1)


def failing_once(monkeypatch, error=FULL):
    """The first vectors of all cannot be stored."""
    put_all, failed = VectorStore.put_all, []

    def fail(store, wanted):
        if not failed:
            failed.append(wanted)
            raise error
        return put_all(store, wanted)

    monkeypatch.setattr(VectorStore, "put_all", fail)


def put(kb, number):
    small_base.put(kb, f"{number}", f"Ada{number} lives in Ulm.", entities={f"Ada{number}": "Person", "Ulm": "City"},
                   triples=[(f"Ada{number}", "lives_in", "Ulm")])


@pytest.fixture
def kb(tmp_path, hashed_embedder):
    with small_base.create(tmp_path, "kb", hashed_embedder) as made:
        yield made


def test_batches_are_written_while_the_first_is_embedded(tmp_path, hashed_embedder, monkeypatch):
    put_all, write, third, written = VectorStore.put_all, KnowledgeBase.write_chunks, threading.Event(), []

    def put_late(store, wanted):
        assert third.wait(30), "the third batch is not written until the first is embedded"
        return put_all(store, wanted)

    def noted(kb, chunks):
        written.append(chunks)
        if len(written) > 2:
            third.set()
        write(kb, chunks)

    monkeypatch.setattr(VectorStore, "put_all", put_late)
    monkeypatch.setattr(KnowledgeBase, "write_chunks", noted)
    shop = workshop(tmp_path, hashed_embedder)
    shop.build(shop.write(TEXTS))
    with KnowledgeBase.open(shop.settings.home, "kb", shop.embedder) as built:
        assert verify(built) == []


class Noted(HashedEmbedder):
    """Keeps the texts that it is given, and tells when a passage is among them: what holds a mark."""

    def __init__(self, mark="--employer-->"):
        super().__init__()
        self.mark, self.texts, self.passage = mark, [], threading.Event()

    def encode(self, texts):
        self.texts.extend(texts)
        if any(self.mark in text for text in texts):
            self.passage.set()
        return super().encode(texts)


def test_passages_are_embedded_while_the_first_answers_are_awaited(tmp_path):
    shop = workshop(tmp_path, Noted())

    def wait(_):
        assert shop.embedder.passage.wait(30), "nothing is embedded before something is answered"

    shop.scripted.before = wait
    shop.build(shop.write(TEXTS))
    passages = [text for text in shop.embedder.texts if "--employer-->" in text]
    assert len(passages) == len(set(passages)) == len(TEXTS)
    with KnowledgeBase.open(shop.settings.home, "kb", shop.embedder) as built:
        assert verify(built) == []


def test_what_was_embedded_ahead_is_forgotten_when_the_writer_ends(tmp_path):
    embedder = Noted("lives in Ulm.")
    with small_base.create(tmp_path, "kb", embedder) as kb:
        with kb.writing():
            put(kb, 0)
            chunks = kb.documents.done()
            kb.embed_ahead(chunks)
            assert embedder.passage.wait(30)
            kb.embed_ahead(chunks)
        once = len(embedder.texts)
        with kb.writing():
            kb.sync_vectors()
        assert not kb.vectors_behind()
    (passage,) = {text for text in embedder.texts if embedder.mark in text}
    assert embedder.texts[:once].count(passage) == 1, "it was there already"
    assert embedder.texts[once:].count(passage) == 1, "it was still there"


def test_a_failure_to_embed_ahead_ends_the_build_and_nothing_is_lost(tmp_path, monkeypatch):
    shop = workshop(tmp_path, Noted())
    paths = shop.write(TEXTS)

    def fail(*_):
        raise FULL

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
        patch.setattr(VectorStore, "embed_ahead", fail)
        shop.build(paths)
    shop.build(paths)
    assert set(shop.scripted.extracted.values()) == {1}
    with KnowledgeBase.open(shop.settings.home, "kb", shop.embedder) as built:
        assert verify(built) == []


class Held:
    """Holds all that embeds until it is let go; `asked` has what was to be embedded in each go."""

    def __init__(self, monkeypatch):
        put_all, gather = VectorStore.put_all, VectorSynchroniser.gather
        self.begun, self.free, self.gathered, self.asked = (
            threading.Event(), threading.Event(), threading.Semaphore(0), [])

        def hold(store, wanted):
            self.asked.append(wanted)
            self.begun.set()
            assert self.free.wait(30)
            return put_all(store, wanted)

        def note(keeper, *given):
            gather(keeper, *given)
            self.gathered.release()

        monkeypatch.setattr(VectorStore, "put_all", hold)
        monkeypatch.setattr(VectorSynchroniser, "gather", note)

    @contextmanager
    def while_it_holds(self, kb, puts):
        """Another thread writes what is put, each with its vectors beside; the block begins when all is set down."""

        def write():
            for put in puts:
                put()
                kb.sync_vectors_beside()
                assert self.begun.wait(30)

        writer = threading.Thread(target=write)
        writer.start()
        for _ in puts:
            assert self.gathered.acquire(timeout=30)
        yield writer
        self.free.set()
        writer.join(30)
        assert not writer.is_alive()


def test_only_few_batches_wait_for_their_vectors(kb, monkeypatch):
    held = Held(monkeypatch)
    with kb.writing():
        with held.while_it_holds(kb, [partial(put, kb, number) for number in range(3)]) as writer:
            writer.join(0.2)
            assert writer.is_alive(), "one is embedded and another waits: the third is too many"
        kb.sync_vectors()
    assert not kb.vectors_behind()
    assert {chunk.document_id for chunk in kb.searchable_chunks()} == {"0", "1", "2"}


@pytest.mark.parametrize("people", [["Bob"], ["Bob", "Ada"], ["Ada", "Bob"]])
def test_what_waits_is_done_at_once_as_it_came_last(kb, monkeypatch, people):
    def say(person):
        small_base.put(kb, "it", f"{person} lives in Ulm.", entities={person: "Person", "Ulm": "City"},
                       triples=[(person, "lives_in", "Ulm")])

    with kb.writing():
        say("Ada")
        kb.sync_vectors()
        held = Held(monkeypatch)
        with held.while_it_holds(kb, [partial(put, kb, 0), *(partial(say, person) for person in people)]):
            pass
        kb.sync_vectors()
        assert len(held.asked) <= 3, "what was under way, what waited, and the rest of the last call"
        small_base.finish(kb)
    assert verify(kb) == []
    assert {kb.graph.name(one) for one in kb.vectors.ids("entities")} == {"Ada0", "Ulm", people[-1]}


def test_what_a_thread_cannot_do_ends_the_build_and_is_done_by_the_next(tmp_path, hashed_embedder, monkeypatch):
    shop = workshop(tmp_path / "shop", hashed_embedder)
    paths = shop.write(TEXTS)
    with shop.resources() as resources:
        with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
            failing_once(patch)
            scripted.run_build(resources, shop.given(paths))
        scripted.run_build(resources, shop.given(paths))
    whole = workshop(tmp_path / "whole", hashed_embedder)
    whole.build(whole.write(TEXTS))
    assert shop.dump() == whole.dump()
    assert shop.vectors() == whole.vectors()


def test_a_writer_that_ends_leaves_no_thread_at_work(kb, monkeypatch, caplog):
    with kb.writing():
        failing_once(monkeypatch)
        for number in range(3):
            put(kb, number)
        kb.sync_vectors_beside()
    assert not any(thread.name.startswith("banyan-vectors") for thread in threading.enumerate())
    assert "vectors were not made: [Errno 28] No space left on device; they will be" in caplog.text
    assert kb.vectors_behind()
    with kb.writing():
        kb.sync_vectors()
    assert not kb.vectors_behind()
    assert {"Ada0", "Ada1", "Ada2", "Ulm"} <= {kb.graph.name(one) for one in kb.vectors.ids("entities")}
