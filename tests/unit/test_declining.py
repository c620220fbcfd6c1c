"""What is said where no answer was found, and which misspelt names are understood."""

from types import SimpleNamespace

import pytest
from banyan.agents.retrieval.declining import declined, is_hinted, with_spelling
from banyan.agents.retrieval.spelling import names_near, respelt
from banyan.graph_store.index.lexical import LexicalIndex
from banyan.graph_store.index.names import NameTrie
from banyan.schemas.retrieval import Answer, Passage

TEXT = "The Grey Ferry crosses the Solva. It was built in Marlow.\nNobody knows its colour."
NAMES = ["Viana do Castelo", "Marlow", "Grey Ferry"]


def index():
    words = sorted({word for name in NAMES for word in name.lower().split()})
    return SimpleNamespace(lexical=LexicalIndex.of([TEXT, "Viana do Castelo"]), name_words=words, spellings=NAMES,
                           names=NameTrie.of((name, name) for name in NAMES))


def retriever():
    """One that trusts no vectors: what is near shares words."""
    return SimpleNamespace(index=index())


DOCUMENTS = SimpleNamespace(get=lambda _: SimpleNamespace(text=TEXT), page=lambda *_: None)
PASSAGE = Passage(chunk_id="c", document="d", title="Ferry", text=TEXT, start=0, score=1.0)
NONE = Answer(answer="", abstained=True)


def test_the_closest_sentence_is_shown_and_cited():
    said = declined("What colour is the Grey Ferry?", NONE, [PASSAGE], DOCUMENTS, retriever(), hint=False)
    assert said.abstained
    assert said.answer.startswith("I could not find the answer.")
    assert [TEXT[c.start:c.end] for c in said.citations] == [c.quote for c in said.citations]
    assert "language model" not in said.answer


def test_a_chinese_question_is_declined_in_chinese():
    said = declined("渡船是什么颜色？", NONE, [PASSAGE], DOCUMENTS, retriever(), hint=True)
    assert said.answer.startswith("没有找到答案。")
    assert is_hinted([("assistant", said.answer)])
    assert not is_hinted([("assistant", "没有找到答案。")])


def test_names_near_in_spelling_are_named():
    assert names_near(["Gray Ferry"], index()) == ["Grey Ferry"]
    assert names_near(["Grey Ferry"], index()) == []
    said = declined("Who owns the Gray Ferry?", NONE, [PASSAGE], DOCUMENTS, retriever(), hint=False)
    assert "Grey Ferry" in said.answer


@pytest.mark.parametrize(("question", "meant", "replaced"), [
    ("Who lives in Viana do Castello?", "Who lives in Viana do Castelo?", [("Castello", "Castelo")]),
    ("Where is Marlov?", "Where is Marlow?", [("Marlov", "Marlow")]),
    ("Where is Marlow?", "Where is Marlow?", []),
    ("Where is Barlow?", "Where is Barlow?", []),
    ("Is it castello?", "Is it castello?", []),
])
def test_a_misspelt_name_is_read_as_the_one_that_is_known(question, meant, replaced):
    assert respelt(question, index()) == (meant, replaced)


def test_what_was_read_otherwise_is_said():
    answer = Answer(answer="Rui Fontes [1]", abstained=False)
    assert with_spelling(answer, [("Castello", "Castelo")], "Who ...?").answer == (
        "Rui Fontes [1]\n(“Castello” was read as “Castelo”.)")
    assert with_spelling(answer, [], "Who ...?") == answer
