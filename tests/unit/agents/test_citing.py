"""Citations checked against the sources, grades of support, and short answers that follow."""

import re
from types import SimpleNamespace

import pytest
from banyan.agents.retrieval.cited_message import find_marks, plain_text, without_marks
from banyan.agents.retrieval.citing import cite
from banyan.schemas.documents import Document
from banyan.schemas.records import Basis, LeftOut
from banyan.schemas.retrieval import Claim, DraftAnswer, Passage, Place, Quote, QuotedDraft
from banyan.text.cleaning import without_markup
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


def answered(documents, *claims: Claim, items=None, mode="reject", short=""):
    return cite(DraftAnswer(answerable=True, claims=list(claims), short=short), items or [ROW], documents, mode)


def claim(text: str, *quotes, unstated="") -> Claim:
    """A claim with its quotes: (number, words), or a number of an item as models write it."""
    return Claim(text=text, unstated=unstated, quotes=[Quote(item=one[0], words=one[1]) if isinstance(one, tuple) else
                                                       Quote.model_validate(one) for one in quotes])


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
    said = answered(documents, *(claim(f"Claim: {words}", (number, words)) for number, words in quotes), items=passages,
                    mode=mode)
    for citation in said.citations:
        assert citation.start < citation.end
        assert documents.get(citation.document).text[citation.start:citation.end] == citation.quote
    assert [citation.id for citation in said.citations] == list(range(1, len(said.citations) + 1))
    assert len({(c.document, c.start, c.end) for c in said.citations}) == len(said.citations)
    assert all(f"[{citation.id}]" in said.answer for citation in said.citations)
    if mode == "reject":
        assert said.abstained == (not said.citations)


@pytest.mark.parametrize(("unstated", "confidence", "mode", "shown"), [
    ("", .5, "reject", True), ("", .45, "reject", False), ("that Ulm is meant", .3, "reject", True),
    ("that Ulm is meant", .2, "reject", False), ("that Ulm is meant", .9, "strict", False)])
def test_an_answer_that_names_its_unstated_link_needs_half_the_confidence(documents, unstated, confidence, mode, shown):
    draft = DraftAnswer(answerable=True, confidence=confidence, short="Ulm", claims=[
        claim("She was born in Ulm.", (1, "She was born in Ulm"), unstated=unstated)])
    answer = cite(draft, [passage("ada", 0, 80)], documents, mode, abstain_below=0.5)
    assert (not answer.abstained, answer.short) == (shown, "Ulm" if shown else "")
    assert ("not stated: that Ulm is meant" in answer.answer) == (shown and bool(unstated))


HEADED = "# Election of 1833\n\n## Room 12: counting\n\nThe new members are:\n\n* Ada Byron\n"


@pytest.mark.parametrize(("text", "words", "cited"), [
    ("The counting is in room 12.", "Room 12: counting", "Room 12: counting"),
    ("The counting is in room 12.", "Room 12: counting [goes on]", "Room 12: counting"),
    ("They were elected in 1833.", "election of 1833", "Election of 1833"),
    ("She was chosen in 1833.", "The new members are:\n\n* Ada Byron", "The new members are:\n\n* Ada Byron")])
def test_what_a_prompt_shows_above_a_passage_can_be_quoted_and_says_what_it_is_about(
        tmp_path, hashed_embedder, text, words, cited):
    with base.create(tmp_path, "kb", hashed_embedder) as kb:
        base.store(kb, Document(id="v", title="Election of 1833", text=HEADED, source="test"), 400, 0)
        start = HEADED.index("The new")
        item = Passage(chunk_id="c", document="v", title="Election of 1833", heading="Room 12: counting",
                       text=HEADED[start:], start=start, score=1.0, part="goes on")
        said = answered(kb.documents, claim(text, (1, words)), items=[item])
        assert [citation.quote for citation in said.citations] == [cited]


def test_a_passage_of_a_text_since_replaced_or_deleted_is_not_cited(tmp_path, hashed_embedder):
    with base.create(tmp_path, "kb", hashed_embedder) as kb:
        for one in ("ada", "ulm"):
            base.store(kb, Document(id=one, title="", text=TEXTS[one], source="test"), 400, 0)
        claims = claim("Born in Ulm.", (1, "She was born in Ulm")), claim("A city.", (2, "Ulm is a city"))
        passages = [passage("ada", 0, 80), passage("ulm", 0, 80)]
        assert len(answered(kb.documents, *claims, items=passages).citations) == 2
        base.store(kb, Document(id="ada", title="", text=f"Revised. {TEXTS['ada']}", source="test"), 400, 0)
        kb.documents.delete("ulm")
        assert answered(kb.documents, *claims, items=passages).abstained


