"""The text of answers that quote."""

from types import SimpleNamespace

import pytest
from banyan.agents.retrieval.wording import present_quotes, with_near_names
from banyan.graph_store.index.lexical import LexicalIndex, Spellings
from banyan.schemas.retrieval import Basis, Claim, Passage, Quote, QuotedDraft

from ...graph_index import trie_of

TEXT = "The Grey Ferry crosses the Solva. It was built in Marlow.\nNobody knows its colour."
NAMES = ["Viana do Castelo", "Marlow", "Grey Ferry"]


def index():
    return SimpleNamespace(lexical=LexicalIndex.of([TEXT, "Viana do Castelo"]), spellings=lambda: Spellings(NAMES),
                           names=trie_of((name, name) for name in NAMES))


def retriever():
    """One that trusts no vectors: what is near shares words."""
    return SimpleNamespace(index=index())


DOCUMENTS = SimpleNamespace(text=lambda _: TEXT, page=lambda *_: None, metadata=lambda _: {}, meant_dates=lambda *_: ())
PASSAGE = Passage(chunk_id="c", document="d", title="Ferry", text=TEXT, start=0, score=1.0)


def quoting(short="", confidence=0.9):
    return QuotedDraft(answerable=True, confidence=confidence, short=short, claims=[
        Claim(text="It was built in Marlow.", quotes=[Quote(item=1, words="It was built in Marlow.")])])


@pytest.mark.parametrize("times", [1, 3])
def test_a_short_answer_stands_above_the_quote_that_states_it_shown_once(times):
    draft = quoting("Marlow")
    said = present_quotes("Where was it built?", draft.model_copy(update={"claims": times * draft.claims}), [PASSAGE],
                          DOCUMENTS, 0.5)
    assert said.answer == "Found: Marlow\n“It was built in Marlow.” — Ferry [1]"
    assert (said.short, said.abstained) == ("Marlow", False)
    assert [TEXT[c.start:c.end] for c in said.citations] == [c.quote for c in said.citations]


@pytest.mark.parametrize(("question", "note"), [
    ("Where was it built?", "(Computed from 3 records: SELECT 1)"), ("建于何处？", "（依据 3 条记录：SELECT 1）")])
def test_what_a_number_rests_on_is_said_in_the_language_of_the_question(question, note):
    computed = PASSAGE.model_copy(update={"basis": Basis(query="SELECT 1", records=3)})
    assert present_quotes(question, quoting("Marlow"), [computed], DOCUMENTS, 0.5).answer.splitlines()[-1] == note


def test_nothing_to_quote_is_said_in_the_language_of_the_question():
    nothing = QuotedDraft(answerable=False, confidence=0.0)
    assert present_quotes("Where?", nothing, [], DOCUMENTS, 0.5).answer == "I could not find the answer."
    question = "渡船是什么颜色？"
    said = with_near_names(present_quotes(question, nothing, [], DOCUMENTS, 0.5), question, [retriever()])
    assert said.answer.startswith("没有找到答案。")


def test_what_a_question_leaves_open_is_asked_back():
    draft = QuotedDraft(answerable=False, confidence=0.0, asks_back="Who is meant by 'he'?")
    said = present_quotes("Where does he work?", draft, [PASSAGE], DOCUMENTS, 0.5)
    assert (said.answer, said.abstained, said.grade) == ("Who is meant by 'he'?", True, "none")
