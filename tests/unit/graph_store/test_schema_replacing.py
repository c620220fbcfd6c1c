"""Elements that a person defines, and whole schemas put in the place of the one in force."""

import threading

import pytest
from banyan.graph_store.evolution.elements import DecisionError, decisions_to
from banyan.graph_store.ledger.database import Database
from banyan.schemas.delta import Decision
from banyan.schemas.graph_schema import AttributeType, EntityType, GraphSchema, RelationType

from ... import evolving
from ...evolving import PAINTED, SCHEMA, THRESHOLDS, said
from ...hashed_embedding import HashedEmbedder

make = evolving.make
_DEADLINE = 20  # seconds
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


@pytest.mark.parametrize(("decision", "why"), [
    (define("relation", "r", domain=["Planet"]), "relation .r., domain: there is no entity type .Planet."),
    (define("relation", "r", domains=["Person"]), "relation 'r', domains: Extra inputs"),
    (define("relation", "r", inverse="s"), "there is no relation 's'"),
    (define("attribute", "size", kind="length"), "attribute 'size', kind"),
])
def test_what_does_not_hold_together_is_refused_and_changes_nothing(make, decision, why):
    ledger = make()
    with pytest.raises(DecisionError, match=why):
        ledger.control.decide([decision], "Ann", THRESHOLDS.support)
    assert ledger.history.version() == 1


class MeteredEmbedder(HashedEmbedder):
    """Reads the ledger while it encodes, as an account does; its first thread waits until another has a transaction."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger: Database | None = None
        self.first: threading.Thread | None = None
        self.encodes, self.may_end = threading.Event(), threading.Event()

    def encode(self, texts):
        self.first = self.first or threading.current_thread()
        if threading.current_thread() is self.first:
            self.encodes.set()
            assert self.may_end.wait(_DEADLINE)
        self.ledger.get_meta("account")
        return super().encode(texts)


def test_an_extraction_is_replaced_while_others_are_bounded(tmp_path):
    embedder = MeteredEmbedder()
    ledger = evolving.LedgerOnly(tmp_path / "ledger.sqlite", embedder, SCHEMA)
    embedder.ledger = ledger.database
    ledger.put({"c": said(("Ada", "knows", "Bea"), types={"Ada": "Person", "Bea": "Person"})})
    (first,) = ledger.documents.done()
    writing = threading.Thread(target=ledger.put, args=(PAINTED,), daemon=True)
    replacing = threading.Thread(target=replace_in_transaction, args=(ledger, embedder, first), daemon=True)
    writing.start()
    assert embedder.encodes.wait(_DEADLINE)
    replacing.start()
    for thread in (replacing, writing):
        thread.join(_DEADLINE)
        assert not thread.is_alive(), "the threads wait for each other"
    assert ledger.edges() == set()
    ledger.close()


def replace_in_transaction(ledger, embedder, chunk_id):
    """Replace an extraction as the builds do whose calls read several chunks."""
    with ledger.database.transaction():
        embedder.may_end.set()
        ledger.control.replace(chunk_id, "again", said(("Ada", "sketched", "Bea"), types={"Ada": "Person"})[1])
