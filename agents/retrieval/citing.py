"""Turning a draft into an answer whose citations are all verified in their sources."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from ...graph_store.bounding.grounding import SourceText
from ...graph_store.ledger.document_rows import Documents
from ...graph_store.store_errors import UnknownDocumentError
from ...schemas.documents import Citation, Span
from ...schemas.naming import normalise
from ...schemas.retrieval import Answer, AnswerRow, Claim, DraftAnswer, Grade, Mode, Passage, Place, Quote, QuotedDraft
from ...text.content_words import Language, content_words, language_of
from ...text.markup import without_markup
from ...text.scripts import script_of
from ...text.table_rows import SET_APART
from .shown_text import plain_text, source_text

NOT_FOUND = "I could not find the answer."
OWN_KNOWLEDGE = "(Not from the documents.)"

_NOTES: dict[Language, dict[str, str]] = {
    "en": {"inferred": "(Inferred; not stated: {})", "left_out": "(Claims left out, as no document states them: {}.)"},
    "zh": {"inferred": "（推断；文档未说明：{}）", "left_out": "（有 {} 条结论文档没有说明，已略去。）"}}
_MOST_CITED, _FIRST_CITED = 12, 3
"""Places of one line that a claim cites: of the members that it names, or of the first ones."""
_INFERRED_SHARE = 0.5
"""Models gave .3 to .45 to inferred answers, of which four in five were right (benchmarks/README.md)."""
_METADATA = 1000
"""Characters at the beginning of a document that hold what it says of itself."""
_HEADING = re.compile(r"^#{1,6}[ \t]+([^\n]+)", re.MULTILINE)
_NO_LETTER = re.compile(r"[\W_]+")
_THOUSANDS = re.compile(r"(?<=\d)[,.\u00a0\u202f'’ ](?=\d{3}(?!\d))")
_ROOT, _MOST_COUNTED = 6, 20
_BARE = frozenset({"yes", "no", "none", "both", "neither", "true", "false", "one", "two", "three", "four", "five",
                   "six", "seven", "eight", "nine", "ten", "是", "是的", "不是", "不", "没有", "否", "对"})
"""Words that answer but occur in no source: a claim of only these and small numbers cannot be checked by words."""


def cite(draft: DraftAnswer, items: Sequence[Passage], documents: Documents, mode: Mode,
         abstain_below: float = 0.0) -> Answer:
    """Check a draft's quotes and number them.

    Args:
        draft: claims with quotes of numbered items.
        items: those items, the first one number 1.
        documents: the sources.
        mode: "reject": a claim without a sound quote is left out, and without any claim the answer
            abstains; "strict": so is an inferred claim; "open": such a claim stays, marked as not from the documents.
        abstain_below: except in mode "open" a draft of less confidence abstains; see `is_shown`.

    Returns:
        The answer with `[n]` behind each claim, a claim a line; every citation's quote is
        `document.text[start:end]`. What is shown of the claims' words is said in `shown_text`. An inferred claim
        says which link is not stated. A last line says how many claims were left out.
    """
    citations: list[Citation] = []
    quoted = isinstance(draft, QuotedDraft)
    claims = draft.claims if is_shown(draft, mode, abstain_below) else []
    checked = [(claim, line) for claim in claims
               if (line := cite_claim(claim, items, documents, mode, citations, quoted=quoted))]
    confidence = draft.confidence if draft.answerable else 0.0
    if not checked:
        return Answer(answer=NOT_FOUND, abstained=True, confidence=confidence)
    lines = [line for _, line in checked]
    if quoted:  # several rows may quote one sentence
        lines = [*dict.fromkeys(lines)]
    if left_out := len(claims) - len(checked):
        lines.append(_note("left_out", left_out, lines[0]))
    survivors = [claim for claim, _ in checked]
    return Answer(answer="\n".join(lines), abstained=False, confidence=confidence, citations=tuple(citations),
                  short=_short_answer(draft, survivors, items, mode), grade=_grade(survivors, lines),
                  rows=_rows(survivors, items))


def _short_answer(draft: DraftAnswer, survivors: Sequence[Claim], items: Sequence[Passage], mode: Mode) -> str:
    """Return the draft's short answer as it is shown, or "" if it does not follow from the claims that are left."""
    if isinstance(draft, QuotedDraft):
        return _as_shown(draft.short)
    if mode == "strict" and any(map(is_inferred, draft.claims)):
        return ""  # the chain to the short answer lost the inferred link, whatever else is left
    texts = [text for claim in survivors for text in (claim.text, *_cited_words(claim, items))]
    return plain_text(draft.short) if follows(draft.short, texts) else ""


