"""The schema grows by evidence, and the facts follow it, as they do elements and schemas that a person defines."""

from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from banyan.graph_store.bounding.admission import bound
from banyan.graph_store.bounding.labels import Bounds
from banyan.graph_store.evolution.control import SchemaControl, decisions_to
from banyan.graph_store.evolution.elements import DecisionError
from banyan.graph_store.evolution.growth import Thresholds
from banyan.graph_store.ledger.database import Database
from banyan.graph_store.ledger.document_rows import Documents
from banyan.graph_store.ledger.extractions import Extractions
from banyan.graph_store.ledger.schema_rows import SchemaHistory
from banyan.ingest.chunking import chunk_document
from banyan.schemas.delta import Decision
from banyan.schemas.documents import Document
from banyan.schemas.extraction import (
    BoundedExtraction,
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
)
from banyan.schemas.graph_schema import AttributeType, EntityType, GraphSchema, RelationType
from hypothesis import given
from hypothesis import strategies as st

from ...admitted import admitted

THRESHOLDS = Thresholds(confidence=0.8, support=2, growth=5)

SCHEMA = GraphSchema(
    name="s",
    entity_types=(EntityType(name="Person"), EntityType(name="City"), EntityType(name="Poet", parent="Person")),
    relation_types=(RelationType(name="born_in", domain=("Person",), range=("City",)),
                    RelationType(name="knows", domain=("Person",), range=("Person",), symmetric=True)),
    attribute_types=(AttributeType(name="age", owners=("Person",), kind="number"),))

TYPES = ["Person", "City", "Poet", "Guild", "Ship"]
RELATIONS = ["born_in", "knows", "sails on", "member of", "painted"]


def said(*triples: tuple[str, str, str], types: dict[str, str], sure: float = 0.9,
         attributes: tuple[tuple[str, str, str], ...] = ()) -> tuple[str, Extraction]:
    text = " ".join(f"{head} {relation} {tail}." for head, relation, tail in (*triples, *attributes))
    text += " ".join(f" {name} is there." for name in types)
    return text, Extraction(
        entities=tuple(ExtractedEntity(name=name, type=kind, confidence=sure) for name, kind in types.items()),
        triples=tuple(ExtractedTriple(head=h, relation=r, tail=t, confidence=sure) for h, r, t in triples),
        attributes=tuple(ExtractedAttribute(entity=e, attribute=a, value=v, confidence=sure) for e, a, v in attributes))


PAINTED = {
    "a": said(("Ada", "painted", "Ulm"), types={"Ada": "Person", "Ulm": "City"}),
    "b": said(("Bea", "painted", "Bonn"), types={"Bea": "Person", "Bonn": "City"}),
}


class LedgerOnly:
    def __init__(self, path: Path, schema: GraphSchema) -> None:
        self.database = Database(path)
        self.documents = Documents(self.database)
        self.extractions = Extractions(self.database)
        self.history = SchemaHistory(self.database)
        self.control = SchemaControl(self.database, self.documents, self.extractions)
        self.history.append(schema, (), "seed")

    def put(self, said: Mapping[str, tuple[str, Extraction]], *, at_once: int = 100) -> None:
        names = list(said)
        for start in range(0, len(names), at_once):
            batch = []
            for name in names[start:start + at_once]:
                text, extraction = said[name]
                (chunk,) = chunk_document(Document(id=name, title="", text=text, source="test"), max_tokens=100_000,
                                          overlap_tokens=0)
                self.documents.put(Document(id=name, title="", text=text, source="test"), [chunk])
                self.extractions.save(chunk.id, "test", extraction)
                batch.append(chunk.id)
            for name in self.documents.revisions.find_ready():
                self.documents.revisions.put_in_service(name)
            self.control.write(batch)

    def grow(self, thresholds: Thresholds = THRESHOLDS) -> GraphSchema:
        self.control.grow(thresholds)
        return self.history.current()

    def facts(self) -> dict[str, BoundedExtraction]:
        return {chunk.id: admitted(self.extractions, chunk) for chunk in self.documents.chunks(self.documents.done())}

    def edges(self) -> set[tuple[str, str, str]]:
        return {(f.head, f.relation, f.tail) for c in self.facts().values() for f in c.facts}

    def close(self) -> None:
        self.database.close()


