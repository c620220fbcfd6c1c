"""Questions about the whole corpus: the reports of the knowledge tree answer, in a map and a reduce step.

A question whose sub-queries all take the community route alone is about the corpus, not about a thing in it. The
level of the tree is the finest whose reports fit a few calls (Microsoft GraphRAG's global search; level 4 of
Youtu-GraphRAG's tree). Of a few documents each opening is read as well: it says what the document is about. Each call
answers from some reports and the facts they rest on; the claims that cite soundly become the context of the final
answer, each still resting on words of a source.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from ...graph_store.ledger.communities import Community
from ...graph_store.ledger.documents import Documents
from ...schemas.retrieval import DraftAnswer, Passage, SubQuery
from ...text.sentences import split_sentences
from ...text.tokens import estimate_tokens
from ...tools.query import Query
from ...tools.retriever import Retriever
from ...tools.statements import of_entities
from .citing import located
from .context import MARK_TOKENS, statement_item
from .dimensions import spoken_groups

_TOLD = re.compile(r"(?!\s*(?:[#|*=-]|\w+:))(?:\S+\s+){4}|(?!\s*[#|*=-])[^\n]*[\u4e00-\u9fff]{8}")
"""A sentence, not a heading, a row or a field."""
MOST_CALLS = 8
"""Calls of the map step: what a question about everything may cost besides its answer."""
_FACTS = 5
"""Facts shown with each report: what its claims can cite."""
OPENINGS_SHARE = 1 / 4
"""Of what a call may read: openings that would take more are left out, as no few of them stand for all documents."""
_OPENING = 250
"""Characters of an opening: a long sentence."""
_CONSIDERED = 3 * _FACTS
"""Facts that these are chosen from: sentences before rows of tables, which say little about a theme."""


def is_survey(parts: Sequence[SubQuery]) -> bool:
    """Whether a question, as it was decomposed, is about the corpus as a whole."""
    return bool(parts) and all(part.routes == ("community",) for part in parts)


def report_batches(retriever: Retriever, query: Query, tokens: int,
                   openings_share: float = OPENINGS_SHARE) -> list[list[Passage]]:
    """The reports of one level of the tree with their facts, in as many lists as calls are due.

    Args:
        retriever: the knowledge base.
        query: the question; the facts nearest to it are shown.
        tokens: what one call may read, estimated.
        openings_share: of it, what the openings of all documents may take; else there are none.

    Returns:
        At most `MOST_CALLS` lists of items with statements, of the finest level that fits them; of the coarsest, if
        none does, the largest communities; of a view's groups where the question speaks of its dimension. Empty where
        nothing is described.
    """
    levels: dict[int, list[Community]] = {}
    spoken = spoken_groups(retriever.index, query.text)
    for community in spoken or retriever.index.store.communities.all(level=None):
        if community.summary or spoken:
            levels.setdefault(community.level, []).append(community)
    openings = [] if spoken else _openings(retriever, int(tokens * openings_share))
    batches: list[list[Passage]] = []
    for _, communities in sorted(levels.items()):
        batches = _packed(chain(openings, _items(retriever, query, communities)), tokens)
        if len(batches) <= MOST_CALLS:
            break
    return batches[:MOST_CALLS]


def _openings(retriever: Retriever, tokens: int) -> list[list[Passage]]:
    """Title and first sentence of each document, where these are few enough for a call."""
    documents, openings = retriever.index.store.documents, list[list[Passage]]()
    cost = _OPENING // 4 + MARK_TOKENS  # four characters of English a token
    few = documents.count_documents() * cost <= tokens
    for entry in documents.entries() if few else ():
        document = documents.get(entry.id)
        first = next(((start, end) for start, end in split_sentences(document.text)
                      if _TOLD.match(document.text[start:end])), None)
        if first is not None:
            words = document.text[first[0]:min(first[1], first[0] + _OPENING)].strip()
            openings.append([Passage(
                chunk_id="", document=document.id, title=document.title, text=words, start=first[0], score=0.0,
                statement=f"{document.title or document.id}: {' '.join(words.split())}")])
    return openings


def _items(retriever: Retriever, query: Query, communities: Sequence[Community]) -> Iterator[list[Passage]]:
    """Each community's report and facts, the largest first; one without facts says nothing that can be cited."""
    for community in sorted(communities, key=lambda community: (-len(community.members), community.id)):
        found = of_entities(retriever.index, query, community.members, _CONSIDERED)
        items = sorted((statement_item(retriever, fact, 0.0, fact.line) for fact in found),
                       key=lambda item: item.text.lstrip().startswith("|"))[:_FACTS]
        if items:
            yield [items[0].model_copy(update={"statement": _report(retriever, community)}), *items]


def _report(retriever: Retriever, community: Community) -> str:
    """A community's report; a view's group is told by its name and the members that stand for it."""
    if not community.label:
        return community.text()
    return f"{community.label}. {', '.join(retriever.index.name(member) for member in community.keywords)}"


def _packed(groups: Iterator[list[Passage]], tokens: int) -> list[list[Passage]]:
    batches: list[list[Passage]] = []
    left = 0
    for group in groups:
        cost = sum(estimate_tokens(item.statement) + MARK_TOKENS for item in group)
        if cost > left or not batches:
            batches.append([])
            left = tokens
        batches[-1].extend(group)
        left -= cost
    return batches


def points(draft: DraftAnswer, items: Sequence[Passage], documents: Documents) -> list[Passage]:
    """The claims of a map call as items of the final answer's context.

    Args:
        draft: the answer from some reports.
        items: those reports and facts.
        documents: the sources.

    Returns:
        An item for each sound quote of each claim, side by side: the claim as its statement, resting on that quote.
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


def sourced(points: Sequence[Passage]) -> list[Passage]:
    """Return points as a model reads them, the surest first: each claim with its document and the words below it.

    The words of a document are shown once.
    """
    best = sorted(points, key=lambda item: (-item.score, item.statement))
    spans = {(item.document, item.start, item.text): item for item in reversed(best)}
    return [item.model_copy(update={"statement": f"{item.statement} ({item.title or item.document}: “{item.text}”)"})
            for item in reversed(spans.values())]