def _rows(claims: Iterable[Claim], items: Sequence[Passage]) -> tuple[AnswerRow, ...]:
    """Return the lines of the graph that claims quote, in order and once each."""
    numbers = dict.fromkeys(quote.item for claim in claims for quote in claim.quotes if 1 <= quote.item <= len(items))
    quoted = [items[number - 1] for number in numbers if items[number - 1].kind in {"fact", "row"}]
    return tuple(AnswerRow(text=item.statement, cells=item.cells,
                           documents=tuple(dict.fromkeys(place.document for place in item.places)) or (item.document,))
                 for item in quoted)


def _grade(claims: Iterable[Claim], lines: Iterable[str]) -> Grade:
    """Return the grade of the least supported claim that is shown."""
    if any(line.endswith(OWN_KNOWLEDGE) for line in lines):
        return "none"
    return "inferred" if any(map(is_inferred, claims)) else "stated"


def is_shown(draft: DraftAnswer, mode: Mode, abstain_below: float) -> bool:
    """Return True if the draft's claims are shown, as far as their quotes are sound.

    An answer that names the link that is not stated needs `_INFERRED_SHARE` of the confidence: a reader can judge it.
    """
    least = abstain_below * (_INFERRED_SHARE if any(map(is_inferred, draft.claims)) else 1)
    return mode == "open" or (draft.answerable and draft.confidence >= least)


def is_inferred(claim: Claim) -> bool:
    """Return True if one link of a claim is not stated."""
    return bool(claim.unstated.strip())


def cite_claim(claim: Claim, items: Sequence[Passage], documents: Documents, mode: Mode,
               citations: list[Citation], *, quoted: bool = False) -> str:
    """Check a claim's quotes and return its line of the answer.

    Args:
        claim: the claim.
        items: what it quotes, the first one number 1.
        documents: the sources.
        mode: see `cite`.
        citations: those of the claims before it; new ones are appended.
        quoted: whether the claim's words are a document's instead of a model's (see `QuotedDraft`).

    Returns:
        The claim with `[n]` behind it, or "" if it is left out. Quotes say where they stand: the title, the heading.
    """
    if mode == "strict" and is_inferred(claim):
        return ""
    numbers = _cite(claim, items, documents, citations)
    text = (_show_source(claim.text, [citations[n - 1] for n in numbers], items[claim.quotes[0].item - 1])
            if quoted and numbers else plain_text(claim.text))
    if numbers:
        note = f" {_note('inferred', plain_text(claim.unstated), text)}" if is_inferred(claim) else ""
        return f"{text}{note} {''.join(f'[{n}]' for n in numbers)}"
    return f"{text} {OWN_KNOWLEDGE}" if mode == "open" else ""


def _note(about: Literal["inferred", "left_out"], what: object, text: str) -> str:
    """Return a note to the reader in the language of a text."""
    return _NOTES[language_of(text)][about].format(what)


def _show_source(text: str, cited: Sequence[Citation], item: Passage) -> str:
    """Return a document's words with where they stand, in quotation marks if one of its quotes has them as they are.

    The cells of a table's row are put in other words, so they get none.
    """
    shown = _as_shown(text)
    quoted = f"“{shown}”" if any(shown in _as_shown(one.quote) for one in cited) else shown
    place = _place(item, cited[0].start) if item.kind == "passage" else ""
    return f"{quoted} — {place}" if place else quoted


def _as_shown(text: str) -> str:
    return source_text(without_markup(text))


def _place(item: Passage, start: int) -> str:
    """Return the document's title and the nearest heading above words of a passage, as an answer shows them."""
    headings = _HEADING.findall(item.text, 0, max(0, start - item.start)) or item.heading.split(" > ")
    names = map(_as_shown, (item.title or item.document, headings[-1].strip(" #")))
    return " › ".join(dict.fromkeys(filter(None, map(str.strip, names))))


def _cite(claim: Claim, items: Sequence[Passage], documents: Documents, citations: list[Citation]) -> list[int]:
    """Return the citation numbers of a claim's supporting quotes, and add new citations to `citations`."""
    numbers: list[int] = []
    for document, start, words in _supporting_places(claim, items, documents):
        end = start + len(words)
        same = (c.id for c in citations if (c.document, c.start, c.end) == (document, start, end))
        number = next(same, len(citations) + 1)
        if number > len(citations):
            citations.append(Citation(id=number, document=document, start=start, end=end, quote=words,
                                      metadata=documents.metadata(document), page=documents.page(document, start)))
        numbers.append(number)
    return list(dict.fromkeys(numbers))


def _supporting_places(claim: Claim, items: Sequence[Passage], documents: Documents) -> Iterator[tuple[str, int, str]]:
    """Yield (document, start, words) for each quote that is found in its source and can support the claim."""
    for quote in claim.quotes:
        if not 1 <= quote.item <= len(items):
            continue
        item = items[quote.item - 1]
        if item.kind == "passage":
            found = locate_quote(quote, item, documents)
            if found and is_support(found[2], claim.text, _list_of(item, found[1])):
                yield found
            continue
        for place in _places_for(claim, item):
            # The document may have been replaced or deleted since it was read: then there are no such words.
            if _source(documents, place.document, place.start, len(place.text)) == place.text and is_support(
                    place.text, claim.text, f"{item.title} {item.statement}"):
                yield place.document, place.start, place.text


