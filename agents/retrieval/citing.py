"""Turning a draft into an answer whose citations are all verified in their sources."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from ...graph_store.bounding.grounding import SourceText
from ...graph_store.ledger.document_rows import SourceDocuments
from ...graph_store.store_errors import UnknownDocumentError
from ...schemas.documents import Citation, Span
from ...schemas.naming import normalise
from ...schemas.retrieval import Answer, AnswerRow, Claim, DraftAnswer, Grade, Mode, Passage, Place, Quote, QuotedDraft
from ...text.cleaning import without_markup
from ...text.content_words import content_words
from ...text.dates import MEANT
from ...text.quantities import figures_of, find_numbers, parse_number
from ...text.relative_dates import relative_dates
from ...text.scripts import phrase_language, script_of
from ...text.table_rows import SET_APART
from ...tools.table_query import basis_text
from .cited_message import phrases_for, plain_text, source_text

NOT_FOUND = "I could not find the answer."
OWN_KNOWLEDGE = "(Not from the documents.)"
_MAX_NAMED_PLACES, _MAX_UNNAMED_PLACES = 12, 3
"""How many places of one fact a claim cites: those of the members that it names, or else the first ones."""
_INFERRED_SHARE = 0.5  # of `abstain_below`: models gave .3 to .45 to inferred answers, of which most were right
_METADATA_LENGTH = 1000  # characters at the beginning of a document in which its metadata is looked for
_HEADING = re.compile(r"^#{1,6}[ \t]+([^\n]+)", re.MULTILINE)
_PUNCTUATION = re.compile(r"[\W_]+")
_SUPERSEDED = re.compile(r"^superseded|trusted less")  # in the status of a document
_SAYS_SUPERSEDED = re.compile(r"supersed|replac|trusted less|取代|代替|废止|失效")  # in a claim
_THOUSANDS = re.compile(r"(?<=\d)[,.\u00a0\u202f'’ ](?=\d{3}(?!\d))")  # the mark between them
_ROOT_LENGTH = 6  # letters at the beginning of a word by which two forms of it are compared
_MAX_BARE_NUMBER = 20  # up to this, numbers count: "three" of a list; larger ones are figures that a source states
_BARE_WORDS = frozenset({"yes", "no", "none", "both", "neither", "true", "false", "one", "two", "three", "four", "five",
                         "six", "seven", "eight", "nine", "ten", "是", "是的", "不是", "不", "没有", "否", "对"})
"""Words that answer but occur in no source: a claim of only these and small numbers cannot be checked by words."""
_FIGURES = re.compile(r"\d+(?:[.,]\d+|[\u00a0\u202f'’ ]\d{3}(?!\d))*")  # a number as written, such as 1 200,50
_FORMS = [(re.compile(rf"\d+(?:{re.escape(group)}\d{{3}})*(?:{re.escape(mark)}\d+)?"), group, mark)
          for group, mark in ((",", "."), (".", ","))]
"""The forms of figures, each with its mark between thousands and its mark before the decimals."""
_SPACES = re.compile(r"[\u00a0\u202f'’ ]")  # between thousands, in either form
_MOST_COUNTED = 20  # up to this a claim may count what it lists, or name a day, without its being written anywhere
_SCALES = (1, 100, 1000, 10_000, 1_000_000, 100_000_000, 1_000_000_000)
"""A share may be written as a percentage, and a large number in thousands, millions, 万, 亿 or billions."""


def cite(draft: DraftAnswer, items: Sequence[Passage], documents: SourceDocuments, mode: Mode,
         abstain_below: float = 0.0, question: str = "") -> Answer:
    """Check a draft's quotes against their sources, and return the answer: a claim a line, with `[n]` behind it.

    Quotes name `items` of the evidence by number, from 1. Mode "reject" leaves out a claim without a sound quote, and
    abstains if none is left; "strict" also leaves out inferred claims; "open" shows claims without a sound quote,
    marked. A draft below `abstain_below` abstains (`is_shown`). A claim may repeat numbers of the `question`. Further
    lines say how many claims were left out, and each computed result's query. A quote is `document.text[start:end]`.
    """
    citations: list[Citation] = []
    is_quoted = isinstance(draft, QuotedDraft)
    claims = draft.claims if is_shown(draft, mode, abstain_below) else []
    if not is_quoted:
        claims = [with_unstated_number(claim, items, question) for claim in claims]
    shown_claims, lines = list[Claim](), list[str]()
    for claim in claims:
        if line := cite_claim(claim, items, documents, mode, citations, quoted=is_quoted):
            shown_claims.append(claim)
            lines.append(line)
    confidence = draft.confidence if draft.answerable else 0.0
    if not lines:
        return Answer(answer=NOT_FOUND, abstained=True, confidence=confidence)
    if is_quoted:  # several rows may quote the same sentence
        lines = [*dict.fromkeys(lines)]
    if left_out := len(claims) - len(shown_claims):
        lines.append(left_out_note(left_out, lines[0]))
    # The grade is the lowest of the claims; that of a model's own knowledge, "none", is the lowest of all.
    grade: Grade = "inferred" if any(map(is_inferred, shown_claims)) else "stated"
    if any(line.endswith(OWN_KNOWLEDGE) for line in lines):
        grade = "none"
    # Each quoted item once, in the order of the claims.
    quoted_numbers = dict.fromkeys(quote.item for claim in shown_claims for quote, _ in _quoted_items(claim, items))
    quoted_items = [items[number - 1] for number in quoted_numbers]
    # A model writes in the language that it was asked to; quotes are in that of their documents.
    phrased_like = question if is_quoted and question else lines[0]
    for basis in dict.fromkeys(item.basis for item in quoted_items if item.basis):
        computed = basis_text(basis, phrase_language(phrased_like))
        lines.append(phrases_for(phrased_like)["computed"].format(computed, source_text(basis.query)))
    rows = [_answer_row(item) for item in quoted_items if item.kind in {"fact", "row"}]  # passages are no rows
    return Answer(answer="\n".join(lines), abstained=False, confidence=confidence, citations=tuple(citations),
                  short=_short_answer(draft, shown_claims, items, mode), grade=grade, rows=tuple(rows))


def _answer_row(item: Passage) -> AnswerRow:
    documents = dict.fromkeys(place.document for place in item.places)
    return AnswerRow(text=": ".join(filter(None, [item.heading, item.statement])), cells=item.cells,
                     documents=tuple(documents) or (item.document,))


def _short_answer(draft: DraftAnswer, shown_claims: Sequence[Claim], items: Sequence[Passage], mode: Mode) -> str:
    """Return the draft's short answer as it is shown, or "" if it does not follow from the claims that are shown."""
    if isinstance(draft, QuotedDraft):  # the rules take it from the quotes, so it follows from them
        return _as_shown(draft.short)
    # Strict mode leaves inferred claims out, and the short answer may rest on one of them.
    if mode == "strict" and any(map(is_inferred, draft.claims)):
        return ""
    support = list[str]()
    for claim in shown_claims:
        support.append(claim.text)
        # A claim rests on the words that it quotes of a passage, and on the statement of a fact.
        support += [item.statement or quote.words for quote, item in _quoted_items(claim, items)]
    # What supports it has to have all its content words and numbers, besides "yes" and counts.
    parts = _words_and_numbers(draft.short)
    allowed_stems = set().union(*map(_content_stems, [*support, *filter(_is_bare, parts)]))
    return plain_text(draft.short) if parts and _content_stems(draft.short) <= allowed_stems else ""


