"""Ranks of documents: where two differ and neither supersedes the other, the higher rank is preferred, and visibly."""

import pytest
from banyan.graph_store.store_errors import EntityDecisionError

WIKI = {"id": "wiki/pumps.md", "title": "Pumps in the wiki", "text": (
    "The Orio pump lifts 50 litres a minute.\n\nThe Orio pump was built by Ada Lovelace in 1990.")}
SHEET = {"id": "sheets/pumps.md", "title": "Data sheet of the pumps", "text": "The Orio pump lifts 60 litres a minute."}
OTHER = {"id": "sheets/cars.md", "title": "Data sheet of the cars", "text": "The Vela car carries five persons."}
QUESTION = "How many litres does the Orio pump lift a minute?"


@pytest.fixture(scope="module")
def unranked(base_of):
    return base_of(WIKI, SHEET, OTHER)


@pytest.fixture
def kb(unranked):
    yield unranked
    for decision in unranked.edit.decisions():
        if not decision.undone_at:
            unranked.edit.undo(decision.number)


def statuses(answer):
    return {citation.document: citation.status for citation in answer.citations}


@pytest.mark.parametrize(("pattern", "rank"), [("sheets/*", 1), ("wiki/pumps.md", -1)])
def test_the_more_trusted_document_comes_first_and_the_other_says_so(kb, pattern, rank):
    assert not any(statuses(kb.ask(QUESTION)).values())
    kb.edit.trust(pattern, rank)
    answer = kb.ask(QUESTION)
    first, second = answer.citations[:2]
    assert "60 litres" in first.quote and not first.status
    assert "50 litres" in second.quote and second.status == "trusted less than Data sheet of the pumps"
    assert "(trusted less than Data sheet of the pumps)" in answer.text


def test_what_only_a_less_trusted_document_says_is_answered(kb):
    kb.edit.trust("sheets/*", 1)
    answer = kb.ask("Who built the Orio pump?")
    assert "Ada Lovelace" in answer.text
    assert answer.citations[0].document == "wiki/pumps.md"


def test_the_last_matching_rank_counts_also_for_documents_added_later(kb):
    kb.edit.trust("*", 1)
    kb.edit.trust("wiki/*", -1)
    kb.add({"id": "wiki/new.md", "text": "The Tera pump lifts 70 litres a minute."})
    assert {entry.id: entry.trust for entry in kb.documents()} == {
        "sheets/cars.md": 1, "sheets/pumps.md": 1, "wiki/new.md": -1, "wiki/pumps.md": -1}
    kb.delete("wiki/new.md")


def test_impossible_ranks_are_refused(kb):
    with pytest.raises(EntityDecisionError, match="no document matches 'wikis/\\*'"):
        kb.edit.trust("wikis/*", 1)
    with pytest.raises(EntityDecisionError, match="from -1000 to 1000"):
        kb.edit.trust("wiki/*", 1001)
