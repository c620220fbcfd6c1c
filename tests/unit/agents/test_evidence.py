"""What a model reads: items that bear on the question, none twice, none that says what another one says."""

import pytest
from banyan.agents.retrieval.evidence import answering_first, choose_evidence, item_key, relied_on
from banyan.schemas.documents import Chunk, Document
from banyan.schemas.retrieval import Passage, Reflection, SubAnswer, SubQuery
from banyan.text.tokens import estimate_tokens
from banyan.tools.near_facts import near_facts
from banyan.tools.retriever import Retriever

from ... import small_base as base

FILLER = " ".join(f"The weather of day {day} was mild and nothing of note happened." for day in range(30))
QUESTION = "Was Ada Byron born in Ulm?"


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
    with base.create(tmp_path_factory.mktemp("home"), "evidence", hashed_embedder) as kb, kb.writing():
        base.put(kb, "ada", f"Ada Byron was born in Ulm. {FILLER}", title="Ada Byron",
                 entities={"Ada Byron": "Person", "Ulm": "Place"}, triples=[("Ada Byron", "born_in", "Ulm")])
        base.put(kb, "copy", f"Ada Byron was born in Ulm. {FILLER[:-1]} at all.", title="A copy",
                 entities={"Ada Byron": "Person", "Ulm": "Place"}, triples=[("Ada Byron", "born_in", "Ulm")])
        base.put(kb, "year", f"Ada Byron was born in Ulm in 1801. {FILLER}", title="The year",
                 entities={"Ada Byron": "Person", "Ulm": "Place"}, triples=[("Ada Byron", "born_in", "Ulm")],
                 attributes=[("Ada Byron", "birth_date", "1801")])
        base.put(kb, "ulm", f"Ulm lies on the Danube. {FILLER}", title="Ulm (city)",
                 entities={"Ulm": "Place", "Danube": "River"}, triples=[("Ulm", "lies_on", "Danube")])
        _put_in_parts(kb, "guide", "Signs of frost are white edges,", "brown tips and soft stems.", "Water in spring.")
        base.finish(kb)
        yield Retriever(kb)


def _put_in_parts(kb, document_id, *texts):
    """A document with a chunk for each text."""
    whole, chunks = "\n".join(texts), []
    for ordinal, text in enumerate(texts):
        start = whole.index(text)
        chunks.append(Chunk(id=f"{document_id}{ordinal}", document_id=document_id, ordinal=ordinal, start=start,
                            end=start + len(text), text=text, title="Guide"))
    kb.documents.put(Document(id=document_id, title="Guide", text=whole, source="test"), chunks)
    for chunk in chunks:
        kb.extractions.save(chunk.id, "test", base.said([], [], []))
    kb.schema_control.put_revisions_in_service()
    kb.schema_control.write([chunk.id for chunk in chunks])
    kb.refresh()


def ranked(retriever, *documents: str) -> list[tuple[str, float]]:
    """Chunks of some documents, the first one best."""
    row = {chunk.document_id: chunk.id for chunk in retriever.index.chunks}
    return [(row[document], 1 / number) for number, document in enumerate(documents, 1)]


def asked(retriever, question: str):
    """The query of a question, its vectors fully trusted: the filler is the same everywhere."""
    queries = retriever.queries([SubQuery(question=question)])
    queries[0].meaning.__dict__["trust"] = 1.0
    return queries


def chosen(retriever, ranking, question=QUESTION, tokens=100_000, kept=(), seen=()):
    queries = asked(retriever, question)
    return choose_evidence(retriever, ranking, queries, [], tokens, kept, seen)


def test_a_near_duplicate_is_left_out_but_not_one_with_another_number(retriever):
    items = chosen(retriever, ranked(retriever, "ada", "copy", "year"))
    assert [item.document for item in items if not item.statement] == ["ada", "year"]


def test_a_fact_that_no_shown_passage_states_is_an_item_with_the_words_that_support_it(retriever):
    fact = next(item for item in chosen(retriever, ranked(retriever, "ulm")) if item.statement)
    assert fact.statement == "Ada Byron | born in | Ulm"
    source = retriever.index.store.documents.get(fact.document).text
    assert source[fact.start:fact.start + len(fact.text)] == fact.text
    assert "Ada Byron" in fact.text


def test_a_fact_that_a_passage_states_which_is_shown_or_was_is_no_item(retriever):
    born = "Ada Byron | born in | Ulm"
    assert born not in {item.statement for item in chosen(retriever, ranked(retriever, "ada"))}
    ((chunk, _),) = ranked(retriever, "ada")
    assert born not in {item.statement for item in chosen(retriever, ranked(retriever, "ulm"), seen=[chunk])}


