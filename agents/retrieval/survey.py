"""Questions about the whole corpus: the reports of the knowledge tree answer, in a map and a reduce step.

A question whose sub-queries all take the community route alone is about the corpus, not about a thing in it. The
level of the tree is the finest whose reports fit a few calls (Microsoft GraphRAG's global search; level 4 of
Youtu-GraphRAG's tree). If there are few documents, the opening of each is read too, as it says what the document is
about. Each call answers from some reports and the facts they rest on; the claims whose citations are verified become
the context of the final answer, each still resting on words of a source.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from ...graph_store.ledger.communities import Community
from ...graph_store.ledger.document_rows import Documents
from ...schemas.documents import Document
from ...schemas.naming import normalise
from ...schemas.retrieval import DraftAnswer, Passage, SubQuery
from ...text.sentences import split_sentences
from ...text.tokens import estimate_tokens
from ...tools.query import Query
from ...tools.retriever import Retriever
from ...tools.statements import of_entities
from .citing import located, within_budget
from .context import MARK_TOKENS, statement_item
from .dimensions import spoken_groups

_SENTENCE = re.compile(r"(?!\s*(?:[#|*=-]|\w+:))(?:\S+\s+){4}|(?!\s*[#|*=-])[^\n]*[\u4e00-\u9fff]{8}")
"""A sentence, not a heading, a row or a field."""
MOST_CALLS = 8
"""The most calls of the map step, besides the one for the answer."""
_FACTS = 5
"""Facts shown with each report, which its claims can cite."""
OPENINGS_SHARE = 1 / 4
"""The share of a call's tokens that openings may take. Openings are left out if they do not all fit."""
_OPENING = 250
"""Characters of an opening: a long sentence."""
_FIRST = 5
"""How many first sentences of a document its opening is chosen from."""
_CONSIDERED = 3 * _FACTS
"""Facts that these are chosen from: sentences before rows of tables, which say little about a theme."""


def is_survey(parts: Sequence[SubQuery]) -> bool:
    """Return True if a decomposed question is about the corpus as a whole."""
    return bool(parts) and all(part.routes == ("community",) for part in parts)


def report_batches(retriever: Retriever, query: Query, tokens: int,
                   openings_share: float = OPENINGS_SHARE) -> list[list[Passage]]:
    """Return the reports of one level of the tree with their facts, one list for each call.

    Args:
        retriever: the knowledge base.
        query: the question; the facts nearest to it are shown.
        tokens: the most estimated tokens that one call may read.
        openings_share: the share of them that the openings of all documents may take; they are left out if they take
            more.

    Returns:
        At most `MOST_CALLS` lists of items with statements. They are of the finest level that fits; if none does, the
        largest communities of the coarsest level; of a view's groups if the question names its dimension. Empty if no
        community has a report.
    """
    levels: dict[int, list[Community]] = {}
    spoken = spoken_groups(retriever.index, query.text)
    for community in spoken or retriever.index.store.communities.all(level=None):
        if community.summary or spoken:
            levels.setdefault(community.level, []).append(community)
    openings = [] if spoken else _openings(retriever, int(tokens * openings_share))
    batches: list[list[Passage]] = []
    for _, communities in sorted(levels.items()):
        batches = _pack(chain(openings, _items(retriever, query, communities)), tokens)
        if len(batches) <= MOST_CALLS:
            break
    return batches[:MOST_CALLS]


def _openings(retriever: Retriever, tokens: int) -> list[list[Passage]]:
    """Return title and a first sentence of each document, or nothing if they do not fit the tokens.

    Sentences that several documents share, such as the first words of all of a company's reports, are used only for
    documents without others.
    """
    documents = retriever.index.store.documents
    cost = _OPENING // 4 + MARK_TOKENS  # four characters of English a token
    few = documents.count_documents() * cost <= tokens
    texts = [documents.get(entry.id) for entry in documents.entries()] if few else []
    first = [_first_sentences(document) for document in texts]
    shared = Counter(words for sentences in first for words in {normalise(words) for _, words in sentences})
    openings = list[list[Passage]]()
    for document, sentences in zip(texts, first, strict=True):
        own = [sentence for sentence in sentences if shared[normalise(sentence[1])] == 1]
        for start, words in (own or sentences)[:1]:
            openings.append([Passage(
                chunk_id="", document=document.id, title=document.title, text=words, start=start, score=0.0,
                statement=f"{document.title or document.id}: {' '.join(words.split())}")])
    return openings