@pytest.fixture
def make(tmp_path):
    with ExitStack() as opened:
        yield lambda schema=SCHEMA: opened.enter_context(closing(LedgerOnly(tmp_path / "l.sqlite", schema)))


def fresh(factory) -> closing:
    return closing(LedgerOnly(factory.mktemp("ledger") / "l.sqlite", SCHEMA))


ITEMS = st.tuples(st.sampled_from("ABCD"), st.sampled_from(TYPES), st.sampled_from(RELATIONS),
                   st.sampled_from("WXYZ"), st.sampled_from(TYPES), st.sampled_from([0.7, 0.85, 1.0]))
DOCUMENTS = st.lists(st.lists(ITEMS, min_size=1, max_size=3), min_size=1, max_size=6)


def document(items) -> tuple[str, Extraction]:
    types: dict[str, str] = {}
    triples = []
    for head, head_type, relation, tail, tail_type, _ in items:
        types.setdefault(head, head_type)
        types.setdefault(tail, tail_type)
        triples.append((head, relation, tail))
    return said(*triples, types=types, sure=items[0][5])


def test_what_enough_documents_ask_for_joins_with_observed_types_and_waiting_facts_are_written(make):
    ledger = make()
    ledger.put(PAINTED)
    assert ledger.edges() == set()
    grown = ledger.grow()
    assert (grown.relation_type("painted").domain, grown.relation_type("painted").range) == (("Person",), ("City",))
    assert ledger.edges() == {("Ada", "painted", "Ulm"), ("Bea", "painted", "Bonn")}
    (decided,) = ledger.history.versions()[-1].decisions
    assert decided.evidence.documents == 2
    assert {e.document for e in decided.evidence.examples} == {"a", "b"}
    assert "2 documents >= 2" in decided.decision.why


def test_growth_is_capped_and_the_strongest_join(make):
    ledger = make()
    ledger.put({f"{r}{n}": said((f"P{n}", f"rel{r}", f"C{n}"), types={f"P{n}": "Person", f"C{n}": "City"})
                for r in range(8) for n in range(2 + (r == 7))})
    grown = ledger.grow()
    assert [r.name for r in grown.relation_types][2:] == ["rel0", "rel1", "rel2", "rel3", "rel7"]


def test_an_open_schema_does_not_grow(make):
    ledger = make(GraphSchema(name="open", open=True))
    ledger.put(PAINTED)
    assert not ledger.control.grow(THRESHOLDS)
    assert len(ledger.edges()) == 2


@given(documents=DOCUMENTS, order=st.randoms(use_true_random=False), at_once=st.integers(1, 4),
       split=st.integers(0, 6))
def test_neither_order_nor_batches_nor_builds_change_the_final_schema_or_the_facts(
        tmp_path_factory, documents, order, at_once, split):
    texts = {f"d{n}": document(items) for n, items in enumerate(documents)}
    shuffled = list(texts)
    order.shuffle(shuffled)
    with fresh(tmp_path_factory) as one, fresh(tmp_path_factory) as other:
        one.put(texts)
        other.put({name: texts[name] for name in shuffled[:split]}, at_once=at_once)
        other.grow()
        other.put({name: texts[name] for name in shuffled[split:]}, at_once=at_once)
        assert one.grow() == other.grow()
        assert one.facts() == other.facts()
        assert one.extractions.count_rejections() == other.extractions.count_rejections()


