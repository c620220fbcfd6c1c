"""Conditions on values: numbers compare as numbers and dates as dates, whatever they look like as text."""

import pytest
from banyan.schemas.graph_schema import GraphSchema
from banyan.schemas.lookups import TripleLookup
from banyan.tools.retriever import Retriever
from banyan.tools.table_results import tabulate
from banyan.tools.tables import look_up_table

from ... import small_base as base

SCHEMA = GraphSchema.model_validate({
    "name": "proposals", "entity_types": [{"name": "Proposal"}],
    "attribute_types": [{"name": name, "owners": ["Proposal"], "kind": "text"}
                        for name in ("eip", "created", "status")]})
PROPOSALS = {
    "Alba": ("9", "3 May 2004"), "Brix": ("10", "2004-12-24"), "Calw": ("721", "12 January 1999"),
    "Dorn": ("1559", "2019-02"), "Esch": ("7916", "long ago"), "Fels": ("20000", "2020"),
    "Gams": ("draft", "July 2004")}
"""The number and the date of each, as a document writes them. 1559 could be a year, too."""


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
    with base.create(tmp_path_factory.mktemp("home"), "kb", hashed_embedder, SCHEMA) as kb, kb.writing():
        for name, (eip, created) in PROPOSALS.items():
            base.put(kb, name.lower(), f"{name} has the number {eip}. It was created {created}. It is Final.",
                     entities={name: "Proposal"},
                     attributes=[(name, "eip", eip), (name, "created", created), (name, "status", "Final")])
        base.finish(kb)
        yield Retriever(kb)


def heads(retriever, relation, **asked):
    return [row.head for row in tabulate(retriever.index, SCHEMA, TripleLookup(relation=relation, **asked)).rows]


@pytest.mark.parametrize(("comparison", "expected"), [
    (">=9", ["Alba", "Brix", "Calw", "Dorn", "Esch", "Fels"]), (">9", ["Brix", "Calw", "Dorn", "Esch", "Fels"]),
    ("<10", ["Alba"]), ("<=10", ["Alba", "Brix"]), (">=7916", ["Esch", "Fels"]),
    ("<7916", ["Alba", "Brix", "Calw", "Dorn"]), (">=1559", ["Dorn", "Esch", "Fels"]),
    ("10..7916", ["Brix", "Calw", "Dorn", "Esch"])])
def test_numbers_compare_as_numbers_even_if_one_could_be_a_year(retriever, comparison, expected):
    assert heads(retriever, "eip", tail=comparison) == expected
    if ".." not in comparison:
        assert heads(retriever, "status", where=(f"eip{comparison}",)) == expected


@pytest.mark.parametrize(("comparison", "expected"), [
    (">=2004", ["Alba", "Brix", "Dorn", "Fels", "Gams"]), ("<2004", ["Calw"]), (">2004", ["Dorn", "Fels"]),
    (">=2004-07", ["Brix", "Dorn", "Fels", "Gams"]), ("<=2004-05-03", ["Alba", "Calw"]),
    (">=1 December 2004", ["Brix", "Dorn", "Fels"])])
def test_dates_compare_as_dates_however_they_are_written(retriever, comparison, expected):
    assert heads(retriever, "created", tail=comparison) == expected
    assert heads(retriever, "status", where=(f"created{comparison}",)) == expected


@pytest.mark.parametrize(("field", "least", "neither"), [("eip", "0", "Gams"), ("created", "1000", "Esch")])
def test_a_text_that_is_neither_fits_no_comparison(retriever, field, least, neither):
    for sign in (">=", "<", ">", "<="):
        assert neither not in heads(retriever, "status", where=(f"{field}{sign}{least}",))
    assert len(heads(retriever, "status", where=(f"{field}>={least}",))) == len(PROPOSALS) - 1


def test_all_rows_of_an_extreme_value_are_shown(tmp_path, hashed_embedder):
    with base.create(tmp_path, "kb", hashed_embedder, SCHEMA) as kb, kb.writing():
        for name, eip in (("Alba", "9"), ("Brix", "9"), ("Calw", "10")):
            base.put(kb, name, f"{name} is {eip}.", entities={name: "Proposal"}, attributes=[(name, "eip", eip)])
        base.finish(kb)
        retriever = Retriever(kb)
        assert heads(retriever, "eip", do="largest", limit=2) == ["Calw", "Alba", "Brix"]
        assert heads(retriever, "eip", do="smallest", limit=1) == ["Alba", "Brix"]
        block, = look_up_table(retriever.index, SCHEMA, TripleLookup(relation="eip", do="largest", limit=2), 1000)
        assert "largest 2" in block.title
        assert [item.statement.partition(" (")[0] for item in block.items] == ["10 <- Calw", "9 <- Alba; Brix"]
