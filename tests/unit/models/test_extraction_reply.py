"""An extraction's lines, the rows that cite them, and which chunk each row goes to."""

import asyncio
from typing import Any

import pytest
from banyan.models.llm import wire
from banyan.models.llm.extraction_reply import NumberedLines
from banyan.schemas.extraction import Extraction, ExtractionRequest
from banyan.schemas.graph_schema import GraphSchema, open_schema
from hypothesis import given, settings
from hypothesis import strategies as st

from ...scripted_endpoint import SCHEMA, ScriptedEndpoint, reasoner

LINES = ["Marie Curie was born in Warsaw in 1867.", "3 Idiots was shot in Ladakh.", "Natives of Ulm: Ada, Bo and Cy"]
DAYS = (ExtractionRequest(text="Ada Lin was born in Ulm.\n\nUlm has 5 wells.", title="Towns", document="Towns (a.md)",
                          heading="Ulm"),
        ExtractionRequest(text="- Bo Ek", title="Towns", document="Towns (a.md)", heading="Bonn",
                          opening="Born in Bonn:", about="Author: Eva"),
        ExtractionRequest(text="Cy Dahl was born in Oslo.", title="Oslo", document="oslo.md", about="Date: 2019"))
"""Lines 1 and 2, 3, and 4."""


def read(found: dict[str, Any], *requests: ExtractionRequest, schema: GraphSchema = SCHEMA) -> list[Extraction]:
    return wire.extraction(schema, NumberedLines(requests)).read({
        "entities": [], "triples": [], "attributes": [], "new": [], **found})


def read_one(found: dict[str, Any], schema: GraphSchema = SCHEMA) -> Extraction:
    (extraction,) = read(found, ExtractionRequest(text="\n".join(LINES)), schema=schema)
    return extraction