@pytest.mark.parametrize(("text", "words", "supported"), [
    ("Ada Byron obeys Eve.", "in", False), ("Ada Byron obeys Eve.", ".", False),
    ("Ada Byron obeys Eve.", "was a", False), ("Ada Byron obeys Eve.", "born in Ulm", False), ("Yes.", ".", False),
    ("艾达出生于乌尔姆。", "in", False),
    ("Ada Byron obeys Eve.", "Ada Byron was a mathematician", True), ("She comes from Ulm.", "born in Ulm", True),
    ("She was born in 1801.", "3 May 1801", True), ("Mathematics was her field.", "mathematician", True),
    ("Yes.", "born in Ulm", True), ("Yes, it is.", "born in Ulm", True),
    ("Three.", "born in Ulm", True), ("2", "born in Ulm", True), ("艾达出生于乌尔姆。", "born in Ulm", True)])
def test_a_quote_supports_only_what_it_has_a_word_of(documents, text, words, supported):
    said = answered(documents, claim(text, (1, words)), items=[passage("ada", 0, 90)])
    assert bool(said.citations) == supported
    assert said.abstained != supported


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
    shown = answered(documents, claim(f"Born {nested} in Ulm.", (1, "She was born in Ulm")),
                     items=[passage("ada", 0, 80)])
    said, mark = shown.answer.rsplit(" ", 1)
    assert mark == "[1]"
    assert not set("[]") & set(said)


def source_of(text: str):
    return SimpleNamespace(text=lambda _: text, page=lambda *_: None, metadata=lambda _: {}, meant_dates=lambda *_: ())


def quote_all(text: str, shown: str = ""):
    """Answer with a document's whole text as a quote, or with other words that the text supports."""
    source = source_of(text)
    draft = QuotedDraft(answerable=True, confidence=1, short=text, claims=[
        claim(shown or " ".join(text.split()), (1, text))])
    return cite(draft, [Passage(chunk_id="c", document="d", title="", text=text, start=0, score=1)], source, "reject")


def letters(text: str) -> str:
    return "".join(text.split()).replace("‹", "<")


SIGNS = ["[2008]", "[1]", " [1]", "[1][2]", "[1, 2]", "[^3]", "【4】", "[[1]2]", "[here](http://x.example)",
         "![it](http://x.example)", "[x]: y", "|", " | ", "<b>", "a < b", "‹", "“", "” [1]", "\n", "  ", "*so*", "§ 3"]


@given(st.lists(st.sampled_from([*SIGNS, "decree", " of "]), max_size=8).map(lambda parts: f"Decree {''.join(parts)}"))
def test_a_quote_is_shown_as_a_reader_of_its_markup_sees_it(text):
    answer = quote_all(text)
    line, short = answer.answer, answer.short
    assert line.startswith("“")
    assert line.endswith("” — d [1]")
    assert letters(without_marks(line)) == letters(f"“{without_markup(' '.join(text.split()))}” — d")
    assert letters(short) == letters(without_markup(text))
    assert [mark.span() for mark in find_marks(line)] == [(len(line) - 3, len(line))]
    assert not re.search(r"<[A-Za-z/!?]|\][(\[:](?!1\]$)|\n", line)


def test_a_quote_says_its_documents_title_and_the_nearest_heading():
    text = "Intro.\n## Fees\nMembers pay [40 euros](fees.html).\n## Rooms\nThere are nine."
    source = source_of(text)
    item = Passage(chunk_id="c", document="d.md", title="Club", text=text, start=0, score=1, heading="Club > Rules")

    def shown(words: str) -> str:
        draft = QuotedDraft(answerable=True, confidence=1, claims=[claim(words, (1, words))])
        return cite(draft, [item], source, "reject").answer

    assert shown("Intro.") == "“Intro.” — Club › Rules [1]"
    assert shown("Members pay [40 euros](fees.html).") == "“Members pay 40 euros.” — Club › Fees [1]"
    assert shown("There are nine.") == "“There are nine.” — Club › Rooms [1]"


