"""Surveys: groups by a field or period, and what relations reach, as lines that can be cited."""

import pytest
from banyan.schemas.graph_schema import GraphSchema
from banyan.schemas.lookups import CommunityLookup
from banyan.tools.field_rows import FieldError
from banyan.tools.first_look import first_look
from banyan.tools.langchain_tools import look_up
from banyan.tools.retriever import Retriever
from banyan.tools.surveys import survey_along, survey_by

from ... import small_base as base

SCHEMA = GraphSchema.model_validate({
    "name": "parts", "entity_types": [{"name": "Part"}, {"name": "Maker"}],
    "relation_types": [{"name": "needs", "domain": ["Part"], "range": ["Part"]},
                       {"name": "made_by", "domain": ["Part"], "range": ["Maker"]}],
    "attribute_types": [{"name": "opened", "owners": ["Part"], "kind": "date"},
                        {"name": "state", "owners": ["Part"], "kind": "text"}]})
PARTS = {"Bolt": ("2019-03-01", "sold", ""), "Nut": ("2019-07-01", "sold", "Bolt"),
         "Frame": ("2020-01-05", "planned", "Nut"), "Wheel": ("2021-02-02", "sold", "Nut"),
         "Cart": ("2021-09-09", "planned", "Frame")}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
    with base.create(tmp_path_factory.mktemp("home"), "kb", hashed_embedder, SCHEMA) as kb, kb.writing():
        for part, (opened, state, needed) in PARTS.items():
            needs = f" {part} needs {needed}." if needed else ""
            base.put(kb, part.lower(), f"{part} was opened on {opened}. {part} is {state}. Orlan made {part}.{needs}",
                     entities={part: "Part", "Orlan": "Maker", **({needed: "Part"} if needed else {})},
                     triples=[(part, "made_by", "Orlan"), *([(part, "needs", needed)] if needed else [])],
                     attributes=[(part, "opened", opened), (part, "state", state)])
        base.finish(kb)
        yield Retriever(kb)


def survey(retriever, tokens=2000, theme="", along="", by=""):
    index, terms = retriever.index, retriever.labelled_terms(SCHEMA)
    (block,) = survey_along(index, terms, theme, along, tokens) if along else survey_by(index, terms, by, tokens)
    documents = retriever.index.store.documents
    for item in block.items:
        for place in item.places:
            assert documents.get(place.document).text[place.start:place.start + len(place.text)] == place.text
    return block


def lines(block):
    return [item.statement for item in block.items]


def members(block):
    return {line.rpartition(". ")[2] for line in lines(block)}


def test_groups_of_a_period_come_in_its_order_with_sizes_kinds_and_members(retriever):
    found = lines(survey(retriever, by="opened.year"))
    assert [line.partition(".")[0] for line in found] == ["2019 (2)", "2020 (1)", "2021 (2)"]
    assert "state: sold 2" in found[0]
    assert "Bolt" in found[0]


def test_groups_of_a_field_come_largest_first(retriever):
    assert [line.partition(".")[0] for line in lines(survey(retriever, by="State"))] == ["sold (3)", "planned (2)"]
    assert lines(survey(retriever, by="made by"))[0].startswith("Orlan (5)")


def weighted(retriever, by, alpha):
    (block,) = survey_by(retriever.index, retriever.labelled_terms(SCHEMA), by, 2000, alpha)
    return block


def test_with_alpha_groups_go_from_those_of_facts_to_those_of_the_field(retriever):
    by_year, block = survey(retriever, by="opened.year"), weighted(retriever, "opened.year", 1)
    assert block.title == "5 rows by opened.year and by facts, alpha 1"
    assert sorted(lines(block)) == sorted(lines(by_year))
    by_facts = weighted(retriever, "opened.year", 0)
    assert members(by_facts) == members(weighted(retriever, "state", 0)) != members(block)


def test_each_step_of_a_path_may_be_another_relation(retriever):
    block = survey(retriever, theme="Cart", along="needs -> made_by")
    assert [line.partition(" (")[0] for line in lines(block)] == ["1. Cart needs -> Frame", "2. Frame made by -> Orlan"]