def _first_sentences(document: Document) -> list[tuple[int, str]]:
    """Return the first sentences of a document with their places, without headings, rows and fields."""
    found = ((start, end) for start, end in split_sentences(document.text)
             if _SENTENCE.match(document.text[start:end]))
    return [(start, document.text[start:min(end, start + _OPENING)].strip()) for start, end in islice(found, _FIRST)]


def _items(retriever: Retriever, query: Query, communities: Sequence[Community]) -> Iterator[list[Passage]]:
    """Yield each community's report and facts, the largest first; without facts nothing could be cited."""
    for community in sorted(communities, key=lambda community: (-len(community.members), community.id)):
        found = of_entities(retriever.index, query, community.members, _CONSIDERED)
        items = sorted((statement_item(retriever, fact, 0.0, fact.line) for fact in found),
                       key=lambda item: item.text.lstrip().startswith("|"))[:_FACTS]
        if items:
            yield [items[0].model_copy(update={"statement": _report(retriever, community)}), *items]


def _report(retriever: Retriever, community: Community) -> str:
    """Return a community's report, or for a view's group its name and most typical members."""
    if not community.label:
        return community.text()
    return f"{community.label}. {', '.join(retriever.index.name(member) for member in community.keywords)}"


def _pack(groups: Iterator[list[Passage]], tokens: int) -> list[list[Passage]]:
    """Pack groups of items into calls: each group whole in one call, and no item twice in a call."""
    batches: list[list[Passage]] = []
    left = 0
    for group in groups:
        new = _unread(group, batches[-1]) if batches else group
        cost = _tokens_of(new)
        if cost > left or not batches:
            batches.append([])
            left, new, cost = tokens, group, _tokens_of(group)
        batches[-1].extend(new)
        left -= cost
    return batches


def _unread(group: Sequence[Passage], batch: Sequence[Passage]) -> list[Passage]:
    """Return the items that are not in a call yet: neighbouring communities share facts."""
    shown = {item.statement for item in batch}
    return [item for item in group if item.statement not in shown]


def _tokens_of(items: Sequence[Passage]) -> int:
    return sum(estimate_tokens(item.statement) + MARK_TOKENS for item in items)


def points(draft: DraftAnswer, items: Sequence[Passage], documents: Documents) -> list[Passage]:
    """Turn the claims of a map call into items of the final answer's context.

    Args:
        draft: the answer from some reports.
        items: those reports and facts.
        documents: the sources.

    Returns:
        An item for each verified quote of each claim, with the claim as its statement and the quote as its text.
    """
    made = list[Passage]()
    for claim in draft.claims if draft.answerable else ():
        for quote in claim.quotes:
            spot = located(quote, items, documents)
            if spot is not None:
                document, start, _, words = spot
                made.append(items[quote.passage - 1].model_copy(update={
                    "statement": claim.text, "document": document, "start": start, "text": words,
                    "score": draft.confidence}))
    return made


def surveyed_items(found: Sequence[Passage], tokens: int, *, reasons: bool) -> list[Passage]:
    """Return the evidence of a survey: a single batch as it is, or the points made from several.

    Args:
        found: the items of the batch, or the points.
        tokens: the budget.
        reasons: whether a model reads them.
    """
    if not reasons:
        return within_budget(sorted(found, key=lambda item: (-item.score, item.statement)), tokens)
    # An item of a batch is not judged; a point is as sure as the draft that it is from.
    return within_budget(found if not any(item.score for item in found) else _with_sources(found), tokens)


def _with_sources(points: Sequence[Passage]) -> list[Passage]:
    """Return points as a model reads them, the surest first: each claim with its document and the words below it.

    The words of a document are shown once.
    """
    best = sorted(points, key=lambda item: (-item.score, item.statement))
    spans = {(item.document, item.start, item.text): item for item in reversed(best)}
    return [item.model_copy(update={"statement": f"{item.statement} ({item.title or item.document}: “{item.text}”)"})
            for item in reversed(spans.values())]
