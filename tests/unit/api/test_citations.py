"""Documents that cite each other in their lists of references are linked, with the reference as the quote."""

import pytest

BOATS = "Boats that lie at the quay"
BELLS = "Bells of the towns, and who rings them"
FIRST = {"id": "boats", "title": BOATS, "text": f"# {BOATS}\n\nBoats lie at the quay.",
         "metadata": {"author": "Ann Poe", "doi": "10.1016/j.jq.2001.04.001"}}
SECOND = {"id": "bells", "title": BELLS, "text": (
    f"# {BELLS}\n\nBells ring.\n\n## References\n\n1. Poe A: Boats That Lie at the Quay. J Quays 2001, 12:3-9.\n"
    "2. Kay I: Of towers. J Towers 2003, 1:1-2.")}
THIRD = {"id": "towers", "title": "Of towers and quays", "text": (
    "# Of towers and quays\n\nTowers stand.\n\n## References\n\n"
    "[1] Poe, A. Note. https://doi.org/10.1016/J.JQ.2001.04.001 (2001).\n"
    f"[2] Lang, Ida, {BELLS}, The Alder Press (2014).\n[3] Gro J. A third one of rings. J Rings 2009;1:2.")}


@pytest.fixture(scope="module")
def kb(base_of):
    return [base_of(document) for document in (THIRD, SECOND, FIRST)][-1]


def cited(kb):
    result = kb.sql("SELECT head, tail, documents FROM cites ORDER BY head, tail")
    return [tuple(row) for row in result.rows], [citation.quote for citation in result.citations]


def test_a_reference_with_the_title_or_doi_of_another_document_is_a_fact(kb):
    rows, quotes = cited(kb)
    assert [(head, tail) for head, tail, _ in rows] == [
        (f"{BELLS} (bells)", f"{BOATS} (boats)"), ("Of towers and quays (towers)", f"{BELLS} (bells)"),
        ("Of towers and quays (towers)", f"{BOATS} (boats)")]
    assert quotes[0] == "1. Poe A: Boats That Lie at the Quay. J Quays 2001, 12:3-9."
    assert quotes[1].startswith("[2] Lang, Ida") and quotes[2].startswith("[1] Poe, A. Note.")
    assert [row[0] for row in kb.sql("SELECT count(*) FROM reference_list").rows] == [5]


def test_citations_follow_the_documents_that_are_there(kb):
    kb.delete("bells")
    assert [(head, tail) for head, tail, _ in cited(kb)[0]] == [("Of towers and quays (towers)", f"{BOATS} (boats)")]
    kb.add(SECOND)
    assert len(cited(kb)[0]) == 3


@pytest.mark.parametrize(("question", "short"), [
    (f"Which papers cite {BOATS}?", f"{BELLS} (bells); Of towers and quays (towers)"),
    (f"How many of these documents cite the paper “{BELLS}”?", "1"),
    ("Which papers does Of towers and quays cite?", f"{BELLS} (bells); {BOATS} (boats)"),
    (f"What is cited by {BELLS}?", f"{BOATS} (boats)"),
    (f"哪些论文引用了{BELLS}？", "Of towers and quays (towers)")])
def test_which_documents_cite_one_is_answered_without_a_model(kb, question, short):
    answer = kb.ask(question)
    assert (answer.short, answer.grade) == (short, "stated")
    assert all("Poe" in citation.quote or "Lang" in citation.quote for citation in answer.citations)


@pytest.mark.parametrize("question", [
    "Which papers cite boats?", "Which papers cite the quay?", "Which papers cite the towns?"])
def test_a_word_that_may_be_a_subject_names_no_document(kb, question):
    assert kb.ask(question).grade != "stated"