def is_shown(draft: DraftAnswer, mode: Mode, abstain_below: float) -> bool:
    """Return True if the draft is confident enough to show those of its claims that have sound quotes.

    An inferred answer needs less confidence, as its reader sees the missing link; in mode "open" any is enough.
    """
    has_inferred = any(map(is_inferred, draft.claims))
    required = abstain_below * _INFERRED_SHARE if has_inferred else abstain_below
    return draft.answerable and (mode == "open" or draft.confidence >= required)


def is_inferred(claim: Claim) -> bool:
    """Return True if the model names a link of the claim that its sources do not state."""
    return bool(claim.unstated.strip())


def cite_claim(claim: Claim, items: Sequence[Passage], documents: SourceDocuments, mode: Mode,
               citations: list[Citation], *, quoted: bool = False) -> str:
    """Check a claim's quotes, and return it as a line of the answer with `[n]` behind it, or "" if it is left out.

    New citations are appended to `citations`. If `quoted`, the claim's words are a document's. See `cite` for the rest.
    """
    if mode == "strict" and is_inferred(claim):
        return ""
    numbers = _cite_places(claim, items, documents, citations)
    text = plain_text(claim.text)
    if not numbers:
        return f"{text} {OWN_KNOWLEDGE}" if mode == "open" else ""
    notes = [phrases_for(text)["inferred"].format(plain_text(claim.unstated))] if is_inferred(claim) else []
    statuses = [item.status for _, item in _quoted_items(claim, items)]
    is_all_superseded = bool(statuses) and all(map(_SUPERSEDED.search, statuses))
    if quoted:  # such a claim quotes one item
        text = _show_source(claim.text, [citations[n - 1] for n in numbers], items[claim.quotes[0].item - 1])
    elif is_all_superseded and not _SAYS_SUPERSEDED.search(claim.text):  # a reader of the claim would not know
        notes.append(f"({'; '.join(dict.fromkeys(statuses))})")
    return " ".join([text, *notes, "".join(f"[{n}]" for n in numbers)])