@given(documents=DOCUMENTS, extra=st.lists(ITEMS, min_size=1, max_size=3))
def test_a_document_added_and_deleted_leaves_no_trace_in_the_schema(tmp_path_factory, documents, extra):
    texts = {f"d{n}": document(items) for n, items in enumerate(documents)}
    with fresh(tmp_path_factory) as one, fresh(tmp_path_factory) as other:
        for ledger in (one, other):
            ledger.put(texts)
            ledger.grow()
        other.put({"extra": document(extra)})
        other.grow()
        other.documents.delete("extra")
        assert one.grow() == other.grow()
        assert one.facts() == other.facts()


OTHER = GraphSchema(
    name="s",
    entity_types=(EntityType(name="Person"), EntityType(name="City", description="where many live"),
                  EntityType(name="Port", parent="City")),
    relation_types=(RelationType(name="born_in", domain=("Person",), range=("City",), inverse="birthplace_of"),
                    RelationType(name="birthplace_of", domain=("City",), range=("Person",)),
                    RelationType(name="painted", domain=("Person",), range=("City",))),
    attribute_types=(AttributeType(name="age", owners=("Person", "City"), kind="number", unit="years"),))


def define(what, name, **element):
    return Decision(kind=what, name=name, verdict="define", element=element)


def test_a_relation_that_is_defined_admits_what_waited_for_it(make):
    ledger = make()
    ledger.put(PAINTED)
    assert ledger.edges() == set()
    painted = define("relation", "painted", domain=["Person"], range=["City"], description="a picture of")
    ledger.control.decide([painted], "Ann", THRESHOLDS.support)
    assert ledger.edges() == {("Ada", "painted", "Ulm"), ("Bea", "painted", "Bonn")}
    assert ledger.history.current().relation_type("painted").description == "a picture of"
    ledger.control.decide([define("relation", "painted", domain=["City"], range=["City"])], "Ann", THRESHOLDS.support)
    assert ledger.edges() == set(), "facts are bounded by the new domain"


def test_a_schema_in_the_place_of_another_is_that_schema(make):
    ledger = make()
    ledger.put({**PAINTED, "c": said(("Ada", "knows", "Bea"), types={"Ada": "Person", "Bea": "Person"})})
    ledger.grow()
    ledger.control.decide(decisions_to(ledger.history.current(), OTHER), "Ann", THRESHOLDS.support)
    made = ledger.history.current()
    assert {e.name: e for e in made.relation_types} == {e.name: e for e in OTHER.relation_types}
    assert {e.name for e in made.entity_types} == {"Person", "City", "Port"}
    assert made.entity_type("Person").aliases == ("Poet",), "what is of a type that goes becomes of its parent"
    assert made.attribute_types == OTHER.attribute_types
    assert ledger.edges() == {("Ada", "painted", "Ulm"), ("Bea", "painted", "Bonn")}
    assert ledger.grow() == made, "nothing that left comes back by itself"


def decide(ledger, *decisions: Decision, who: str = "Ann") -> GraphSchema:
    ledger.control.decide(decisions, who, THRESHOLDS.support)
    return ledger.history.current()


def relation(name: str, verdict: str, **fields) -> Decision:
    return Decision(kind="relation", name=name, verdict=verdict, **fields)


def test_a_person_accepts_what_one_document_asks_for_and_its_facts_are_written(make):
    ledger = make()
    ledger.put({"a": PAINTED["a"]})
    assert decide(ledger, relation("painted", "accept")).relation_type("painted").domain == ("Person",)
    assert ledger.edges() == {("Ada", "painted", "Ulm")}
    assert ledger.history.base() == ledger.history.current()
    assert ledger.history.versions()[-1].who == "Ann"


def test_what_is_rejected_is_neither_proposed_nor_grown_again_until_it_is_accepted(make):
    ledger = make()
    ledger.put(PAINTED)
    decide(ledger, relation("painted", "reject"))
    assert ledger.control.list_candidates(2) == []
    assert ledger.control.count_waiting() == 0
    assert ledger.grow() == SCHEMA
    ledger.history.set_declined("relation", "painted", None)
    assert ledger.grow().relation_type("painted") is not None


