"""Chunks, sections, sentences and token estimates: exact offsets, bounds, nothing lost, linear."""

import time
from itertools import pairwise

import pytest
from banyan.ingest.chunking import chunk_document
from banyan.schemas.documents import Chunk, Document
from banyan.text.scripts import estimate_tokens
from banyan.text.section_lines import headings
from banyan.text.sentences import split_sentences
from hypothesis import given
from hypothesis import strategies as st

WORDS = st.sampled_from([
    "Banyan", "grows.", "Dr. Roots", "the U.S.", "榕树很大。", "他说：“好。”", "यह है।", "\n", "\n\n", "\n# Head\n",
    "\n## Sub ##\n", "\n```\n", "3.14", "x" * 130, "树" * 50, "   ", "! ", "?\" ", "- item\n", "#tag", "\u0301"])
PIECES = st.lists(WORDS, max_size=60)
TEXTS = st.one_of(st.text(max_size=300), PIECES.map(" ".join), PIECES.map("".join))
SIZES = st.tuples(st.integers(1, 60), st.integers(0, 59)).filter(lambda sizes: sizes[1] < sizes[0])


def document(text: str) -> Document:
    return Document(id="d", title="Title", text=text, source="test")


def chunked(text: str, max_tokens: int = 40, overlap_tokens: int = 0) -> list[Chunk]:
    return chunk_document(document(text), max_tokens=max_tokens, overlap_tokens=overlap_tokens)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def uncovered(text: str, spans: list[tuple[int, int]]) -> str:
    left, at = [], 0
    for start, end in sorted(spans):
        left.append(text[at:max(at, start)])
        at = max(at, end)
    return "".join("".join([*left, text[at:]]).split())


@given(st.text(max_size=100), st.text(max_size=100))
def test_a_part_never_costs_more_than_the_whole_nor_the_whole_than_its_parts(left, right):
    whole = estimate_tokens(left + right)
    assert max(estimate_tokens(left), estimate_tokens(right)) <= whole
    assert whole <= estimate_tokens(left) + estimate_tokens(right)


@pytest.mark.parametrize("expected", [
    ["Dr. Smith paid $3.50 in Washington, D.C. in 1999.", "He left."],
    ["The U.S. Army grew.", "He lives in the U.S.", "The army left."],
    ["Acme Inc. Chairman Bob spoke.", "He sold Foo Corp.", "They paid, e.g. in gold, i.e. at once, approx. 5 tons."],
    ["See Fig. 3 and No. 5.", "Is it?", "No.", "It opened on Jan. 5."],
    ["\"Really?\" she asked.", "\"Yes.\"", "He said (in the U.S.).", "“Go.”", "(Then left.)", "What?!", "Oh..."],
    ["Visit www.example.com or a.b.txt now.", "eBay was founded in 1995.[12][3]", "It grew."],
    ["榕树是乔木。", "它很大！", "真的吗？", "他说：“你好。”", "然后走了；", "价格是3.5元！？", "完"],
    ["他说\"你好。\"", "然后说\"再见。\"", "完"],
    ["彼は言った。", "「行こう。」", "３．５です．", "終わり"], ["यह एक पेड़ है।", "यह बड़ा है॥", "और?"],
    ["В 1999 г. Москва выросла.", "А. С. Пушкин жил там.", "Конец."],
    ["M. Dupont est arrivé.", "Il a dit « Bonjour. »", "Puis il partit."],
    ["1. Introduction", "A line of a text that is wrapped at some column\ngoes on.", "New.", "- item one",
     "- item two"]])
def test_sentences(expected):
    cjk = any("\u3000" <= c <= "\u9fff" for c in expected[0])
    lines = {"1. Introduction", "New.", "- item one", "- item two", "# Head", "Body without a stop", "| a | b |",
             "| 1 | 2 |", "短行"}
    text = "".join(sentence + ("\n" if sentence in lines else "" if cjk else " ") for sentence in expected)
    assert sentences(text) == expected


@given(TEXTS, SIZES)
def test_invariants(text, sizes):
    max_tokens, overlap_tokens = sizes
    chunks = chunked(text, max_tokens, overlap_tokens)
    assert chunks == chunked(text, max_tokens, overlap_tokens)
    spans = [(chunk.start, chunk.end) for chunk in chunks]
    assert all(text[chunk.start : chunk.end] == chunk.text == chunk.text.strip() != "" for chunk in chunks)
    assert all(estimate_tokens(chunk.text) <= max_tokens for chunk in chunks)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    lines = [(heading.start, heading.end) for heading in headings(text)]
    assert uncovered(text, spans + lines) == ""
    paths = " ".join(chunk.heading + chunk.text for chunk in chunks)
    assert all(heading.title in paths for heading in headings(text))
    for before, after in pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end
        if after.start < before.end:
            assert before.heading == after.heading
            assert estimate_tokens(text[after.start : before.end]) <= overlap_tokens


def test_document_that_fits_is_one_chunk_with_its_headings():
    [chunk] = chunked("\n# A\nfirst\n# B\nsecond\n")
    assert (chunk.text, chunk.heading, chunk.start) == ("# A\nfirst\n# B\nsecond", "", 1)
    assert chunk.title == "Title"
    assert chunked(" \n ") == []