def left_out_note(count: int, text: str) -> str:
    """Return the line that says, in the language of a text, how many claims are left out."""
    return phrases_for(text)["left_out"].format(count)


def _show_source(text: str, citations: Sequence[Citation], item: Passage) -> str:
    """Return a document's words, in quotes if they are verbatim, with title and heading of their `item`."""
    shown = _as_shown(text)
    is_verbatim = any(shown in _as_shown(citation.quote) for citation in citations)
    # The day that a relative date means is put behind it: "yesterday [2024-03-04]".
    for dated_words in dict.fromkeys(chain.from_iterable(citation.meant for citation in citations)):
        if dated_words not in shown:
            shown = shown.replace(MEANT.sub("", dated_words), dated_words)
    quoted = f"“{shown}”" if is_verbatim else shown
    if item.kind != "passage":  # what a table's row states needs no heading
        return quoted
    # The nearest heading is the last one in the passage before the quote, or else that of the passage.
    start_in_passage = max(0, citations[0].start - item.start)
    headings = _HEADING.findall(item.text, 0, start_in_passage) or item.heading.split(" > ")
    names = map(_as_shown, (item.title or item.document, headings[-1].strip(" #")))
    location = " › ".join(dict.fromkeys(filter(None, map(str.strip, names))))
    location = f"{location} ({item.status})" if item.status else location
    return f"{quoted} — {location}" if location else quoted


def _as_shown(text: str) -> str:
    """Return a document's words as an answer shows them: on a line, without markup."""
    return source_text(without_markup(text))


def _cite_places(claim: Claim, items: Sequence[Passage], documents: SourceDocuments,
                 citations: list[Citation]) -> list[int]:
    """Return the citation numbers of a claim's supporting quotes, and add new citations to `citations`."""
    number_of = {(cited.document, cited.start, cited.end): cited.id for cited in citations}
    statuses = {item.document: item.status for item in items if item.status}
    numbers = dict[int, None]()  # a set in order
    for place in _supporting_places(claim, items, documents):
        document, start, end = place.document, place.start, place.start + len(place.text)
        number = number_of.setdefault((document, start, end), len(citations) + 1)
        numbers[number] = None
        if number > len(citations):  # these words were not cited before
            citations.append(Citation(id=number, document=document, start=start, end=end, quote=place.text,
                                      metadata=documents.metadata(document), page=documents.page(document, start),
                                      status=statuses.get(document, ""),
                                      meant=documents.meant_dates(document, start, end)))
    return list(numbers)