ROWS: dict[str, tuple[list[str], list[tuple[str, str]], int | str, str]] = {
    "cited": (["1", "Marie Curie", "*", "Warsaw"], [("Marie Curie", "Warsaw")], 1, ""),
    "cited with a word": (["Line 1:", "Marie Curie", "*", "Warsaw"], [("Marie Curie", "Warsaw")], 1, ""),
    "time": (["1 in 1867", "Marie Curie", "*", "Warsaw"], [("Marie Curie", "Warsaw")], 1, "in 1867"),
    "year": (["1, 1867", "Marie Curie", "*", "Warsaw"], [("Marie Curie", "Warsaw")], 1, "1867"),
    "qualifiers": (["3 since 2019; votes: 27", "Ada", "*", "Ulm"], [("Ada", "Ulm")], 3, "since 2019; votes: 27"),
    "several tails": (["3", "Ulm", "*", "Ada", "Bo", " ", "Cy"], [("Ulm", "Ada"), ("Ulm", "Bo"), ("Ulm", "Cy")], 3, ""),
    "digits in a cited name": (["2", "3 Idiots", "*", "Ladakh"], [("3 Idiots", "Ladakh")], 2, ""),
    "no such line": (["99", "Ada", "*", "Ulm"], [("Ada", "Ulm")], "", ""),
    "no such line, time": (["99 since 2019", "Ada", "*", "Ulm"], [("Ada", "Ulm")], "", "since 2019"),
    "no line": (["Ada", "*", "Ulm"], [("Ada", "Ulm")], "", ""),
    "digits and no line": (["3 Idiots", "*", "Ladakh"], [("3 Idiots", "Ladakh")], "", ""),
    "nothing": (["1", " ", "*", "Ulm"], [], "", ""),
    "no tail": (["1", "Ada", "*", "", " "], [], "", ""),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_cites_a_line_or_brings_its_words(name):
    row, ends, evidence, time = ROWS[name]
    said = LINES[evidence - 1] if isinstance(evidence, int) else evidence
    for schema in (SCHEMA, open_schema()):
        triples, attributes = ([[cell.replace("*", label) for cell in row]] for label in ("born_in", "population"))
        found = read_one({"triples": triples, "attributes": attributes}, schema)
        assert [(one.head, one.relation, one.tail, one.evidence, one.time) for one in found.triples] == [
            (head, "born_in", tail, said, time) for head, tail in ends]
        assert [(one.entity, one.attribute, one.value, one.evidence, one.time) for one in found.attributes] == [
            (head, "population", tail, said, time) for head, tail in ends]


def test_each_item_of_a_list_cites_its_own_line_at_or_below_the_cited_one():
    text = "Ada and Bo founded Ulm.\n\nElected:\n- Bo\n- Ada (27 votes)"
    (found,) = read({"triples": [["2", "Ulm", "board member", "Ada", "Bo"]]}, ExtractionRequest(text=text))
    assert [(one.tail, one.evidence) for one in found.triples] == [("Ada", "- Ada (27 votes)"), ("Bo", "- Bo")]


def test_a_long_list_in_one_sentence_has_several_numbers():
    names = [f"Ada Member{number}" for number in range(90)]
    request = ExtractionRequest(text=f"Elected were {', '.join(names)}.")
    (found,) = read({"triples": [["1", "Ulm", "board member", *names]]}, request)
    assert all(one.tail in one.evidence and len(one.evidence) <= 300 for one in found.triples)
    assert "".join(line.text for line in NumberedLines([request]).lines).count("Member") == len(names)


def test_a_label_that_is_used_but_not_listed_counts_as_the_least_certain_one_listed():
    rows = [["1", "Ulm", "wells", "5"], ["1", "Ulm", "motto", "Ad astra"]]
    listed = [["wells", "0.9"], ["mayor", "relation", 0.8]]
    assert [one.confidence for one in read_one({"attributes": rows, "new": listed}).attributes] == [0.9, 0.8]
    assert [one.confidence for one in read_one({"attributes": rows}).attributes] == [0.5, 0.5]


def test_an_empty_cell_repeats_the_one_above():
    rows = [["3 since 2019; votes: 27", "Ulm", "wells", "Ada"], ["", "", "", "Bo"], ["3", "", "motto", "Cy"],
            ["1", "Marie Curie", "", "Warsaw"], ["", "born_in", "Warsaw"]]
    assert [(one.evidence, one.time, one.entity, one.attribute, one.value)
            for one in read_one({"attributes": rows}).attributes] == [
                (LINES[2], "since 2019; votes: 27", "Ulm", "wells", "Ada"),
                (LINES[2], "since 2019; votes: 27", "Ulm", "wells", "Bo"), (LINES[2], "", "Ulm", "motto", "Cy"),
                (LINES[0], "", "Marie Curie", "motto", "Warsaw"), ("", "", "Marie Curie", "born_in", "Warsaw")]
    assert not read_one({"attributes": [["1", "", "wells", "5"]]}).attributes


def test_labels_of_any_language_become_the_schemas_names():
    found = read_one({"triples": [["1", "居里夫人", "出生于", "Warsaw"]],
                      "attributes": [["1", "Warsaw", "Inhabitants", 1800000]]})
    assert found.triples[0].relation == "born_in"
    assert (found.attributes[0].attribute, found.attributes[0].value) == ("population", "1800000")


def test_each_chunk_of_a_call_gets_its_rows_and_the_entities_that_it_uses_or_names():
    endpoint = ScriptedEndpoint([{
        "entities": [["Person", "Ada Lin", "Bo Ek", "Cy Dahl", "Eva"], ["Place", "Ulm", "Bonn", "Oslo", "Atlantis"]],
        "triples": [["1", "Ada Lin", "born_in", "Ulm"], ["3 since 2019", "Bo Ek", "born_in", "Bonn"],
                    ["Cy Dahl", "born_in", "Oslo", "born in Oslo"], ["99", "Cy Dahl", "near", "Oslo"],
                    ["4", "Cy Dahl", "knows", "Ada Lin"]],
        "attributes": [["2", "Ulm", "wells", "5"]], "new": []}])
    first, second, third = asyncio.run(reasoner(endpoint).awaited.extract(DAYS, SCHEMA))
    assert [(one.head, one.tail) for one in first.triples] == [("Ada Lin", "Ulm")]
    assert [(one.entity, one.value) for one in first.attributes] == [("Ulm", "5")]
    assert [(one.head, one.tail, one.time) for one in second.triples] == [("Bo Ek", "Bonn", "since 2019")]
    assert [(one.head, one.tail) for one in third.triples] == [("Cy Dahl", "Oslo")] * 2 + [("Cy Dahl", "Ada Lin")]
    names = [{entity.name for entity in one.entities} for one in (first, second, third)]
    assert names == [{"Ada Lin", "Ulm", "Eva", "Atlantis"}, {"Bo Ek", "Bonn"}, {"Cy Dahl", "Oslo", "Ada Lin"}], (
        "what no chunk has goes to the first, where it is rejected and counted")
    assert len(endpoint.sent) == 1


_TEXT = st.text(alphabet=st.sampled_from("ab 1[]>.:\n\u2028"), max_size=60)


@given(texts=st.lists(st.tuples(_TEXT, _TEXT, _TEXT), min_size=1, max_size=4))
def test_no_text_can_pass_for_a_line_or_for_what_stands_above_a_chunk(texts):
    lines = NumberedLines([ExtractionRequest(text=text, heading=heading, opening=opening)
                           for text, heading, opening in texts])
    shown = lines.text().split("\n") if lines.lines else []
    assert sum(line.startswith("[") for line in shown) == len({line.request for line in lines.lines})
    numbered = [line.partition(" ") for line in shown if not line.startswith("[")]
    assert [number for number, _, _ in numbered] == [str(number + 1) for number in range(len(numbered))]
    for number, _, text in numbered:
        assert lines.find_cited(number) == (lines.lines[int(number) - 1], "")
        assert lines.lines[int(number) - 1].text == text


_CELL = st.one_of(st.text(max_size=20), st.sampled_from(["1", "2 since 2019", "7", "born_in", "Person", "3 Idiots"]))
_ROWS = st.lists(st.lists(_CELL, min_size=3, max_size=6), max_size=4)


@settings(deadline=None)
@given(entities=st.lists(st.lists(_CELL, min_size=1, max_size=4), max_size=4), triples=_ROWS, attributes=_ROWS)
def test_every_answer_of_the_asked_form_is_read(entities, triples, attributes):
    found = read({"entities": entities, "triples": triples, "attributes": attributes}, *DAYS)
    assert len(found) == len(DAYS)
    assert sum(len(one.triples) for one in found) <= sum(len(row) - 2 for row in triples)
    assert all(one.head.strip() and one.relation.strip() and one.tail.strip() for each in found for one in each.triples)


def test_lines_show_what_relative_dates_mean_and_cite_the_source():
    request = ExtractionRequest(text="Ann came yesterday.\n[2024-04-09 10:00] Bo: I left yesterday.", title="Call",
                                said_on="2024-03-05")
    lines = NumberedLines([request])
    assert lines.text().splitlines()[1:] == ["1 Ann came yesterday [2024-03-04].",
                                             "2 [2024-04-09 10:00] Bo: I left yesterday [2024-04-08]."]
    assert [line.text for line in lines.lines] == request.text.split("\n")
