"""Questions about the whole corpus: reports answer in a map and a reduce step, each claim resting on a source."""

import pytest
from banyan.agents.retrieval import survey
from banyan.agents.retrieval.graph import build_graph
from banyan.agents.retrieval.state import AskContext
from banyan.graph_store.knowledge_base import KnowledgeBase
from banyan.graph_store.tree.detection import CommunitySettings
from banyan.models.rules.overviews import overview
from banyan.schemas.retrieval import Claim, DraftAnswer, Passage, Quote, SubQuery

from ... import asking
from ... import small_base as base

OVERVIEW = SubQuery(question="What are the main themes?", routes=("community",))


@pytest.fixture
def resources(tmp_path, hashed_embedder):
    base.people(tmp_path, "people", hashed_embedder)
    with KnowledgeBase.open(tmp_path, "people", hashed_embedder) as kb, kb.writing():
        kb.tree.build(base.summarise, CommunitySettings(max_members=3))  # a survey reads several reports
        kb.save_graph()
    with asking.FakeResources(tmp_path, hashed_embedder) as made:
        made.fake.parts = [OVERVIEW]
        made.fake.draft = first_and_last
        yield made


def first_and_last(items):
    """Claims the first and the last item, and something of an item that is not there."""
    return DraftAnswer(answerable=True, confidence=0.8, claims=[
        Claim(text=f"It says {items[number - 1].statement}.", quotes=[Quote(passage=number, words="any")])
        for number in (1, len(items))] + [Claim(text="Made up.", quotes=[Quote(passage=99, words="any")])])


def ask(resources, **context):
    return build_graph(resources).invoke({"question": OVERVIEW.question},
                                         context=AskContext(knowledge_base="people", trace=True, **context))


def test_each_batch_of_reports_is_read_and_their_claims_are_the_context(resources, monkeypatch):
    resources.settings.context_tokens = 15
    monkeypatch.setattr(survey, "MOST_CALLS", 100)

    said = ask(resources)

    *maps, (question, history, reduced, mode) = resources.fake.said_to("answer")
    assert len(maps) > 1
    assert all(item.statement for batch in maps for item in batch[2])
    claims = {claim.text for batch in maps for claim in first_and_last(batch[2]).claims} - {"Made up."}
    assert all(any(item.statement.startswith(f"{claim} (") for claim in claims) for item in reduced)
    assert all(f"“{item.text}”" in item.statement for item in reduced), "with the words that a claim rests on"
    spans = [(item.document, item.start, item.text) for item in reduced]
    assert len(spans) == len(set(spans)), "each once"
    assert (question, [item.answer for item in history], mode) == (OVERVIEW.question, [""], "reject")
    assert "reflect" not in resources.fake.steps()
    assert [step["step"] for step in said["trace"]].count("survey") == len(maps)


def test_every_claim_of_the_answer_is_cited_from_its_source(resources):
    said = ask(resources)

    documents = resources.knowledge_base("people").documents
    assert said["citations"]
    for citation in said["citations"]:
        assert documents.get(citation["document"]).text[citation["start"]:citation["end"]] == citation["quote"]
    assert "Made up" not in said["answer"]


def test_what_one_batch_holds_is_answered_from_in_one_call(resources):
    said = ask(resources)

    assert resources.fake.steps() == ["decompose", "answer"]
    ((_, _, items, _),) = resources.fake.said_to("answer")
    assert any("|" in item.statement for item in items), "facts are read as well as reports"
    documents = resources.knowledge_base("people").documents
    assert said["citations"]
    assert all(documents.get(c["document"]).text[c["start"]:c["end"]] == c["quote"] for c in said["citations"])