def _supporting_places(claim: Claim, items: Sequence[Passage], documents: SourceDocuments) -> Iterator[Place]:
    """Yield the place and own words of each quote that is found in its source and can support the claim."""
    for quote, item in _quoted_items(claim, items):
        if item.kind == "passage":
            located = _locate_quote(quote, item, documents, claim.text)
            if located and is_support(located.text, claim.text, f"{item.title} {item.heading}"):
                yield located
            continue
        # A fact on many members has a place for each: cited are those that the claim names, or else the first ones.
        claim_key = _compact(claim.text)
        named = [place for place in item.places if place.member and _compact(place.member) in claim_key]
        own_place = Place(document=item.document, start=item.start, text=item.text)
        for place in named[:_MAX_NAMED_PLACES] or item.places[:_MAX_UNNAMED_PLACES] or [own_place]:
            # The document may have been replaced or deleted since it was read: then there are no such words.
            if _document_text(documents, place.document, place.start, len(place.text)) == place.text and is_support(
                    place.text, claim.text, f"{item.heading} {item.title} {item.statement}"):
                yield place


def _compact(text: str) -> str:
    """Return a text's normalised letters and digits alone, so that punctuation and spaces do not tell names apart."""
    return _PUNCTUATION.sub("", normalise(text))


def _locate_quote(quote: Quote, passage: Passage, documents: SourceDocuments, claim: str) -> Place | None:
    """Find a quote in its passage, the metadata, title or headings above it; None if the document has no such words."""
    # The prompt shows "Declined for Inclusion [goes on]".
    said = quote.words.replace(f" [{passage.part}]", "") if passage.part else quote.words
    words = said
    if not words.strip() and SET_APART.match(passage.text):
        words = passage.text  # a claim that counts or lists may rest on a whole list or table
    elif not words.strip():
        # Without a quote, a claim may rest on the longest field of metadata whose value it repeats.
        claim_words = _content_stems(claim)
        for field in passage.about.split("; "):
            value_words = _content_stems(field.partition(": ")[2])
            if value_words and value_words <= claim_words and len(field) > len(words):
                words = field
    plain_words = MEANT.sub("", words)  # the prompt shows "yesterday [2024-03-04]"
    span, offset = _find_words(words, passage.text) or _find_words(plain_words, passage.text), passage.start
    if span is None and passage.about:
        span, offset = _find_words(words, _document_text(documents, passage.document, 0, _METADATA_LENGTH)), 0
    if span is None:  # the title and headings are above the passage, the nearest last
        text_until_end = _document_text(documents, passage.document, 0, passage.start + len(passage.text))
        for heading in filter(None, (passage.title, *passage.heading.split(" > "))):
            in_heading, start = _find_words(said, heading), text_until_end.rfind(heading)
            if in_heading is not None and start >= 0:
                return Place(document=passage.document, start=start + in_heading.start, text=in_heading.quote)
        return None
    # The document may have been replaced or deleted since the passage was read: then there is no such quote.
    own_words = _document_text(documents, passage.document, offset + span.start, span.end - span.start)
    if own_words != span.quote:
        return None
    return Place(document=passage.document, start=offset + span.start, text=own_words)


def _find_words(words: str, text: str) -> Span | None:
    """Return where words are in a text, verbatim or else in another case or spacing, which models change; else None."""
    if not words.strip():  # which would be found anywhere
        return None
    source = SourceText(text)
    return source.verbatim(words) or source.find(words)


def _document_text(documents: SourceDocuments, document: str, start: int, length: int) -> str:
    """Return `length` characters of a document from `start`; "" if the document was deleted."""
    try:
        return documents.text(document)[start:start + length]
    except UnknownDocumentError:
        return ""


def is_support(quote: str, claim: str, context: str = "") -> bool:
    """Return True if a quote or its context shares a content word with the claim, such as a name or a value.

    A claim in another script, and one that only affirms or counts ("yes", "three"), cannot: for these, any quote with a
    content word is enough. `context` is the fact that the words state, or the title and headings above them.
    """
    quote_words, claim_words = _content_stems(quote), _content_stems(claim)
    if not quote_words:
        return False
    if not (quote_words | _content_stems(context)).isdisjoint(claim_words):
        return True
    is_other_script = script_of(f"{context} {quote}") != script_of(claim)
    content_parts = [part for part in _words_and_numbers(claim) if _content_stems(part)]
    only_affirms_or_counts = all(map(_is_bare, content_parts))
    return is_other_script or only_affirms_or_counts