def test_a_new_name_keeps_the_old_label_and_its_facts(make):
    ledger = make()
    ledger.put(PAINTED)
    schema = decide(ledger, relation("painted", "rename", new_name="depicted"))
    assert schema.relation_type("depicted").aliases == ("painted",)
    assert {r for _, r, _ in ledger.edges()} == {"depicted"}
    schema = decide(ledger, relation("depicted", "rename", new_name="portrayed"))
    assert schema.relation_type("depicted") is None
    assert {r for _, r, _ in ledger.edges()} == {"portrayed"}


@pytest.mark.parametrize(("wrong", "message"), [
    (relation("absent", "accept"), r"there is no relation 'absent'"),
    (relation("painted", "rename"), "gives no new name"),
    (relation("painted", "merge", into="absent"), r"there is no relation 'absent'; there are: born_in, knows"),
    (relation("knows", "rename", new_name="born_in"), "merge the two"),
    (Decision(kind="entity_type", name="City", verdict="reject"), r"'born_in' would have no type"),
    (define("relation", "r", domain=["Planet"]), "relation .r., domain: there is no entity type .Planet."),
    (define("relation", "r", domains=["Person"]), "relation 'r', domains: Extra inputs"),
    (define("relation", "r", inverse="s"), "there is no relation 's'"),
    (define("attribute", "size", kind="length"), "attribute 'size', kind")])
def test_a_decision_that_cannot_be_carried_out_changes_nothing(make, wrong, message):
    ledger = make()
    ledger.put(PAINTED)
    with pytest.raises(DecisionError, match=message):
        decide(ledger, relation("painted", "accept"), wrong)
    assert ledger.history.version() == 1
    assert ledger.edges() == set()


_VERDICTS = st.sampled_from(["accept", "reject", "rename", "merge", "edit"])


@st.composite
def _choices(draw):
    kind = draw(st.sampled_from(["entity_type", "relation"]))
    names = TYPES if kind == "entity_type" else RELATIONS
    verdict = draw(_VERDICTS)
    edits = verdict == "edit" and kind == "relation"
    return Decision(kind=kind, name=draw(st.sampled_from(names)), verdict=verdict,
                    new_name=draw(st.sampled_from(["fresh", *names])) if verdict == "rename" else "",
                    into=draw(st.sampled_from(names)) if verdict == "merge" else "",
                    domain=(draw(st.sampled_from(TYPES[:3])),) if edits else None)


@given(documents=DOCUMENTS, choices=st.lists(st.one_of(_choices(), st.just("grow")), max_size=6))
def test_whatever_is_decided_every_fact_fits_and_is_what_bounding_gives(tmp_path_factory, documents, choices):
    texts = {f"d{n}": document(items) for n, items in enumerate(documents)}
    with fresh(tmp_path_factory) as ledger:
        ledger.put(texts)
        for choice in choices:
            before = ledger.history.version(), ledger.facts()
            try:
                if choice == "grow":
                    ledger.grow()
                else:
                    decide(ledger, choice)
            except DecisionError:
                assert (ledger.history.version(), ledger.facts()) == before
            schema = ledger.history.current()
            bounds, base = Bounds(schema), Bounds(ledger.history.base())
            for chunk in ledger.documents.chunks():
                found, given_ = admitted(ledger.extractions, chunk), ledger.extractions.get(chunk.id)
                assert all(schema.fits(f.head_type, f.relation, f.tail_type) for f in found.facts)
                assert all(schema.is_a(a.entity_type, schema.attribute_type(a.attribute).owners)
                           for a in found.attributes)
                # Only what a change touches is bounded again: the result must be that of bounding all.
                anew = bound(given_, chunk, bounds)
                assert (found.mentions, found.facts, found.attributes) == (anew.mentions, anew.facts, anew.attributes)
                asked = ledger.database.count("SELECT count(*) FROM schema_requests WHERE chunk = :chunk",
                                              chunk=chunk.id)
                assert asked == len(bound(given_, chunk, base).asks)