def test_a_claim_that_quotes_no_words_cites_the_field_above_the_passage_that_it_names():
    text = "---\ntitle: Fork\nstatus: Draft\n---\nNo epoch is filled in."
    source = source_of(text)
    item = Passage(chunk_id="c", document="d.md", title="Fork", text=text[36:], start=36, score=1,
                   about="created: 2024-09-26; status: Draft")
    (citation,) = answered(source, claim("The fork is still a draft.", 1), items=[item]).citations
    assert citation.quote == "status: Draft"
    assert answered(source, claim("The fork is final.", 1), items=[item]).abstained


def row(*places: tuple[str, str, str], statement: str = "born in 2") -> Passage:
    """A line of a table with the words of a document for each member: (document, words, member)."""
    found = [Place(document=one, start=TEXTS[one].index(words), text=words, member=told) for one, words, told in places]
    return Passage(chunk_id="", document=found[0].document, title="", text=found[0].text, start=found[0].start,
                   score=0, kind="fact", statement=statement, places=tuple(found))


ROW = row(("ada", "She was born in Ulm", "Ada Byron"), ("carl", "He was born in Turku", "Carl Berg"),
          ("zh", "林小雨出生于宁波", "林小雨"), ("ulm", "Ulm is a city", "Ulm"),
          statement="born in: Ada Byron; Carl Berg; 林小雨; Ulm")


@pytest.mark.parametrize(("text", "cited"), [
    ("Carl Berg was born in a town.", ["carl"]), ("ADA  BYRON and Carl-Berg were born somewhere.", ["ada", "carl"]),
    ("Several were born in towns.", ["ada", "carl", "zh"])])
def test_a_line_is_cited_by_the_places_of_the_members_that_a_claim_names(documents, text, cited):
    said = answered(documents, claim(text, 1))
    assert [citation.document for citation in said.citations] == cited
    assert all(documents.get(c.document).text[c.start:c.end] == c.quote for c in said.citations)


def test_the_lines_that_claims_quote_are_the_answers_rows(documents):
    said = answered(documents, claim("Ada and Bo were born in 2 places.", 1), items=(ROW, row(("carl", "Turku", ""))))
    assert [one.text for one in said.rows] == [ROW.statement]
    assert said.rows[0].documents == tuple(dict.fromkeys(place.document for place in ROW.places))


def test_a_line_supports_a_claim_by_what_it_says_or_its_source_does(documents):
    assert answered(documents, claim("The mathematician Eve obeys.", 1)).abstained
    assert not answered(documents, claim("Turku is a birthplace.", 1)).abstained, "the source's word"


def test_a_line_of_a_card_says_it_of_the_cards_entity(documents):
    line = row(("ada", "She was born in Ulm", "Ulm"), statement="pays -> Ulm")
    card = line.model_copy(update={"heading": "Frank Lund"})
    benefactor = claim("The unknown benefactor was Frank Lund.", 1)
    assert answered(documents, benefactor, items=[line]).abstained
    said = answered(documents, benefactor, items=[card])
    assert (said.abstained, said.rows[0].text) == (False, "Frank Lund: pays -> Ulm")


def test_a_passage_must_be_quoted_in_its_words(documents):
    assert answered(documents, claim("Born in Ulm.", 1), claim("Ada Byron.", "1"), items=[passage("ada", 0, 90)],
                    ).abstained


@pytest.mark.parametrize(("mode", "grade", "lines"), [
    ("reject", "inferred", ["Ada Byron was a child. [1]", "Carl Berg too. (Inferred; not stated: that he lived) [2]"]),
    ("strict", "stated", ["Ada Byron was a child. [1]", "(Claims left out, as no document states them: 1.)"]),
    ("open", "inferred", ["Ada Byron was a child. [1]", "Carl Berg too. (Inferred; not stated: that he lived) [2]"])])
def test_an_inferred_claim_says_what_is_not_stated_and_is_not_strict(documents, mode, grade, lines):
    said = answered(documents, claim("Ada Byron was a child.", 1),
                    claim("Carl Berg too.", 1, unstated="that he lived [7]"), mode=mode)
    assert said.answer.splitlines() == lines
    assert said.grade == grade


def test_a_strict_answer_that_lost_a_link_has_no_short_answer(documents):
    claims = (claim("Ada Byron was born in Ulm.", 1, unstated="that it is she"), claim("Ada Byron.", 1))
    for mode, short in (("reject", "Ada Byron"), ("strict", "")):
        assert answered(documents, *claims, short="Ada Byron", mode=mode).short == short


