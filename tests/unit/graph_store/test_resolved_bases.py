"""Entity resolution of a knowledge base: vectors and communities follow it, persons decide, what is deleted leaves."""

from pathlib import Path
from typing import Any

import pytest
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.store_errors import EntityDecisionError
from banyan.ingest.chunking import chunk_document
from banyan.schemas.documents import Document
from banyan.schemas.resolution import EntityPair, PairVerdict

from ...hashed_embedding import HashedEmbedder
from ...newest import dump_graph
from ...small_base import create, finish, put, said


@pytest.fixture
def kb(tmp_path: Path) -> Any:
    with create(tmp_path, "kb", HashedEmbedder()) as made, made.writing():
        put(made, "one", "José Ruiz was born in Ulm.", triples=[("José Ruiz", "born in", "Ulm")])
        put(made, "two", "Jose Ruiz moved to Turku.", triples=[("Jose Ruiz", "moved to", "Turku")])
        put(made, "three", "José Ruiz painted.", triples=[("José Ruiz", "did", "painted")])
        finish(made)
        yield made


def test_a_split_undoes_a_merge_and_a_merge_the_split(kb: KnowledgeBase) -> None:
    apart = dump_graph(kb.graph)
    kb.resolution.resolve()
    merged = dump_graph(kb.graph)
    assert len(merged["nodes"]) == len(apart["nodes"]) - 1
    kb.resolution.decide("split", ("José Ruiz", "Jose Ruiz"), "me", "two painters")
    assert dump_graph(kb.graph) == apart
    kb.resolution.decide("merge", ("José Ruiz", "Jose Ruiz"), "me", "")
    assert dump_graph(kb.graph) == merged
    kb.resolution.decide("merge", ("Ulm", "Turku"), "me", "")
    kb.resolution.decide("split", ("Ulm", "Turku"), "me", "")
    assert dump_graph(kb.graph) == merged
    assert [decision.verdict for decision in kb.entities.decisions()] == ["split", "merge", "merge", "split"]


@pytest.mark.parametrize(("verdict", "names", "why"), [
    ("merge", ("Nobody", "Ulm"), "there is no entity 'Nobody'"), ("merge", ("Ulm", "ulm"), "one name of one type"),
    ("split", ("Ulm", "Turku"), "two entities already")])
def test_a_decision_that_cannot_be_carried_out_is_refused_and_leaves_nothing(
        kb: KnowledgeBase, verdict: Any, names: tuple[str, str], why: str) -> None:
    with pytest.raises(EntityDecisionError, match=why):
        kb.resolution.decide(verdict, names, "me", "")
    assert kb.entities.decisions() == []


def test_a_doubtful_pair_is_asked_about_once(kb: KnowledgeBase) -> None:
    put(kb, "four", "Adam Reed struck.", triples=[("Adam Reed", "did", "struck")])
    put(kb, "five", "Reed Adam marched.", triples=[("Reed Adam", "did", "marched")])
    asked: list[EntityPair] = []

    def ask(pairs: Any) -> list[PairVerdict | None]:
        asked.extend(pairs)
        return [PairVerdict(same="Reed" in pair.first.name, confidence=0.9) for pair in pairs]

    kb.resolution.resolve(ask, "brain")
    names = {frozenset((pair.first.name, pair.second.name)) for pair in asked}
    assert frozenset(("Adam Reed", "Reed Adam")) in names
    assert [row.rule for row in kb.entities.aliases().values() if row.rule != "spelling"] == ["verdict"]
    before, dump = len(asked), dump_graph(kb.graph)
    kb.resolution.resolve(ask, "brain")
    kb.resolution.resolve()
    assert (len(asked), dump_graph(kb.graph)) == (before, dump)


def test_a_sum_counts_both_halves_of_a_thing_that_chunks_gave_two_types(tmp_path: Path) -> None:
    votes = {"Concept": ["34"], "Person": ["50", "13"]}
    text = "\n\n".join(f"Ada Lin won {count} votes in round {count}." for counts in votes.values() for count in counts)
    with create(tmp_path, "votes", HashedEmbedder()) as kb, kb.writing():
        document = Document(id="minutes", title="Minutes", text=text, source="test")
        chunks = chunk_document(document, max_tokens=12, overlap_tokens=0)
        kb.documents.put(document, chunks)
        kinds = [kind for kind, counts in votes.items() for _ in counts]
        for chunk, kind in zip(chunks, kinds, strict=True):
            count = chunk.text.split()[3]
            kb.extractions.save(chunk.id, "test", said([("Ada Lin", kind)], (), [("Ada Lin", "votes", count)]))
        kb.schema_control.write([chunk.id for chunk in chunks])
        finish(kb)
        kb.resolution.resolve()
        (node,) = kb.graph.entity_ids()
        assert kb.graph.type(node) == "Person"
        tables = kb.open_tables(kb.graph)
        assert tables.run("SELECT sum(number), count(*) FROM votes WHERE entity = 'Ada Lin'").rows == ((97, 3),)


def test_resolution_can_be_switched_off_but_for_what_persons_decided(kb: KnowledgeBase) -> None:
    kb.entities.set_active(active=False)
    kb.resolution.resolve()
    assert kb.entities.aliases() == {}
    kb.resolution.decide("merge", ("Ulm", "Turku"), "me", "")
    assert len(kb.entities.aliases()) == 1