def test_long_document_is_cut_by_headings_then_paragraphs():
    sentence = "Roots of the banyan tree grow down. "  # 8 tokens
    text = f"# A\n{sentence * 4}\n\n{sentence * 3}\n# B\n{sentence}"
    chunks = chunked(text)
    assert [chunk.heading for chunk in chunks] == ["A", "A", "B"]
    assert [chunk.text.count("Roots") for chunk in chunks] == [4, 3, 1]


def test_a_heading_without_text_belongs_to_the_text_beside_it():
    text = ("# Book\n## Preface\n# Towns\nUlm is a town of bakers.\n## Agenda\n## Votes\n"
            "# End\nIt ends with a vote of all bakers of the town.\n## AOB")
    chunks = chunked(text, max_tokens=28)
    assert [(chunk.heading, chunk.text) for chunk in chunks] == [
        ("Towns", "## Preface\n# Towns\nUlm is a town of bakers.\n## Agenda\n## Votes"),
        ("End", "It ends with a vote of all bakers of the town.\n## AOB")]
    assert all(text[chunk.start:chunk.end] == chunk.text for chunk in chunks)
    [alone] = chunked("# Housekeeping\n\n# Any other business of the day\n", max_tokens=60)
    assert alone.text == "# Housekeeping\n\n# Any other business of the day", "it is all that the document says"
    listed = "\n".join(f"# Item {number} of the agenda" for number in range(20))
    assert [chunk.heading for chunk in chunked(listed)] == [""] * len(chunked(listed))


LIST = ["Elected in Ulm in 2019:", *(f"- {name} of the party of the {name}s" for name in ("Ada", "Bo", "Cy", "Dan"))]


def test_a_chunk_within_a_list_has_its_opening_which_belongs_to_its_id():
    def below(heading: str, *lines: str) -> list[Chunk]:
        found = chunked("\n".join(["# Towns", "Ulm is a town.", f"# {heading}", *lines]), max_tokens=32)
        return [chunk for chunk in found if chunk.heading == heading]

    first, *others = below("Votes", *LIST)
    assert (first.opening, {chunk.opening for chunk in others}) == ("", {LIST[0]})
    assert others[0].titled_text().startswith(f"Title\nVotes\n{LIST[0]}\n- ")
    again = chunked("\n".join(["# Cities", "Oslo is a city.", "# Votes", *LIST]), max_tokens=32)
    assert [chunk.id for chunk in again[-len(others):]] == [chunk.id for chunk in others], "nothing else does"
    _, *changed = below("Votes", LIST[0].replace("2019", "2023"), *LIST[1:])
    assert [chunk.text for chunk in changed] == [chunk.text for chunk in others]
    assert not {chunk.id for chunk in changed} & {chunk.id for chunk in others}
    prose = "Elected in Ulm: nobody at all. " + " ".join(f"It waited for {n} years, as we know." for n in range(8))
    assert [chunk.id for chunk in below("Prose", prose)[1:]] == [
        chunk.id for chunk in below("Prose", prose.replace("Elected", "Chosen", 1))[1:]], "prose has no opening"


def test_sentence_that_is_too_long_is_cut_at_spaces_else_anywhere():
    words = chunked("word " * 100, max_tokens=30)
    assert [len(chunk.text.split()) for chunk in words] == [30, 30, 30, 10]
    long_words = chunked("extraordinary " * 40, max_tokens=31)
    assert {word for chunk in long_words for word in chunk.text.split()} == {"extraordinary"}
    assert [len(chunk.text) for chunk in chunked("x" * 400, max_tokens=30)] == [180, 180, 40]


def test_ids_outside_an_edited_section_stay():
    parts = [f"# Part {n}\n" + f"Fact {n} of the tree stands here. " * 12 for n in range(6)]
    before = chunked("\n".join(parts))
    parts[2] = parts[2].replace("tree", "forest")
    after = chunked("\n".join(parts))
    assert {c.id for c in before if c.heading != "Part 2"} == {c.id for c in after if c.heading != "Part 2"}
    assert {c.id for c in before if c.heading == "Part 2"}.isdisjoint(c.id for c in after)


@pytest.mark.parametrize("unit", [
    "x", "word ", "树", "榕树很大。", ".", ". ", "e.g. ", "\n", " ", "a\n", "#", "# a\n", "`", "Dr. A went. ", '。"',
    "a" + " " * 500])
def test_time_and_chunks_grow_with_the_text(unit):
    """Eight times the text: about eight times the work; were it quadratic, sixty-four times."""
    def measure(size: int) -> tuple[float, int]:
        text = unit * (size // len(unit))
        began = time.process_time()
        return len(chunked(text, 400, 60)), time.process_time() - began

    small_count, small = min(measure(8_000) for _ in range(2))
    large_count, large = min(measure(64_000) for _ in range(2))
    assert large < 25 * small + 0.1
    assert large_count <= 9 * small_count + 1
