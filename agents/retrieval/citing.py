"""Turning a draft into an answer whose citations are all verified in their sources."""

from collections.abc import Iterable, Sequence

from ...graph_store.bounding.grounding import SourceText
from ...graph_store.ledger.document_rows import Documents
from ...graph_store.store_errors import UnknownDocumentError
from ...schemas.documents import Citation
from ...schemas.retrieval import Answer, Claim, DraftAnswer, Mode, Passage, Quote, QuotedDraft
from ...text.sentences import split_sentences
from ...text.tokens import estimate_tokens, first_tokens
from .shown_text import plain_text, source_text
from .supporting import is_support

NOT_FOUND = "I could not find the answer."
OWN_KNOWLEDGE = "(Not from the documents.)"


def within_budget(passages: Iterable[Passage], tokens: int) -> list[Passage]:
    """Return the first passages whose estimated tokens fit a budget together.

    Args:
        passages: the evidence, best first.
        tokens: the budget, titles included.

    Returns:
        Passages up to the first that does not fit. A passage that exceeds the whole budget by itself is cut to the
        sentences that fit what is left, and ends the list. Its start stays, so quotes of it are found in the source.
    """
    kept: list[Passage] = []
    left = tokens
    for passage in passages:
        cost = (estimate_tokens(passage.statement) if passage.statement else
                estimate_tokens(passage.header) + estimate_tokens(passage.text))
        if cost > left:
            cut = _cut(passage, left, whole_words=not kept) if cost > tokens else None
            return [*kept, cut] if cut else kept
        left -= cost
        kept.append(passage)
    return kept


def _cut(passage: Passage, tokens: int, *, whole_words: bool) -> Passage | None:
    """Cut a passage to a budget: to whole sentences, or to words if none fits and `whole_words` is set, else None."""
    # A header that would leave nothing for the text is cut as well.
    title = passage.header[:first_tokens(passage.header, tokens // 2)]
    end = first_tokens(passage.text, tokens - estimate_tokens(title))
    sentences = [last for _, last in split_sentences(passage.text) if last <= end]
    if not sentences and not whole_words:
        return None
    return passage.model_copy(update={"title": title, "about": "",
                                      "text": passage.text[:sentences[-1] if sentences else end]})


def cite(draft: DraftAnswer, passages: Sequence[Passage], documents: Documents, mode: Mode,
         abstain_below: float = 0.0) -> Answer:
    """Check a draft's quotes and number them.

    Args:
        draft: claims with quotes of numbered passages.
        passages: those passages, the first one number 1.
        documents: the sources.
        mode: "reject": a claim without a sound quote is left out, and without any claim the answer
            abstains; "open": such a claim stays, marked as not from the documents.
        abstain_below: in mode "reject" a draft of less confidence abstains.

    Returns:
        The answer with `[n]` behind each claim, a claim a line; every citation's quote is
        `document.text[start:end]`. What is shown of the claims' words is said in `shown_text`.
    """
    citations: list[Citation] = []
    quoted = isinstance(draft, QuotedDraft)
    claims = draft.claims if is_shown(draft, mode, abstain_below) else ()
    lines = [line for claim in claims
             if (line := cite_claim(claim, passages, documents, mode, citations, quoted=quoted))]
    confidence = draft.confidence if draft.answerable else 0.0
    if not lines:
        return Answer(answer=NOT_FOUND, abstained=True, confidence=confidence)
    short = source_text(draft.short) if quoted else plain_text(draft.short)
    return Answer(answer="\n".join(lines), abstained=False, confidence=confidence, short=short,
                  citations=tuple(citations))


def is_shown(draft: DraftAnswer, mode: Mode, abstain_below: float) -> bool:
    """Return True if the draft's claims are shown, as far as their quotes are sound."""
    return mode == "open" or (draft.answerable and draft.confidence >= abstain_below)


def cite_claim(claim: Claim, passages: Sequence[Passage], documents: Documents, mode: Mode,
               citations: list[Citation], *, quoted: bool = False) -> str:
    """Check a claim's quotes and return its line of the answer.

    Args:
        claim: the claim.
        passages: what it quotes, the first one number 1.
        documents: the sources.
        mode: see `cite`.
        citations: those of the claims before it; new ones are appended.
        quoted: whether the claim's words are a document's instead of a model's (see `QuotedDraft`).

    Returns:
        The claim with `[n]` behind it, or "" if it is left out.
    """
    numbers = _cite(claim, passages, documents, citations)
    text = (_show_source(claim.text, [citations[n - 1].quote for n in numbers]) if quoted
            else plain_text(claim.text))
    if numbers:
        return f"{text} {''.join(f'[{n}]' for n in numbers)}"
    return f"{text} {OWN_KNOWLEDGE}" if mode == "open" else ""


def _show_source(text: str, quotes: Iterable[str]) -> str:
    """Return a document's words, in quotation marks if one of its quotes has them as they stand.

    The cells of a table's row are put in other words, so they get none.
    """
    shown = source_text(text)
    return f"“{shown}”" if any(shown in source_text(quote) for quote in quotes) else shown


def _cite(claim: Claim, passages: Sequence[Passage], documents: Documents, citations: list[Citation]) -> list[int]:
    """Return the citation numbers of a claim's supporting quotes, and add new citations to `citations`."""
    numbers: list[int] = []
    for quote in claim.quotes:
        spot = located(quote, passages, documents)
        if spot is not None and is_support(spot[3], claim.text):
            document, start, end, words = spot
            same = (c.id for c in citations if (c.document, c.start, c.end) == (document, start, end))
            number = next(same, len(citations) + 1)
            if number > len(citations):
                citations.append(Citation(id=number, document=document, start=start, end=end, quote=words,
                                          metadata=documents.metadata(document), page=documents.page(document, start)))
            numbers.append(number)
    return list(dict.fromkeys(numbers))


def located(quote: Quote, passages: Sequence[Passage], documents: Documents) -> tuple[str, int, int, str] | None:
    """Find a quote in its document.

    Args:
        quote: words of one of the passages.
        passages: numbered from 1.
        documents: the sources.

    Returns:
        The document, the quote's start and end in it, and the document's own words; None if there is no such passage
        or the words are not in it.
    """
    if not 1 <= quote.passage <= len(passages):
        return None
    passage = passages[quote.passage - 1]
    text = SourceText(passage.text)
    # A fact or report is cited by the whole stretch of its source that supports it. A passage's quote is looked up
    # verbatim first, then ignoring case and spaces, which models change.
    span = text.verbatim(passage.text if passage.statement else quote.words) or text.find(quote.words)
    if span is None:
        return None
    start, end = passage.start + span.start, passage.start + span.end
    try:
        source = documents.get(passage.document).text[start:end]
    except UnknownDocumentError:
        return None
    # The document may have been replaced or deleted since the passage was read: then there is no such quote.
    return (passage.document, start, end, source) if source == span.quote else None
