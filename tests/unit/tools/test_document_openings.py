"""What documents are about, passages of documents that a question names, and which documents mention something."""

import pytest
from banyan.schemas.documents import Document
from banyan.schemas.graph_schema import open_schema
from banyan.schemas.lookups import TOOLS, CommunityLookup
from banyan.tools import reports
from banyan.tools.first_look import first_look, list_mentioning
from banyan.tools.graph_names import LabelledTerms
from banyan.tools.reports import look_up_reports, openings
from banyan.tools.retriever import Retriever

from ... import small_base as base

MILLS = ("Aster", "Birch", "Cedar")
HARBOURS = ("Dorn", "Elm", "Fell")


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
    home = tmp_path_factory.mktemp("home")
    with base.create(home, "kb", hashed_embedder) as kb, kb.writing():
        for name in MILLS:
            base.put(kb, f"grain-mills/{name}.md", title=f"{name} mill", text=(
                f"# {name}\n\n<!-- draft -->\n\nAsk at the gate if you want to come in. "
                f"The [{name} mill](x.md) grinds rye and oats for the valley.\n"))
        for name in HARBOURS:
            base.put(kb, f"harbours/{name}.md", title=f"{name} harbour",
                     text=f"The harbour of {name} takes boats of up to nine metres.\n")
        base.put(kb, "harbours/old/container.md", title="Cranes", text="The cranes of the container dock were sold.\n")
        base.put(kb, "harbours/prices.csv", "| Boat: small | Price: 9 |", title="Prices")
        base.put(kb, "a.md", "第一条 为了管理渔船，制定本法，自公布之日起施行。",
                 title="中华人民共和国渔船法(2010-12-01)")
        base.finish(kb)
        yield Retriever(kb)


def lines(items):
    return [item.statement for item in items]


def test_each_document_has_its_title_and_the_sentence_that_says_it_best(retriever):
    assert lines(openings(retriever.index, 4000))[1:4] == [
        f"{name} mill: The {name} mill grinds rye and oats for the valley." for name in MILLS]
    assert openings(retriever.index, 40) == [], "all, or none"


@pytest.mark.parametrize(("text", "opening"), [
    ("THE COUNTRY LIFE PRESS, GARDEN CITY\n\nA boat came in at noon and left.", "A boat came in at noon and left."),
    ("## 2031-04-02\n\n- Discussed who paints the mill\n- Agreed to buy two new millstones in May.\n\nThanks to you!",
     "Agreed to buy two new millstones in May."),
    ("- Discussed who paints the mill\n- Agreed on the new millstones", "Discussed who paints the mill"),
    (("## Attending\n\n* AB: Ada Byron (the Old Mill) - chair\n* Carl berg, by telephone\n\n## Actions\n\n"
     "* Agreed to buy two new millstones in May."), "Agreed to buy two new millstones in May."),
    ("Notes of the meeting at the mill\n\nThe mill closes in winter.", "The mill closes in winter."),
    ("The mill closes in winter.\n\n- Agreed to buy two new millstones in May.", "The mill closes in winter."),
])
def test_minutes_open_with_an_item_and_texts_with_a_whole_sentence(text, opening):
    document = Document(id="minutes.md", title="Minutes", text=text, source="minutes.md")
    assert [one.said for one, _ in reports._openings([document])] == [opening]


def test_a_document_that_a_question_names_is_looked_at_though_others_are_nearer(retriever):
    question = "Which mill grinds rye and oats for the valley, and what says 《渔船法》?"
    items = [item for block in first_look(retriever, open_schema(), question, 300, ("passage_search",))
             for item in block.items]
    assert "a.md" in {item.document for item in items}


def test_many_documents_are_listed_by_title_where_their_openings_do_not_fit(retriever):
    question, terms = "What are these documents about?", LabelledTerms(retriever.index, open_schema())
    sizes = {tokens: len(look_up_reports(retriever, terms, CommunityLookup(), question, tokens)[0].items)
             for tokens in (4000, 200)}
    (titles, _) = look_up_reports(retriever, terms, CommunityLookup(), question, 200)
    assert sizes[4000] == sizes[200] == len(retriever.index.store.documents.titles())
    assert lines(titles.items)[1:4] == [f"{name} mill" for name in MILLS]


