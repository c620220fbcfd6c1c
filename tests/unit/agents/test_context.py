"""What a reasoner is given: passages, facts and reports within one budget, each citable by words of a source."""

import pytest
from banyan.agents.retrieval.citing import cite
from banyan.agents.retrieval.context import build_context
from banyan.agents.retrieval.graph import build_graph
from banyan.prompts import evidence_block
from banyan.schemas.retrieval import Claim, DraftAnswer, Evidence, Quote, SubQuery
from banyan.text.tokens import estimate_tokens
from banyan.tools.retriever import Retriever

from ... import asking
from ... import small_base as base

FILLER = " ".join(f"The weather of day {day} was mild and nothing of note happened." for day in range(40))
TWO = 2 * (estimate_tokens(FILLER) + 40)
"""A budget for two passages and a few facts."""


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
    with base.create(tmp_path_factory.mktemp("home"), "context", hashed_embedder) as kb, kb.writing():
        fill(kb)
        yield Retriever(kb)


def fill(kb):
    base.put(kb, "ada", f"Ada Byron was born in Ulm. {FILLER}", title="Ada Byron",
        entities={"Ada Byron": "Person", "Ulm": "Place"}, triples=[("Ada Byron", "born_in", "Ulm")],
        metadata={"author": "Carl Berg", "date": "1901-05-02", "created": "2020-01-01"})
    base.put(kb, "ulm", f"Ulm lies on the river Danube. {FILLER}", title="Ulm",
        entities={"Ulm": "Place", "Danube": "River"}, triples=[("Ulm", "lies_on", "Danube")])
    base.put(kb, "danube", f"The Danube flows into the Black Sea. {FILLER}", title="Danube",
        entities={"Danube": "River", "Black Sea": "Sea"}, triples=[("Danube", "flows_into", "Black Sea")])
    base.finish(kb)


def context(retriever, question, tokens):
    queries = retriever.queries([SubQuery(question=question)])
    evidence = [retriever.evidence(query) for query in queries]
    ranking = retriever.ranking(retriever.rank(queries, evidence), 10)
    return build_context(retriever, ranking, queries, evidence[0], tokens)


def test_facts_stand_for_passages_that_do_not_fit(retriever):
    items = context(retriever, "On which river does the birthplace of Ada Byron lie?", TWO)

    passages = [item for item in items if not item.statement]
    facts = [item for item in items if item.statement]
    assert len(passages) == 2
    (other,) = {"ada", "ulm", "danube"} - {passage.document for passage in passages}
    assert {fact.document for fact in facts} == {other}
    assert facts[0].statement in {"Ada Byron | born in | Ulm", "Ulm | lies on | Danube",
                                  "Danube | flows into | Black Sea"}


def test_of_a_passage_longer_than_half_the_stretch_that_states_the_facts_is_shown(tmp_path, hashed_embedder):
    with base.create(tmp_path, "long", hashed_embedder) as kb, kb.writing():
        base.put(kb, "ada", f"{FILLER} Ada Byron was born in Ulm. {FILLER}", title="Ada Byron",
                 entities={"Ada Byron": "Person", "Ulm": "Place"}, triples=[("Ada Byron", "born_in", "Ulm")])
        base.finish(kb)
        made = Retriever(kb)
        (item,) = context(made, "Where was Ada Byron born?", 200)
        (whole,) = context(made, "Where was Ada Byron born?", 100_000)
    assert "Ada Byron was born in Ulm." in item.text
    assert estimate_tokens(item.header) + estimate_tokens(item.text) <= 100
    assert whole.text[item.start:].startswith(item.text), "it is quoted from where it stands"
    assert len(item.text) > 200, "as much is shown as there is room for"


def test_of_a_long_passage_without_facts_as_much_is_shown_as_half_the_budget_holds(tmp_path, hashed_embedder):
    with base.create(tmp_path, "plain", hashed_embedder) as kb, kb.writing():
        base.put(kb, "days", FILLER, title="Days", entities={"Days": "Work"})
        base.finish(kb)
        (item,) = context(Retriever(kb), "Days?", 200)
    assert FILLER.startswith(item.text)
    assert 80 < estimate_tokens(item.header) + estimate_tokens(item.text) <= 100