def test_claims_that_are_left_out_are_counted_in_the_language_of_the_answer(documents):
    invented = [claim("Made up."), claim("Eve obeys.", 1)]
    said = answered(documents, *invented, claim("Ada Byron was born in Ulm.", 1))
    assert said.answer.splitlines()[1:] == ["(Claims left out, as no document states them: 2.)"]
    chinese = answered(documents, *invented, claim("林小雨出生于宁波。", 1))
    assert chinese.answer.endswith("（有 2 条结论文档没有说明，已略去。）")
    assert len(answered(documents, *invented, claim("Ada Byron.", 1), mode="open").answer.splitlines()) == 3


@pytest.mark.parametrize(("text", "statement", "question", "unstated"), [
    ("The total is 81.", "12 | 21 | 30", "", "81"), ("The total is 93.", "sum: 93", "", ""),
    ("In all 17,630 EUR.", "17.630,00", "", ""), ("Some 1.2 million.", "n: 1,200,000", "", ""),
    ("It is 9.82%.", "share: 0.0982367", "", ""), ("It weighs 805.1 g.", "805.0947", "", ""),
    ("It weighs 805.2 g.", "805.0947", "", "805.2"), ("There are 23.", "twenty-three towns", "", ""),
    ("共有 23 个。", "二十三个", "", ""), ("On 10.03.2015.", "date: 2015-03-10", "", ""),
    ("There are 3 of them.", "a; b; c", "", ""), ("Until 2020 there were two.", "a; b", "How many until 2020?", "")])
def test_a_claim_with_a_number_that_nothing_states_is_inferred(documents, text, statement, question, unstated):
    item = row(("ada", "She was born in Ulm", ""), statement=f"Ulm total weighs towns {statement}")
    draft = DraftAnswer(answerable=True, claims=[claim(f"Ulm: {text}", 1)])
    said = cite(draft, [item], documents, "reject", question=question)
    assert said.grade == ("inferred" if unstated else "stated")
    assert not unstated or unstated in said.answer.partition("(Inferred")[2]
    assert cite(draft, [item], documents, "strict", question=question).abstained == bool(unstated)


def test_an_answer_shows_the_query_its_number_of_records_and_what_was_left_out(documents):
    basis = Basis(query="SELECT avg(mass) FROM birds", records=33, left_out=(LeftOut(column="mass", empty=2),))
    item = row(("ada", "She was born in Ulm", ""), statement="mass: 40").model_copy(update={"basis": basis})
    english = answered(documents, claim("The mass is 40.", 1), claim("Mass 40.", 1), items=[item]).answer
    assert english.splitlines()[2:] == ["(Computed from 31 of 33 records; 2 have no mass: SELECT avg(mass) FROM birds)"]
    assert "33" in answered(documents, claim("质量为 40。", 1), items=[item]).answer.splitlines()[-1]


@pytest.mark.parametrize(("short", "shown"), [
    ("Ulm", "Ulm"), ("Ada Byron; Ulm", "Ada Byron; Ulm"), ("Larry Ellison", ""), ("Ulm, Bavaria", ""),
    ("yes", "yes"), ("No", "No"), ("2", "2"), ("three", "three"), ("1801", ""), ("", ""),
    ("3 of Ulm", "3 of Ulm"), ("the", "the"), ("没有", "没有"), ("?", "")])
def test_a_short_answer_that_no_surviving_claim_supports_is_not_shown(documents, short, shown):
    said = answered(documents, claim("Ada Byron was born in Ulm.", (1, "born in Ulm")),
                    claim("Larry Ellison of Bavaria was born in 1801."),
                    items=[passage("ada", 31, 60)], short=short)
    assert said.short == shown


@pytest.mark.parametrize(("text", "note"), [
    ("She was born in Ulm.", " (superseded by Lives of 2023)"),
    ("A superseded page says that she was born in Ulm.", "")])
def test_a_claim_that_rests_on_superseded_documents_alone_says_so(documents, text, note):
    old = passage("ada", 0, 70).model_copy(update={"status": "superseded by Lives of 2023"})
    said = answered(documents, claim(text, (1, "She was born in Ulm")), items=[old])
    assert said.answer == f"{text}{note} [1]"
    assert said.citations[0].status == "superseded by Lives of 2023"
