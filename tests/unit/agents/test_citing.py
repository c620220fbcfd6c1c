"""Citations checked against the sources, and passages cut to the context's budget."""

import re
from types import SimpleNamespace

import pytest
from banyan.agents.retrieval.citing import cite, within_budget
from banyan.agents.retrieval.shown_text import find_marks, plain_text, without_marks
from banyan.agents.retrieval.supporting import is_support
from banyan.schemas.documents import Document
from banyan.schemas.retrieval import Claim, DraftAnswer, Passage, Quote, QuotedDraft
from banyan.text.tokens import estimate_tokens
from hypothesis import given
from hypothesis import strategies as st

from ... import small_base as base

TEXTS = base.PEOPLE


@pytest.fixture(scope="module")
def documents(tmp_path_factory, hashed_embedder):
    with base.create(tmp_path_factory.mktemp("home"), "kb", hashed_embedder) as kb:
        for one, text in TEXTS.items():
            base.store(kb, Document(id=one, title="", text=text, source="test"), 400, 0)
        yield kb.documents



def passage(document: str, start: int, end: int, score=1.0) -> Passage:
    return Passage(chunk_id=f"{document}{start}", document=document, title="", text=TEXTS[document][start:end],
                   start=start, score=score)


_quotes = st.one_of(
    st.text(max_size=30),
    st.tuples(st.sampled_from(sorted(TEXTS)), st.integers(0, 70), st.integers(0, 30)).map(
        lambda cut: TEXTS[cut[0]][cut[1]:cut[1] + cut[2]]),
    st.tuples(st.sampled_from(sorted(TEXTS)), st.integers(0, 70), st.integers(0, 30)).map(
        lambda cut: TEXTS[cut[0]].upper()[cut[1]:cut[1] + cut[2]].replace(" ", "  ")))


@given(st.lists(st.tuples(st.integers(0, 5), _quotes), max_size=5), st.integers(0, 20),
       st.sampled_from(["reject", "open"]))
def test_every_accepted_citation_stands_in_its_document(documents, quotes, cut, mode):
    passages = [passage(document, cut, 70) for document in sorted(TEXTS)]
    draft = DraftAnswer(answerable=True, claims=[
        Claim(text=f"Claim: {words}", quotes=[Quote(passage=number, words=words)]) for number, words in quotes])
    said = cite(draft, passages, documents, mode)
    for citation in said.citations:
        assert citation.start < citation.end
        assert documents.get(citation.document).text[citation.start:citation.end] == citation.quote
    assert [citation.id for citation in said.citations] == list(range(1, len(said.citations) + 1))
    assert len({(c.document, c.start, c.end) for c in said.citations}) == len(said.citations)
    assert all(f"[{citation.id}]" in said.answer for citation in said.citations)
    if mode == "reject":
        assert said.abstained == (not said.citations)


def test_a_passage_of_a_text_since_replaced_or_deleted_is_not_cited(tmp_path, hashed_embedder):
    with base.create(tmp_path, "kb", hashed_embedder) as kb:
        for one in ("ada", "ulm"):
            base.store(kb, Document(id=one, title="", text=TEXTS[one], source="test"), 400, 0)
        draft = DraftAnswer(answerable=True, claims=[
            Claim(text="Born in Ulm.", quotes=[Quote(passage=1, words="She was born in Ulm")]),
            Claim(text="A city.", quotes=[Quote(passage=2, words="Ulm is a city")])])
        passages = [passage("ada", 0, 80), passage("ulm", 0, 80)]
        assert len(cite(draft, passages, kb.documents, "reject").citations) == 2
        base.store(kb, Document(id="ada", title="", text=f"Revised. {TEXTS['ada']}", source="test"), 400, 0)
        kb.documents.delete("ulm")
        assert cite(draft, passages, kb.documents, "reject").abstained


@pytest.mark.parametrize(("claim", "words", "supported"), [
    ("Ada Byron obeys Eve.", "in", False), ("Ada Byron obeys Eve.", ".", False),
    ("Ada Byron obeys Eve.", "was a", False), ("Ada Byron obeys Eve.", "born in Ulm", False), ("Yes.", ".", False),
    ("艾达出生于乌尔姆。", "in", False),
    ("Ada Byron obeys Eve.", "Ada Byron was a mathematician", True), ("She comes from Ulm.", "born in Ulm", True),
    ("She was born in 1801.", "3 May 1801", True), ("Mathematics was her field.", "mathematician", True),
    ("Yes.", "born in Ulm", True), ("2", "born in Ulm", True), ("艾达出生于乌尔姆。", "born in Ulm", True)])
def test_a_quote_supports_only_what_it_has_a_word_of(documents, claim, words, supported):
    draft = DraftAnswer(answerable=True, claims=[Claim(text=claim, quotes=[Quote(passage=1, words=words)])])
    said = cite(draft, [passage("ada", 0, 90)], documents, "reject")
    assert bool(said.citations) == supported
    assert said.abstained != supported


def test_numbers_are_compared_whatever_sets_thousands_apart():
    assert is_support("a crowd of 12,500 people", "It was 12500.")
    assert is_support("on 1801-05-03", "In 1801.")
    assert not is_support("a crowd of 12,500 people", "It was 500.")


@pytest.mark.parametrize("text", [
    "<img src=x onerror=alert(1)>", "![x](http://evil.example/?q=1)", "see [here](http://evil.example)",
    "as said [1][2]", "【1】", "[x]: http://evil.example", "<!-- -->", "[[1]1]", "turned \u202e round\u200b",
    "two\nlines"])
def test_no_text_is_shown_that_a_viewer_would_act_on_or_take_for_our_marks(text):
    shown = plain_text(text)
    assert not re.search(r"<[A-Za-z/!?]|\]\(|\]:|\[\d|【|\u202e|\u200b|\n", shown)
    assert plain_text(shown) == shown


