"""Which passages come closest to a question that found no answer."""

from itertools import pairwise
from types import SimpleNamespace

from banyan.agents.retrieval.closest import closest
from banyan.schemas.retrieval import Passage

TEXT = """# The hut

Marta keeps it. She came in 2017.

## The valley

Leonhard signs for repairs. Reto looks after the turbine. He does it unpaid.
"""
DOCUMENTS = SimpleNamespace(get=lambda _: SimpleNamespace(text=TEXT), page=lambda *_: None)


def passage(statement=""):
    return Passage(chunk_id="c", document="d", title="Hut", text=TEXT, start=0, score=1.0, statement=statement)


def comparing(trust=1.0, **nearness):
    """A retriever for which a sentence is as near as the word in it says."""
    def compare(_question, texts):
        return trust, [max((near for word, near in nearness.items() if word in text), default=0.0) for text in texts]
    return SimpleNamespace(compare=compare)


def quotes(question, passages, retriever):
    found = closest(question, passages, DOCUMENTS, retriever)
    assert [TEXT[c.start:c.end] for c in found] == [c.quote for c in found]
    assert [c.id for c in found] == list(range(1, len(found) + 1))
    return [c.quote for c in found]


def test_the_nearest_comes_first_with_what_stands_around_it_below_its_heading():
    assert quotes("Who is the warden?", [passage()], comparing(keeps=0.9, turbine=0.5)) == [
        "Marta keeps it. She came in 2017.",
        "Leonhard signs for repairs. Reto looks after the turbine. He does it unpaid."]


def test_where_vectors_say_nothing_shared_words_do():
    assert quotes("Who signs for repairs?", [passage()], comparing(0.0, keeps=0.9))[0].startswith("Leonhard")


def test_a_quote_has_an_end_and_no_two_overlap():
    long = "".join(f"It snows on day {day}. " for day in range(60))
    documents = SimpleNamespace(get=lambda _: SimpleNamespace(text=long), page=lambda *_: None)
    given = [Passage(chunk_id=str(start), document="d", title="Snow", text=long[start:], start=start, score=1.0)
             for start in (0, 100)]
    found = closest("Does it snow?", given, documents, comparing(snows=1.0))
    assert len(found) == 3
    assert all(len(c.quote) <= 300 for c in found)
    spans = sorted((c.start, c.end) for c in found)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_statements_of_the_graph_and_empty_contexts_have_no_passages():
    assert quotes("Who?", [passage(statement="Marta keeps the hut")], comparing()) == []
    assert quotes("Who?", [], comparing()) == []