def test_documents_of_one_title_are_told_apart(tmp_path, hashed_embedder):
    with base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        for name in ("may.md", "june.md"):
            base.put(kb, name, f"The council met in {name[:-3]}.", title="Council")
        base.finish(kb)
        assert lines(openings(Retriever(kb).index, 1000)) == [
            "Council (june.md): The council met in june.", "Council (may.md): The council met in may."]
        question = "Which documents mention the council?"
        (block,) = first_look(Retriever(kb), open_schema(), question, 1000, ["table_query"], reasons=False)
        assert lines(block.items) == ["Council (june.md) (1): “The council met in june.”",
                                      "Council (may.md) (1): “The council met in may.”"]


TEXTS = {
    "may.md": "# May\n\nWe met.\n\nNumFOCUS\nanswered at last. The numfocus board met, as NumFOCUS's rules say.",
    "june.md": "| Document: June | Author: Ada Byron |\n\n- Ask NumFOCUSes.\n- Ask NUMFOCUS for a contract.\n",
    "july.md": "Nobody of NumFO CUS wrote.", "八月.md": "宁波分行开会。会上谈到宁波分行的预算。"}


@pytest.fixture(scope="module")
def mentioning(tmp_path_factory, hashed_embedder):
    with base.create(tmp_path_factory.mktemp("home"), "kb", hashed_embedder) as kb, kb.writing():
        for name, text in TEXTS.items():
            base.put(kb, name, text, title=name.partition(".")[0].capitalize())
        base.finish(kb)
        yield Retriever(kb)


@pytest.mark.parametrize(("question", "answer", "lines"), [
    ("Which documents mention NumFOCUS?", "2 of 4 documents mention “NumFOCUS”",
     ["May (3): “NumFOCUS answered at last.”", "June (1): “Ask NUMFOCUS for a contract.”"]),
    ("in which of the files is “ask numfocus” mentioned", "1 of 4 documents mention “ask numfocus”",
     ["June (1): “Ask NUMFOCUS for a contract.”"]),
    ("How many documents mention Ada Byron?", "1 of 4 documents mention “Ada Byron”",
     ["June (1): “| Document: June | Author: Ada Byron |”"]),
    ("哪些文档提到了宁波分行？", "4 份文档中有 1 份提到“宁波分行”", ["八月（2 处）：“宁波分行开会。”"]),
    ("宁波分行在哪些文档中出现过？", "4 份文档中有 1 份提到“宁波分行”", ["八月（2 处）：“宁波分行开会。”"])])
def test_every_document_with_the_words_is_listed(mentioning, question, answer, lines):
    (block,) = first_look(mentioning, open_schema(), question, 4000, TOOLS, reasons=False)
    assert [item.statement for item in block.items] == lines
    assert [item.cells for item in block.items] == [(answer,), *[()] * (len(lines) - 1)]
    assert all(TEXTS[item.document][item.start:].startswith(item.text) for item in block.items)


@pytest.mark.parametrize("question", [
    "Which documents mention Curie?", "Which people mention NumFOCUS?", "Which documents are about NumFOCUS?",
    "Which documents mention NumFOCUS in their title?", "哪些文档提到了上海？", "Which documents mention ?"])
def test_another_question_is_searched_for(mentioning, question):
    assert list_mentioning(mentioning.index, question, 4000) is None
    block = list_mentioning(mentioning.index, "Which documents mention NumFOCUS?", 1)
    assert (len(block.items), block.left) == (1, 1), "what does not fit is counted"


def test_other_names_of_what_is_asked_for_are_mentions_too(tmp_path, hashed_embedder):
    named = dict.fromkeys(("Johann Ukert", "Ukert"), "Person")
    with base.create(tmp_path, "kb", hashed_embedder) as kb, kb.writing():
        base.put(kb, "a", "Johann Ukert came. Ukert spoke.", entities=named)
        base.put(kb, "b", "So Ukert wrote.", entities={"Ukert": "Person"})
        base.put(kb, "c", "An ukert sang.")
        base.finish(kb)
        found = list_mentioning(Retriever(kb).index, "Which documents mention johann ukert?", 4000)
    assert found.title == "2 of 3 documents mention “johann ukert” / “Ukert”"