@pytest.mark.parametrize("depth", [1, 3, 20, 2000])
def test_marks_of_a_models_words_are_taken_out_however_they_are_nested(documents, depth):
    nested = "[1" * depth + "]" * depth
    draft = DraftAnswer(answerable=True, claims=[
        Claim(text=f"Born {nested} in Ulm.", quotes=[Quote(passage=1, words="She was born in Ulm")])])
    (said, mark) = cite(draft, [passage("ada", 0, 80)], documents, "reject").answer.rsplit(" ", 1)
    assert mark == "[1]"
    assert not set("[]") & set(said)


def quote_all(text: str, shown: str = ""):
    """Answer with a document's whole text as a quote, or with other words that the text supports."""
    source = SimpleNamespace(get=lambda _: SimpleNamespace(text=text), page=lambda *_: None, metadata=lambda _: {})
    draft = QuotedDraft(answerable=True, confidence=1, short=text, claims=[
        Claim(text=shown or " ".join(text.split()), quotes=[Quote(passage=1, words=text)])])
    return cite(draft, [Passage(chunk_id="c", document="d", title="", text=text, start=0, score=1)], source, "reject")


def letters(text: str) -> str:
    """A text without white space, and without what neutralises a tag."""
    return "".join(text.split()).replace("‹", "<")


SIGNS = ["[2008]", "[1]", " [1]", "[1][2]", "[1, 2]", "[^3]", "【4】", "[[1]2]", "[here](http://x.example)",
         "![it](http://x.example)", "[x]: y", "|", " | ", "<b>", "a < b", "‹", "“", "” [1]", "\n", "  ", "*so*", "§ 3"]


@given(st.lists(st.sampled_from([*SIGNS, "decree", " of "]), max_size=8).map(lambda parts: f"Decree {''.join(parts)}"))
def test_a_quote_is_shown_as_it_stands(text):
    answer = quote_all(text)
    line, short = answer.answer, answer.short
    assert line.startswith("“")
    assert line.endswith("” [1]")
    assert letters(without_marks(line)) == letters(f"“{text}”")
    assert letters(short) == letters(text)
    assert [mark.span() for mark in find_marks(line)] == [(len(line) - 3, len(line))]
    assert not re.search(r"<[A-Za-z/!?]|\][(\[:](?!1\]$)|\n", line)


def test_cells_of_a_row_are_not_shown_as_a_quote():
    row = "| Model: X200 | Order: decree [2008] | Price: 499 USD |"
    assert quote_all(row, "Order of X200: decree [2008]").answer == "Order of X200: decree [2008] [1]"
    assert quote_all(row).answer == f"“{row}” [1]"


def test_only_the_marks_at_the_end_of_a_line_are_an_answers():
    answer = "“decree [2008] No. 3” [1]\nOrder: [3] [1][2]\n[4] one (Not from the documents.)"
    assert without_marks(answer) == "“decree [2008] No. 3”\nOrder: [3]\n[4] one (Not from the documents.)"
    assert [mark[1] for mark in find_marks(answer)] == ["1", "1", "2"]


@given(st.lists(st.integers(1, 80), max_size=6), st.integers(2, 200), st.sampled_from(["w ", "Wasp. ", "字", "字。"]))
def test_the_budget_keeps_the_best_passages(lengths, tokens, word):
    passages = [Passage(chunk_id=str(n), document="d", title="t", text=word * length, start=7, score=1 / (n + 1))
                for n, length in enumerate(lengths)]
    kept = within_budget(passages, tokens)
    cost = [estimate_tokens(p.title) + estimate_tokens(p.text) for p in passages]
    assert sum(estimate_tokens(p.title) + estimate_tokens(p.text) for p in kept) <= tokens
    whole = kept if kept == passages[:len(kept)] else kept[:-1]
    assert whole == passages[:len(whole)]
    for cut, passage in zip(kept[len(whole):], passages[len(whole):], strict=False):
        assert cost[len(whole)] > tokens
        assert passage.text.startswith(cut.text)
        assert (cut.chunk_id, cut.start) == (passage.chunk_id, passage.start)
    assert len(kept) == len(passages) or sum(cost[:len(whole) + 1]) > tokens
    assert bool(kept) == bool(passages)


def long_passage(text: str, title: str = "T") -> Passage:
    return Passage(chunk_id="long", document="d", title=title, text=text, start=0, score=1.0)


def test_a_passage_longer_than_the_budget_is_cut_to_whole_sentences():
    text = " ".join(f"Wasp {n} is here." for n in range(50))
    (cut,) = within_budget([long_passage(text)], 23)
    assert cut.text == "Wasp 0 is here. Wasp 1 is here. Wasp 2 is here. Wasp 3 is here."
    (words,) = within_budget([long_passage("wasp " * 50)], 11)
    assert words.text == " ".join(["wasp"] * 10)
    (titled,) = within_budget([long_passage("wasp " * 50, title="wasp " * 50)], 10)
    assert (titled.title.split(), titled.text.split()) == (["wasp"] * 5, ["wasp"] * 5)


def test_a_long_passage_does_not_hide_what_stands_before_it_nor_exceed_the_budget():
    short = long_passage("One. Two. Three.")
    long = long_passage(" ".join(f"Wasp {n} is here." for n in range(50)))
    kept = within_budget([short, long, short], 40)
    assert kept[0] == short
    assert len(kept) == 2
    assert 0 < len(kept[1].text) < len(long.text)
    assert kept[1].text.endswith("is here.")
    assert within_budget([short, long_passage("wasp " * 100)], 20) == [short], "no sentence of it fits"