def _words_and_numbers(text: str) -> list[str]:
    """Return the words and numbers of a normalised text; thousands separators are removed from numbers."""
    return [part for part in _PUNCTUATION.split(_THOUSANDS.sub("", normalise(text))) if part]


def _is_bare(text: str) -> bool:
    """Return True if all words of a text affirm ("yes"), deny ("none") or count up to twenty."""
    # Only the first digits are read: a text may have a number of thousands of them, which `int` refuses.
    return all(part in _BARE_WORDS or (part.isdecimal() and int(part[:_ROOT_LENGTH]) <= _MAX_BARE_NUMBER)
               for part in _words_and_numbers(text))


def _content_stems(text: str) -> set[str]:
    """Return a text's content words, each cut to its first letters, which most forms of a word share."""
    words = " ".join(content_words(_THOUSANDS.sub("", text)))
    return {part[:_ROOT_LENGTH] for part in _PUNCTUATION.split(words) if part}


def with_unstated_number(claim: Claim, items: Sequence[Passage], question: str) -> Claim:
    """Return a claim as an inferred one if it has a number that neither the items that it quotes nor the question has.

    A claim without quotes, or inferred already, stays as it is. Separators, rounding and scales may differ: 17,630 is
    17.630, 17630.04 and 17.63 thousand.
    """
    figures = [figure for figure in _FIGURES.findall(claim.text)
               if not (figure.isdecimal() and int(figure) <= _MOST_COUNTED)]
    if not figures or is_inferred(claim) or not claim.quotes:
        return claim
    texts = [question]
    for quote, item in _quoted_items(claim, items):  # all that a model sees of it, and the query of a computed result
        texts += [quote.words, item.statement, item.text, item.title, item.heading, item.about, item.document,
                  item.basis.query if item.basis else "", *(place.text for place in item.places),
                  *(date.meant for date in relative_dates(item.text, item.said_on))]
    stated = {value for text in texts for figure in _FIGURES.findall(text) for value, _ in _read_figure(figure)}
    # Numbers that are written in words or with a scale: "twenty-three", "1.2 million", "三十".
    normal_forms = [parse_number(text[start:end]) for text in texts for start, end in find_numbers(text, counts=True)]
    stated.update(float(value) for normal in filter(None, normal_forms) for value in figures_of(normal)[1])
    unstated = [figure for figure in figures if not _is_stated(figure, stated)]
    if not unstated:
        return claim
    return claim.model_copy(update={"unstated": phrases_for(claim.text)["number"].format(unstated[0])})


def _quoted_items(claim: Claim, items: Sequence[Passage]) -> Iterator[tuple[Quote, Passage]]:
    """Return a claim's quotes, each with its item; one whose number no item has, a model's error, is left out."""
    return ((quote, items[quote.item - 1]) for quote in claim.quotes if 1 <= quote.item <= len(items))


def _read_figure(figure: str) -> Iterator[tuple[float, int]]:
    """Yield the values that figures may mean, each with its number of decimals: "1.500" is 1500, or 1.5 with three."""
    plain, readings = _SPACES.sub("", figure), set[tuple[float, int]]()
    for form, group, mark in _FORMS:
        if form.fullmatch(plain):
            number = plain.replace(group, "").replace(mark, ".")
            readings.add((float(number), len(number.partition(".")[2])))
    # Where neither form fits, as with a date, each part is a number.
    yield from sorted(readings) or ((float(part), 0) for part in re.findall(r"\d+", plain))


def _is_stated(figure: str, stated: Collection[float]) -> bool:
    """Return True if one reading of figures is a stated number, on any scale and rounded to the decimals given."""
    for value, decimals in _read_figure(figure):
        rounding = 0.5 * 10.0 ** -decimals
        for other in stated:
            is_on_scale = any(abs(value * scale - other) <= rounding * scale for scale in _SCALES)
            is_percentage = abs(value - other * 100) <= rounding  # of a share that is stated as 0.35
            if is_on_scale or is_percentage:
                return True
    return False