def test_facts_are_those_near_to_the_sub_query_values_among_them(retriever):
    (query,) = asked(retriever, "Ada Byron birth date 1801")
    found = near_facts(retriever, [query], 0.6)
    assert found[0].line == "Ada Byron | birth date | 1801"
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)
    assert all(item.score >= 0.6 for item in found)
    assert near_facts(retriever, [query], 1.1) == []
    assert {item.line for item in near_facts(retriever, [query], 0.0)} == {found[0].line}, "of other relations none"


@pytest.mark.parametrize(("question", "served"), [
    ("Ulm lies on which river?", True), ("Is it true that Ulm lies on Danube?", True),
    ("Which Danube lies on Ulm?", False), ("born in Ulm Danube weather", False), ("barges lies on weather", False)])
def test_a_fact_serves_a_sub_query_that_names_its_entity_and_asks_what_it_tells(retriever, question, served):
    (query,) = asked(retriever, question)
    assert ("Ulm | lies on | Danube" in {item.line for item in near_facts(retriever, [query], 0.5)}) == served


def test_what_was_seen_is_not_shown_again_and_what_is_kept_comes_first(retriever):
    ranking = ranked(retriever, "ada", "year", "ulm")
    first = chosen(retriever, ranking)
    kept = [first[1]]
    again = chosen(retriever, ranking, kept=kept, seen=[item_key(item) for item in first[:2]])
    assert again[0] == kept[0]
    assert [item.document for item in again[1:] if not item.statement] == ["ulm"]


def test_what_stands_beside_a_kept_passage_comes_next_unless_it_was_shown(retriever):
    def texts(seen):
        kept = [retriever.passage("guide1", 0.5)]
        items = chosen(retriever, ranked(retriever, "ulm"), "What does frost do?", kept=kept, seen=["guide1", *seen])
        return [item.text for item in items if not item.statement and item.document == "guide"]

    assert texts([]) == ["brown tips and soft stems.", "Water in spring.", "Signs of frost are white edges,"]
    assert texts(["guide2"]) == ["brown tips and soft stems.", "Signs of frost are white edges,"]


def test_no_passage_of_another_document_stands_beside_one(retriever):
    ends = [retriever.passage(key, 0.5) for key in ("guide0", "guide2")]
    items = chosen(retriever, [], "What does frost do?", kept=ends, seen=["guide0", "guide2"])
    assert [item.chunk_id for item in items if not item.statement] == ["guide0", "guide2", "guide1"]


@pytest.mark.parametrize("tokens", [100, 150, 400, 700, 1500])
def test_everything_together_keeps_to_the_budget(retriever, tokens):
    items = chosen(retriever, ranked(retriever, "ulm", "ada", "year"), tokens=tokens)
    shown = sum(estimate_tokens(item.statement) if item.statement else estimate_tokens(item.header)
                + estimate_tokens(item.text) for item in items)
    assert 0 < shown <= tokens


def test_passages_far_below_the_best_are_left_out_where_there_are_enough(retriever):
    (best, *others) = ranked(retriever, "ada", "year", "ulm")
    low = [best, *((key, 0.001) for key, _ in others)]
    assert len(chosen(retriever, low)) == 3, "the first few are shown whatever their weight"
    assert [item.document for item in chosen(retriever, low, seen=["another"])] == ["ada", "year"]


def test_a_passage_about_what_a_follow_up_names_goes_first(retriever):
    queries = retriever.queries([SubQuery(question="On which river does Ulm lie?")])
    ranking = ranked(retriever, "ada", "copy", "year")
    first, again = answering_first(retriever, queries, ranking)
    ids = dict(zip(("ulm", "ada", "copy", "year"), (key for key, _ in first), strict=True))
    assert [key for key, _ in first] == [key for key, _ in ranked(retriever, "ulm", "ada", "copy", "year")]
    assert again == {ids["ulm"], ids["ada"], ids["copy"]}, "the best are shown again, whatever was seen"
    queries = retriever.queries([SubQuery(question="On which river does it lie?")])
    assert answering_first(retriever, queries, ranking) == (ranking, {ids["ada"], ids["copy"]})


def test_what_a_reflection_relied_on_is_what_it_names_or_what_holds_its_answers():
    items = [Passage(chunk_id=str(n), document="d", title="", text=text, start=0, score=1.0)
             for n, text in enumerate(("It rains.", "Ada was born in Ulm.", "Ulm is a town.", "ULM?", "In Ulm."))]
    assert relied_on(Reflection(sufficient=False, keep=[3, 1, 9, 0]), items, 100) == [items[0], items[2]]
    found = Reflection(sufficient=False, sub_answers=[SubAnswer(question="Where?", answer="Ulm"),
                                                      SubAnswer(question="When?")])
    assert relied_on(found, items, 100) == items[1:4]
    assert relied_on(Reflection(sufficient=False), items, 100) == []
    assert relied_on(found, items, 8) == items[1:2]
