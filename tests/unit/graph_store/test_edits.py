"""Names, types, facts and values that persons change: they last, they can be taken back, and bounding stays pure."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from banyan.graph_store.graph_edits import StatedFact
from banyan.graph_store.integrity.verify import verify
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.layout import Layout
from banyan.graph_store.store_errors import EntityDecisionError
from banyan.schemas.graph_schema import AttributeType, EntityType, GraphSchema, RelationType

from ...hashed_embedding import HashedEmbedder
from ...newest import dump_graph
from ...small_base import copied, create, delete, finish, put, reindex

SCHEMA = GraphSchema(
    name="s",
    entity_types=tuple(EntityType(name=name) for name in ("Person", "Firm", "City", "Fruit")),
    relation_types=(RelationType(name="founded_by", domain=("Firm",), range=("Person",)),
                    RelationType(name="based_in", domain=("Firm",), range=("City",)),
                    RelationType(name="moved_to", domain=("Firm",), range=("City",))),
    attribute_types=(AttributeType(name="opened", owners=("Firm",), kind="date"),))

BY_HAND: dict[str, Callable[[KnowledgeBase], object]] = {
    "rename": lambda kb: kb.edits.rename("Orchard", "Orchard Inc", "me", "its legal name"),
    "retype": lambda kb: kb.edits.retype("Apple", "Firm", "me"),
    "reject": lambda kb: kb.edits.change_fact(StatedFact("Orchard", "based in", "Ulm"), None, "me", "moved"),
    "correct": lambda kb: kb.edits.change_fact(StatedFact("Orchard", "based_in", "Ulm"),
                                               StatedFact("Orchard", "moved_to", "Turku"), "me"),
    "value": lambda kb: kb.edits.change_fact(StatedFact("Orchard", "opened", "1999"),
                                             StatedFact("Orchard", "opened", "1998"), "me"),
    "no value": lambda kb: kb.edits.change_fact(StatedFact("Orchard", "opened", "1999"), None, "me"),
}


def read_one(kb: KnowledgeBase) -> None:
    put(kb, "one", "Orchard is based in Ulm. It opened in 1999.", entities={"Orchard": "Firm", "Ulm": "City"},
        triples=[("Orchard", "based_in", "Ulm")], attributes=[("Orchard", "opened", "1999")])


def read_two(kb: KnowledgeBase) -> None:
    put(kb, "two", "Apple was founded by Ada, who lives in Turku.",
        entities={"Apple": "Fruit", "Ada": "Person", "Turku": "City"}, triples=[("Apple", "founded_by", "Ada")])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("made")
    with create(home, "kb", HashedEmbedder(), SCHEMA) as made, made.writing():
        read_one(made)
        read_two(made)
        finish(made)
    return home


@pytest.fixture
def kb(made: Path, tmp_path: Path) -> Any:
    copied(Layout.of(made, "kb"), Layout.of(tmp_path, "kb"))
    with KnowledgeBase(Layout.of(tmp_path, "kb"), HashedEmbedder(), create=True) as copy, copy.writing():
        yield copy


def facts(kb: KnowledgeBase) -> set[str]:
    return {kb.graph.words(key) for key in kb.graph.edges()}


def values(kb: KnowledgeBase) -> list[str]:
    return [value for node in kb.graph.entity_ids() for given in kb.graph.values(node).values() for value in given]


def test_what_each_edit_does(kb: KnowledgeBase) -> None:
    assert facts(kb) == {"Orchard based in Ulm"}, "fruit is not founded"
    BY_HAND["retype"](kb)
    assert facts(kb) == {"Orchard based in Ulm", "Apple founded by Ada"}
    BY_HAND["rename"](kb)
    assert facts(kb) == {"Orchard Inc based in Ulm", "Apple founded by Ada"}
    node = next(one for one in kb.graph.entity_ids() if kb.graph.name(one) == "Orchard Inc")
    assert kb.graph.names(node) == ["Orchard", "Orchard Inc"]
    BY_HAND["correct"](kb)
    assert facts(kb) == {"Orchard Inc moved to Turku", "Apple founded by Ada"}
    (chunk,) = kb.graph.support(next(key for key in kb.graph.edges() if key[1] == "moved_to"))
    assert kb.documents.chunks([chunk])[0].document_id == "one", "the words that state it stay its source"
    BY_HAND["value"](kb)
    assert values(kb) == ["1998"]


@pytest.mark.parametrize("edits", [("retype", "rename", "correct", "value"), ("reject", "no value")])
def test_edits_outlive_everything_and_are_taken_back(kb: KnowledgeBase, tmp_path: Path, edits: tuple[str, ...]) -> None:
    dumps, numbers = [dump_graph(kb.graph)], []
    for edit in edits:
        numbers.append(int(str(BY_HAND[edit](kb))))
        dumps.append(dump_graph(kb.graph))
        assert dumps[-1] not in dumps[:-1]
    edited = dumps.pop()
    finish(kb)
    assert verify(kb) == []
    with KnowledgeBase.open(tmp_path, "kb", HashedEmbedder()) as reader:
        assert dump_graph(reader.graph) == edited
    reindex(kb)
    assert dump_graph(kb.graph) == edited
    for document, read in (("one", read_one), ("two", read_two)):
        delete(kb, document)
        read(kb)
    assert dump_graph(kb.graph) == edited
    finish(kb)
    assert verify(kb) == []
    while dumps:
        kb.edits.undo(numbers.pop(), "you")
        assert dump_graph(kb.graph) == dumps.pop()
    finish(kb)
    assert verify(kb) == []
    assert {(decision.who, decision.undone_by) for decision in kb.edits.all()} == {("me", "you")}


def test_a_new_document_that_states_a_rejected_fact_again_does_not_bring_it_back(kb: KnowledgeBase) -> None:
    BY_HAND["reject"](kb)
    put(kb, "three", "Orchard, based in Ulm, grows.", entities={"Orchard": "Firm", "Ulm": "City"},
        triples=[("Orchard", "based_in", "Ulm")])
    assert facts(kb) == set()
    kb.resolution.decide("merge", ("Ulm", "Turku"), "me", "")
    assert facts(kb) == set(), "nor does another name of its object"


@pytest.mark.parametrize(("change", "why"), [
    (lambda edits: edits.rename("Nobody", "x", "me"), "there is no entity 'Nobody'"),
    (lambda edits: edits.rename("Ulm", "  ", "me"), "1 to 500 characters"),
    (lambda edits: edits.retype("Ulm", "city", "me"), "of the type City already"),
    (lambda edits: edits.change_fact(StatedFact("Orchard", "based_in", "Ulm"), StatedFact("Orchard", "eats", "Ulm"),
                                     "me"), "no relation 'eats'"),
    (lambda edits: edits.change_fact(StatedFact("Orchard", "based_in", "Ulm"), StatedFact("Orchard", "based in", "Ulm"),
                                     "me"), "says nothing new"),
    (lambda edits: edits.undo(7, "me"), "no edit 7")])
def test_what_cannot_be_done_is_refused_in_words_and_leaves_nothing(kb: KnowledgeBase, change: Any, why: str) -> None:
    before = dump_graph(kb.graph)
    with pytest.raises(EntityDecisionError, match=why):
        change(kb.edits)
    assert kb.edits.all() == []
    assert dump_graph(kb.graph) == before