def test_what_there_is_not_is_said_with_what_there_is(retriever):
    with pytest.raises(FieldError, match="state"):
        survey(retriever, by="colour")
    with pytest.raises(FieldError, match="needs"):
        survey(retriever, theme="Cart", along="opened")
    assert "names like it: Cart" in survey(retriever, theme="Kart", along="needs").note


def test_what_does_not_fit_is_counted_in_the_last_line(retriever):
    (only,) = lines(survey(retriever, by="opened.month", tokens=30))
    assert only.endswith("(and 4 more groups)")
    (only,) = lines(survey(retriever, theme="Cart", along="needs -> *", tokens=20))
    assert only.endswith("(and 2 more lines)")


@pytest.fixture(scope="module")
def chain(tmp_path_factory, hashed_embedder):
    links = [(f"Part{number}", f"Part{number + 1}") for number in range(9)]
    with base.create(tmp_path_factory.mktemp("home"), "kb", hashed_embedder, SCHEMA) as kb, kb.writing():
        for one, other in links:
            base.put(kb, one.lower(), f"{one} needs {other}.", entities={one: "Part", other: "Part"},
                     triples=[(one, "needs", other)])
        base.finish(kb)
        yield Retriever(kb)


def test_a_path_that_repeats_its_relation_goes_on_to_the_end_of_a_long_chain(chain):
    block = survey(chain, theme="Part0", along="needs -> *")
    assert block.title == "Part0 along needs -> *: 9 reached"
    assert [line.partition(" (")[0] for line in lines(block)] == [
        f"{number + 1}. Part{number} needs -> Part{number + 1}" for number in range(9)]
    backward = survey(chain, theme="Part9", along="<needs -> *")
    assert lines(backward)[-1].startswith("9. Part1 <- needs: Part0")
    assert (block.note, backward.note) == ("", "")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory, hashed_embedder):
    schema = GraphSchema.model_validate({
        "name": "notes", "entity_types": [{"name": "Note"}, {"name": "Job"}],
        "attribute_types": [{"name": "state", "owners": ["Note", "Job"], "kind": "text"},
                            {"name": "written", "owners": ["Note"], "kind": "date"}]})
    with base.create(tmp_path_factory.mktemp("home"), "kb", hashed_embedder, schema) as kb, kb.writing():
        for number in range(9):
            state, year = ("open", "done")[number % 2], 2020 + number // 5
            row = f"| Document: N-{number} | State: {state} | Written: {year}-01-01 |"
            base.put(kb, f"n-{number}.md", f"{row}\n\nSomething on job {number}.", entities={f"N-{number}": "Note"},
                     attributes=[(f"N-{number}", "state", state), (f"N-{number}", "written", f"{year}-01-01")])
        base.put(kb, "jobs.csv", "| Job: Paint | State: late |", entities={"Paint": "Job"},
                 attributes=[("Paint", "state", "late")])
        base.finish(kb)
        yield Retriever(kb)


def test_of_many_documents_the_whole_is_told_by_the_fields_that_tell_them_apart(shelf, monkeypatch):
    monkeypatch.setattr("banyan.tools.reports._MOST_DOCUMENTS", 5)
    by_state, by_year = look_up(shelf, CommunityLookup(), tokens=2000)
    assert by_state.title == "9 documents by state"
    assert [line.split(". ")[0] for line in lines(by_state)] == ["state open (5)", "state done (4)"]
    assert by_year.title == "9 documents by written.year"
    assert [line.split(".")[0] for line in lines(by_year)] == ["written 2020 (5)", "written 2021 (4)"]


@pytest.mark.parametrize("question", ["What are these documents about?", "What are all these reports about?",
                                      "这些报告主要是关于什么的？"])
def test_what_documents_are_about_is_answered_by_those_groups_without_a_model(shelf, monkeypatch, question):
    monkeypatch.setattr("banyan.tools.reports._MOST_DOCUMENTS", 5)
    blocks = first_look(shelf, shelf.index.store.schemas.current(), question, 2000,
                        ["community_search", "passage_search"], reasons=False)
    assert [block.title for block in blocks] == ["9 documents by state", "9 documents by written.year"]