def _list_of(item: Passage, start: int) -> str:
    """Return the title and headings above words that are in a row or an item of a list; else nothing."""
    at = max(0, start - item.start)
    line = item.text[item.text.rfind("\n", 0, at) + 1:]
    return item.header if SET_APART.match(line) else ""


def _places_for(claim: Claim, item: Passage) -> list[Place]:
    """Return the places of a line that a claim speaks of: of the members that it names, else of the first ones."""
    if not item.places:
        return [Place(document=item.document, start=item.start, text=item.text)]
    words = content_key(claim.text)
    named = [place for place in item.places if place.member and content_key(place.member) in words]
    return named[:_MOST_CITED] or list(item.places[:_FIRST_CITED])


def content_key(text: str) -> str:
    """Return the form in which a name or value is looked for in a claim: letters and digits alone, folded."""
    return _NO_LETTER.sub("", normalise(text))


def _cited_words(claim: Claim, items: Sequence[Passage]) -> Iterator[str]:
    """Yield the words of the items that a claim quotes; of a passage only those that it copies."""
    for quote in claim.quotes:
        if 1 <= quote.item <= len(items):
            item = items[quote.item - 1]
            yield item.statement or quote.words


def locate_quote(quote: Quote, passage: Passage, documents: Documents) -> tuple[str, int, str] | None:
    """Find the words of a quote in its document.

    Args:
        quote: words of a passage: looked up verbatim first, then ignoring case and spaces, which models change.
        passage: the passage.
        documents: the sources.

    Returns:
        The document, the start of the words in it, and the document's own words; None if they are not there.
    """
    if not quote.words.strip():
        # A count or a list rests on all of a list or table; any other passage says nothing without its words.
        quote = Quote(item=quote.item, words=passage.text if SET_APART.match(passage.text) else "")
    span, offset = _span(quote.words, passage.text), passage.start
    if span is None and passage.about:
        # What is above a passage is metadata, which stands at the beginning of its document.
        span, offset = _span(quote.words, _source(documents, passage.document, 0, _METADATA)), 0
    if span is None:
        return None
    # The document may have been replaced or deleted since the passage was read: then there is no such quote.
    words = _source(documents, passage.document, offset + span.start, span.end - span.start)
    return (passage.document, offset + span.start, words) if words == span.quote else None


def _span(words: str, text: str) -> Span | None:
    source = SourceText(text)
    return source.verbatim(words) or source.find(words) if words.strip() else None


def _source(documents: Documents, document: str, start: int, length: int) -> str:
    """Return characters of a document; empty if it is gone."""
    try:
        return documents.get(document).text[start:start + length]
    except UnknownDocumentError:
        return ""


def is_support(quote: str, claim: str, context: str = "") -> bool:
    """Return True if a quote, where it stands, has a content word of the claim, such as a name or a value.

    A quote without any content word supports nothing. A claim in another script than its source shares no word with it,
    nor does a claim that only affirms or counts: there any content word is enough.

    Args:
        quote: the source's own words.
        claim: what they are to support.
        context: the line of the graph that the words state, or what is above a list: its items rarely repeat it.
    """
    quoted, claimed = _words(quote), _words(claim)
    if not quoted:
        return False
    shared = not (quoted | _words(context)).isdisjoint(claimed)
    return shared or script_of(f"{context} {quote}") != script_of(claim) or all(
        _is_bare(part) for part in _parts(claim) if _words(part))


def follows(short: str, support: Iterable[str]) -> bool:
    """Return True if a short answer has no content word or number that some texts do not have.

    Args:
        short: the short answer. One that only affirms or counts follows from anything: no text need have its words.
        support: the claims that support it, and the words that they quote.
    """
    parts = _parts(short)
    known = set().union(*map(_words, [*support, *filter(_is_bare, parts)]))
    return bool(parts) and _words(short) <= known


def _parts(text: str) -> list[str]:
    return [part for part in _NO_LETTER.split(_THOUSANDS.sub("", normalise(text))) if part]


def _is_bare(text: str) -> bool:
    """Return True if a text has no other words than those that affirm or count."""
    return all(part in _BARE or (part.isdecimal() and int(part[:_ROOT]) <= _MOST_COUNTED) for part in _parts(text))


def _words(text: str) -> set[str]:
    """Return the first letters of a text's content words, which most forms of a word share in most languages."""
    return {part[:_ROOT] for word in content_words(_THOUSANDS.sub("", text)) for part in _NO_LETTER.split(word) if part}
