"""Questions for the documents that mention something: which there are, how often each does, and what is none."""

import pytest
from banyan.schemas.graph_schema import open_schema
from banyan.schemas.lookups import TOOLS
from banyan.tools.first_look import first_look
from banyan.tools.mentioning_documents import list_mentioning
from banyan.tools.retriever import Retriever

from ... import small_base as base

TEXTS = {
    "may.md": "# May\n\nWe met.\n\nNumFOCUS\nanswered at last. The numfocus board met, as NumFOCUS's rules say.",
    "june.md": "| Document: June | Author: Ada Byron |\n\n- Ask NumFOCUSes.\n- Ask NUMFOCUS for a contract.\n",
    "july.md": "Nobody of NumFO CUS wrote.",
    "八月.md": "宁波分行开会。会上谈到宁波分行的预算。",
}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory, hashed_embedder):
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
def test_every_document_with_the_words_is_listed(retriever, question, answer, lines):
    (block,) = first_look(retriever, open_schema(), question, 4000, TOOLS, reasons=False)
    assert [item.statement for item in block.items] == lines
    assert [item.cells for item in block.items] == [(answer,), *[()] * (len(lines) - 1)]
    assert all(TEXTS[item.document][item.start:].startswith(item.text) for item in block.items)


def test_what_does_not_fit_is_counted(retriever):
    block = list_mentioning(retriever.index, "Which documents mention NumFOCUS?", 1)
    assert (len(block.items), block.left) == (1, 1)


@pytest.mark.parametrize("question", [
    "Which documents mention Curie?", "Which people mention NumFOCUS?", "Which documents are about NumFOCUS?",
    "Which documents mention NumFOCUS in their title?", "哪些文档提到了上海？", "Which documents mention ?"])
def test_another_question_is_searched_for(retriever, question):
    assert list_mentioning(retriever.index, question, 4000) is None
