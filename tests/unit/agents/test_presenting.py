"""The text of answers that quote, and which misspelt names are understood."""

from types import SimpleNamespace

import pytest
from banyan.agents.retrieval.presenting import CLOSEST, is_hinted, present_quotes, with_notes, with_spelling
from banyan.agents.retrieval.spelling import respelt
from banyan.graph_store.index.lexical import LexicalIndex
from banyan.graph_store.index.name_trie import NameTrie
from banyan.schemas.retrieval import Answer, Claim, Passage, Quote, QuotedDraft
from banyan.tools.entity_names import unknown_names_near

TEXT = "The Grey Ferry crosses the Solva. It was built in Marlow.\nNobody knows its colour."
NAMES = ["Viana do Castelo", "Marlow", "Grey Ferry"]


def index():
    words = sorted({word for name in NAMES for word in name.lower().split()})
    return SimpleNamespace(lexical=LexicalIndex.of([TEXT, "Viana do Castelo"]), name_words=words, spellings=NAMES,
                           names=NameTrie.of((name, name) for name in NAMES))


def retriever():
    """One that trusts no vectors: what is near shares words."""
    return SimpleNamespace(index=index())


DOCUMENTS = SimpleNamespace(get=lambda _: SimpleNamespace(text=TEXT), page=lambda *_: None, metadata=lambda _: {})
PASSAGE = Passage(chunk_id="c", document="d", title="Ferry", text=TEXT, start=0, score=1.0)
NONE = Answer(answer="", abstained=True)


def quoting(short="", confidence=0.9):
    return QuotedDraft(answerable=True, confidence=confidence, short=short, claims=[
        Claim(text="It was built in Marlow.", quotes=[Quote(item=1, words="It was built in Marlow.")])])


def test_a_short_answer_stands_above_the_quote_that_states_it():
    said = present_quotes("Where was it built?", quoting("Marlow"), [PASSAGE], DOCUMENTS, 0.5)
    assert said.answer == "Found: Marlow\n“It was built in Marlow.” — Ferry [1]"
    assert (said.short, said.abstained) == ("Marlow", False)
    assert [TEXT[c.start:c.end] for c in said.citations] == [c.quote for c in said.citations]


def test_rows_that_quote_one_sentence_show_it_once():
    draft = quoting("Marlow")
    said = present_quotes("Where was it built?", draft.model_copy(update={"claims": 3 * draft.claims}), [PASSAGE],
                          DOCUMENTS, 0.5)
    assert said.answer == "Found: Marlow\n“It was built in Marlow.” — Ferry [1]"


def test_a_short_answer_is_not_taken_for_a_citation():
    said = present_quotes("What was built?", quoting("decree [1]"), [PASSAGE], DOCUMENTS, 0.5)
    assert said.short == "decree [1]"
    assert said.answer.startswith("Found: “decree [1]”\n")


def test_without_a_short_answer_the_quotes_come_first():
    said = present_quotes("Where was it built?", quoting("Marlow", 0.4), [PASSAGE], DOCUMENTS, 0.5)
    assert said.answer == f"“It was built in Marlow.” — Ferry [1]\n{CLOSEST}"
    assert (said.short, said.abstained, said.confidence) == ("", True, 0.4)


def test_nothing_to_quote_is_said_in_the_language_of_the_question():
    nothing = QuotedDraft(answerable=False, confidence=0.0)
    assert present_quotes("Where?", nothing, [], DOCUMENTS, 0.5).answer == "I could not find the answer."
    question = "渡船是什么颜色？"
    said = with_notes(present_quotes(question, nothing, [], DOCUMENTS, 0.5), question, retriever(), hint=True)
    assert said.answer.startswith("没有找到答案。")
    assert is_hinted([("assistant", said.answer)])
    assert not is_hinted([("assistant", "没有找到答案。")])


def test_names_near_in_spelling_are_named():
    assert unknown_names_near(index(), ["Gray Ferry"], 3) == ["Grey Ferry"]
    assert unknown_names_near(index(), ["Grey Ferry"], 3) == []
    said = with_notes(NONE, "Who owns the Gray Ferry?", retriever(), hint=False)
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