def test_facts_of_shown_passages_are_not_repeated(retriever):
    items = context(retriever, "On which river does Ulm lie?", 100_000)

    assert len(items) == 3
    assert not any(item.statement for item in items)


def test_a_cited_fact_is_cited_by_its_source(retriever):
    items = context(retriever, "On which river does the birthplace of Ada Byron lie?", TWO)
    number = next(number for number, item in enumerate(items, 1) if item.statement)
    fact = items[number - 1]
    draft = DraftAnswer(answerable=True, claims=[Claim(text="So it is.", quotes=[
        Quote(passage=number, words=fact.statement)])])

    answer = cite(draft, items, retriever.index.store.documents, "reject")

    (citation,) = answer.citations
    source = retriever.index.store.documents.get(citation.document).text
    assert source[citation.start:citation.end] == citation.quote == fact.text
    assert all(name in source for name in fact.statement.split(" | ")[::2])


@pytest.mark.parametrize(("question", "score", "shown"), [
    ("What are the main themes of all of this?", 0.6, True), ("What are the main themes of all of this?", 0.4, False),
    ("Ada Byron Ulm Danube?", 0.6, False)])
def test_reports_are_given_to_thematic_questions_that_they_are_near_to(retriever, question, score, shown):
    evidence = [Evidence(route="community", text=community.text(), score=score, community_id=key)
                for key, community in retriever.index.communities.items()]
    items = build_context(retriever, [], retriever.queries([SubQuery(question=question)]), evidence, 2000)

    reports = {community.text() for community in retriever.index.communities.values()}
    assert bool(reports & {item.statement for item in items}) == shown


def test_a_passage_stands_below_what_its_document_says_of_itself(retriever):
    text = evidence_block(context(retriever, "On which river does the birthplace of Ada Byron lie?", 100_000))

    assert "Ada Byron (author: Carl Berg; date: 1901-05-02)\nAda Byron was born" in text
    assert "] Ulm\nUlm lies" in text


def test_reflect_and_answer_are_given_all_of_it(retriever, hashed_embedder, monkeypatch):
    items = context(retriever, "On which river does the birthplace of Ada Byron lie?", TWO)
    monkeypatch.setattr("banyan.agents.retrieval.nodes.choose_evidence", lambda *_: items)
    with asking.FakeResources(retriever.index.store.layout.root.parent, hashed_embedder) as resources:
        build_graph(resources).invoke({"knowledge_base": "context", "question": "Where does it lie?"})

    assert any(item.statement for item in items)
    assert [resources.fake.said_to(step)[0][2] for step in ("reflect", "answer")] == [items, items]


def test_a_community_that_is_gone_is_no_report(retriever):
    queries = retriever.queries([SubQuery(question="What are the main themes?")])
    gone = [Evidence(route="community", text="gone", score=1.0, community_id="gone")]

    assert build_context(retriever, [], queries, gone, 1000) == []


def test_attributes_are_shown_of_what_the_question_is_about(tmp_path, hashed_embedder):
    with base.create(tmp_path, "values", hashed_embedder) as kb, kb.writing():
        for name, born in (("Ada Byron", "1801"), ("Carl Berg", "1799"), ("Dora Blum", "1788")):
            base.put(kb, name, f"{FILLER} {name} was born in {born}.", title=name, entities={name: "Person"},
                     attributes=[(name, "birth_date", born)])
        base.finish(kb)
        queries = (made := Retriever(kb)).queries([SubQuery(question="When was Ada Byron born?",
                                                            attributes=("birth_date",), routes=("entity",))])
        evidence = [item for item in made.evidence(queries[0]) if item.score == 1.0]
        ranking = [(chunk.id, 1.0) for chunk in reversed(made.index.chunks)]
        items = build_context(made, ranking, queries, evidence, TWO)

    assert "Ada Byron | birth date | 1801" in {item.statement for item in items}
    assert not any("Carl Berg" in item.statement for item in items)
    assert [item.title for item in items if not item.statement] == ["Dora Blum", "Carl Berg"]
