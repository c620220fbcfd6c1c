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


def quotes(question, passages):
    found = closest(question, passages, DOCUMENTS)
    assert [TEXT[c.start:c.end] for c in found] == [c.quote for c in found]
    assert [c.id for c in found] == list(range(1, len(found) + 1))
    return [c.quote for c in found]


def test_the_nearest_comes_first_with_what_stands_around_it_below_its_heading():
    assert quotes("Who looks after the turbine and keeps it unpaid?", [passage()]) == [
        "Leonhard signs for repairs. Reto looks after the turbine. He does it unpaid.",
        "Marta keeps it. She came in 2017."]


def nearest(question, *texts):
    """The first quote where each text is a passage of one document."""
    whole = " ".join(texts)
    documents = SimpleNamespace(get=lambda _: SimpleNamespace(text=whole), page=lambda *_: None)
    given = [Passage(chunk_id=text, document="d", title="", text=text, start=whole.index(text), score=1.0)
             for text in texts]
    return closest(question, given, documents)[0].quote


def test_words_that_are_used_alike_are_near():
    assert nearest("What does it cost?", "Marta paints boats.", "The price is 4 pounds.") == "The price is 4 pounds."


def test_words_that_few_sentences_have_count_most():
    red = "The lamp in the hall is red.", "The lamp in the attic is red."
    assert nearest("Is oil in the lamp?", *red, "Marta bought oil.") == "Marta bought oil."


def test_chinese_is_compared_by_its_characters():
    assert nearest("谁修理涡轮？", "马塔看守小屋。", "莱昂负责修理涡轮。") == "莱昂负责修理涡轮。"


def test_a_quote_has_an_end_and_no_two_overlap():
    long = "".join(f"It snows on day {day}. " for day in range(60))
    documents = SimpleNamespace(get=lambda _: SimpleNamespace(text=long), page=lambda *_: None)
    given = [Passage(chunk_id=str(start), document="d", title="Snow", text=long[start:], start=start, score=1.0)
             for start in (0, 100)]
    found = closest("Does it snow?", given, documents)
    assert len(found) == 3
    assert all(len(c.quote) <= 300 for c in found)
    spans = sorted((c.start, c.end) for c in found)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_statements_of_the_graph_and_empty_contexts_have_no_passages():
    assert quotes("Who?", [passage(statement="Marta keeps the hut")]) == []
    assert quotes("Who?", []) == []