def test_a_sentence_that_documents_share_speaks_for_none_of_them(tmp_path, hashed_embedder):
    shared = "Vex is a company in Ulm that makes glass lamps."
    own = {"finance": "Its income rose to four million in 2024.", "people": "It employs ninety glass blowers.",
           "only": "Orio sells the lamps of Vex in all of Italy."}
    with base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        for name, words in own.items():
            text = words if name == "only" else f"{shared} {words}"
            base.put(kb, name, text, entities={"Vex": "Thing", "Ulm": "Thing"}, triples=[("Vex", "lies in", "Ulm")])
        base.finish(kb)
    with asking.FakeResources(tmp_path, hashed_embedder) as resources:
        retriever = resources.retriever("kb")
        (query,) = retriever.queries([OVERVIEW])
        told = {item.document: item.text for batch in survey.report_batches(retriever, query, 4000) for item in batch
                if not item.chunk_id}
    assert told == own


def test_a_call_is_told_no_fact_twice(resources):
    with KnowledgeBase.open(resources.settings.home, "people", resources.embedder) as kb, kb.writing():
        kb.tree.build(base.summarise, CommunitySettings(max_members=1))  # both ends of a fact have a report
        kb.save_graph()
    ask(resources)
    ((_, _, items, _),) = resources.fake.said_to("answer")
    told = [item.statement for item in items]
    assert sum(" | " in line for line in told) > 1
    assert len(told) == len(set(told))


def test_a_model_is_told_how_each_document_opens_where_the_calls_have_room(resources):
    resources.settings.context_tokens = 150
    ask(resources)
    items = resources.fake.said_to("answer")[0][2]
    assert {item.document for item in items if not item.chunk_id} == set(base.PEOPLE)


def test_calls_are_bounded_whatever_the_reports(resources, monkeypatch):
    resources.settings.context_tokens = 15
    monkeypatch.setattr(survey, "MOST_CALLS", 2)

    ask(resources)

    assert len(resources.fake.said_to("answer")) <= 2 + 1


def test_reports_that_say_nothing_leave_the_passages(resources, monkeypatch):
    resources.fake.draft = lambda items: DraftAnswer(answerable=False)
    resources.settings.context_tokens = 15
    monkeypatch.setattr(survey, "MOST_CALLS", 100)

    said = ask(resources)

    assert said["abstained"]
    assert any(not item.statement for item in resources.fake.said_to("answer")[-1][2])


def test_a_question_about_a_thing_is_no_survey(resources):
    resources.fake.parts = [OVERVIEW, SubQuery(question="Where was Ada Byron born?")]

    ask(resources)

    assert len(resources.fake.said_to("answer")) == 1


def test_a_point_keeps_all_its_quotes_and_rows_of_tables_are_told_as_facts():
    def item(text, statement):
        return Passage(chunk_id="c", document="d", title="", text=text, start=0, score=1.0, statement=statement)

    items = [item("Ada wrote notes.", "Notes (work). Ada wrote notes"), item("Ada wrote notes.", "Ada | wrote | Notes"),
             item("| Name: Ada | Town: Ulm |", "Ada | lives in | Ulm")]
    drafted = overview(items)
    assert [claim.text for claim in drafted.claims] == ["Notes (work): Ada wrote notes; Ada lives in Ulm."]
    assert [quote.passage for quote in drafted.claims[0].quotes] == [2, 3]
    # The same claim once more, as the reduce step sees it: an item for each quote.
    again = overview([item("Ada wrote notes.", drafted.claims[0].text),
                      item("| Name: Ada | Town: Ulm |", drafted.claims[0].text)])
    assert [(claim.text, [quote.passage for quote in claim.quotes]) for claim in again.claims] == [
        (drafted.claims[0].text, [1, 2])]


def test_of_a_few_documents_an_overview_tells_what_each_opens_with():
    def item(text, statement):
        return Passage(chunk_id="", document="d", title="Our story", text=text, start=0, score=1.0, statement=statement)

    items = [item("We brew ale.", "Our story: We brew ale."), item("Ada wrote notes.", "Notes (work). Ada wrote notes"),
             item("Ada wrote notes.", "Ada | wrote | Notes")]
    assert [claim.text for claim in overview(items).claims] == ["Our story: We brew ale."]
