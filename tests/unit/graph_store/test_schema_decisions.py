"""The schema changes by decisions of persons, and the facts follow it."""

import pytest
from banyan.graph_store.bounding.admission import bound
from banyan.graph_store.bounding.labels import Bounds
from banyan.graph_store.evolution.growth import DecisionError
from banyan.schemas.delta import Decision
from banyan.schemas.graph_schema import GraphSchema
from hypothesis import given
from hypothesis import strategies as st

from ... import evolving
from ...admitted import admitted
from ...evolving import DOCUMENTS, PAINTED, RELATIONS, SCHEMA, THRESHOLDS, TYPES, document, fresh

make = evolving.make


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
    (Decision(kind="entity_type", name="City", verdict="reject"), r"'born_in' would have no type")])
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
