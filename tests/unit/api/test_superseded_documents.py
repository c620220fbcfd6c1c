"""Documents that supersede and amend one another: the relation, the order and marks of answers, and tables."""

from types import SimpleNamespace

import pytest
from banyan.graph_store.graph.links import NamedDocuments, find_citations, read_name
from banyan.graph_store.ledger.document_rows import DocumentSummary
from banyan.graph_store.store_errors import EntityDecisionError
from banyan.ingest.reference_lists import COLUMNS
from banyan.schemas.documents import SourceTable
from banyan.schemas.inquiry import Block
from banyan.schemas.retrieval import Basis, Passage
from banyan.tools.document_status import mark_versions

OLD = {"id": "travel-2021.md", "title": "Travel Policy 2021",
       "text": "Effective from 1 January 2021.\n\nThe allowance for trips abroad is 50 EUR. Receipts come monthly."}
NEW = {"id": "travel-2023.md", "title": "Travel Policy 2023", "text": (
    "This policy replaces the travel policy of 2021.\n\nThe allowance for trips abroad is 60 EUR. "
    "Flights need the approval of the head.")}
AMENDING = {"id": "amendment.md", "title": "Amendment to the Travel Policy 2023",
            "text": "Effective from 1 July 2024.\n\nSection 2 is amended: flights need two directors."}
CHINESE = ({"id": "a.md", "title": "差旅费管理办法", "text": "住宿费标准为每天三百元。"},
           {"id": "b.md", "title": "差旅费管理办法（2023年修订）",
            "text": "本办法自2023年1月1日起施行，《差旅费管理办法》同时废止。\n\n住宿费标准为每天四百元。"})
SERIES = ({"id": "annual-2021.md", "title": "Annual Report 2021", "text": "We sold pumps."},
          {"id": "annual-2022.md", "title": "Annual Report 2022", "text": "We sold valves, and replaced pumps."})


@pytest.fixture(scope="module")
def kb(base_of, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fees")
    for version, rows in ((1, "copy,2\nscan,3\n"), (2, "copy,4\nscan,5\n")):
        (folder / f"fees-v{version}.csv").write_text(f"item,fee\n{rows}")
    return base_of(OLD, NEW, AMENDING, *CHINESE, *SERIES, *sorted(folder.iterdir()))


def pairs(kb, relation):
    names = kb.sql(f"SELECT head, tail FROM {relation} ORDER BY head, tail").rows
    return [tuple(name.rpartition("(")[2].rstrip(")") for name in row) for row in names]


def test_words_fields_and_names_say_which_document_supersedes_which(kb):
    assert pairs(kb, "supersedes") == [("travel-2023.md", "travel-2021.md"), ("fees-v2.csv", "fees-v1.csv"),
                                       ("b.md", "a.md")]
    assert pairs(kb, "amends") == [("amendment.md", "travel-2023.md")]


def test_the_newer_document_comes_first_and_the_older_is_marked(kb):
    answer = kb.ask("What is the allowance for trips abroad?")
    first, second = answer.citations[:2]
    assert "60 EUR" in first.quote and first.document == "travel-2023.md"
    assert "50 EUR" in second.quote and second.status == "superseded by Travel Policy 2023"
    assert "(superseded by Travel Policy 2023)" in answer.text


def test_a_question_of_a_time_gets_the_document_in_force_then(kb):
    answer = kb.ask("What was the allowance for trips abroad as of 2022?")
    assert "50 EUR" in answer.citations[0].quote
    assert all(citation.status for citation in answer.citations if "60 EUR" in citation.quote)
    chinese = kb.ask("住宿费标准是多少？")
    assert "四百元" in chinese.citations[0].quote


def test_rows_of_an_older_table_are_not_counted_with_the_newer_ones(kb):
    answer = kb.ask("What is the sum of the fees?")
    assert answer.short == "9"
    assert "without fees-v1.csv, superseded by fees-v2" in answer.text


def test_a_person_can_say_which_document_supersedes_which(kb):
    resources = kb.resources
    number = resources.edit("kb", lambda edits: edits.supersede("annual-2022.md", "annual-2021.md", "ada"))
    assert ("annual-2022.md", "annual-2021.md") in pairs(kb, "supersedes")
    resources.edit("kb", lambda edits: edits.undo(number, "ada"))
    assert ("annual-2022.md", "annual-2021.md") not in pairs(kb, "supersedes")
    with pytest.raises(EntityDecisionError, match="no document 'x'"):
        resources.edit("kb", lambda edits: edits.supersede("x", "annual-2021.md", "ada"))


def test_a_document_is_found_by_the_words_of_its_name():
    names = [read_name(document, title) for document, title in (
        ("gebühren-2021.md", "Gebühren für Abwasser 2021"), ("gebühren-2022.md", "Gebühren für Abwasser 2022"),
        ("a.md", "差旅费管理办法"), ("rfc822.txt", "Text messages"), ("own.md", "Gebühren für Abwasser 2023"),
        ("rfc2822.txt", "Internet messages"))]
    named = NamedDocuments({name.id: name for name in names})
    assert named.find("the Gebühren für Abwasser of 2021", "own.md") == "gebühren-2021.md"
    assert named.find("Gebühren für Abwasser", "own.md") == "gebühren-2022.md"
    assert named.find("原《差旅费管理办法》", "own.md") == "a.md"
    assert named.find("822", "rfc2822.txt") == named.find("RFC 822", "own.md") == "rfc822.txt"
    assert named.find("Abwasser", "own.md") == named.find("the", "a.md") == ""


def test_letters_and_digits_that_are_written_together_are_one_word_of_a_title():
    """A title of one word is too short to tell a cited work by it."""
    titles = {"erc.md": "ERC20", "birds.md": "Walks of the birds"}
    table = SourceTable(columns=COLUMNS, spans=((0, 5), (5, 9)), rows=tuple(
        (f"A. Boro. {title}.", "", "", title, "", "") for title in titles.values()))
    documents = SimpleNamespace(
        tables=lambda _: [("paper.md", table)],
        about=lambda: [DocumentSummary(document, title, "", {}) for document, title in titles.items()])
    assert [link.tail for link in find_citations(documents)] == ["birds.md"]


def test_a_count_is_not_called_superseded_like_the_records_that_it_cites():
    versions = SimpleNamespace(superseded={"old.md": "new.md"}, amended={}, trust={}, outdated=lambda _: set(),
                               status=lambda _, **__: "superseded by New")
    basis = Basis(query="SELECT count(*) FROM documents", records=25)
    count, row = (Passage(chunk_id="", document="old.md", title="", text="", start=0, score=0, kind="row",
                          statement=statement, basis=basis) for statement in ("count: 25", "document: old.md"))
    (marked,) = mark_versions(SimpleNamespace(versions=versions), [Block(title="", items=(count, row))], "How many?")
    assert [one.statement for one in marked.items] == ["count: 25", "document: old.md [superseded by New]"]
