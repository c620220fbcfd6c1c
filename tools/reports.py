"""Looking up reports of the knowledge tree, on a theme or on the documents as a whole, and surveys.

For the documents as a whole, the reports are those of the finest level that fits the budget, as in Microsoft GraphRAG's
global search. If there are few documents, the opening of each is shown too, as it says what the document is about. If
there are many, groups of documents by fields that tell them apart are shown instead of both, else titles.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ..graph_store.graph_index import GraphIndex
from ..graph_store.ledger.document_rows import Documents
from ..graph_store.ledger.entity_rows import TreeCommunity
from ..schemas.documents import Document, Frozen
from ..schemas.inquiry import Block
from ..schemas.lookups import CommunityLookup
from ..schemas.naming import normalise
from ..schemas.retrieval import Passage
from ..text.cleaning import without_markup
from ..text.content_words import content_words
from ..text.sentences import split_sentences
from .fact_rows import fit_block, graph_item, item_cost, triple_rows
from .graph_names import LabelledTerms
from .ranking.fusion import Query, best_rows
from .retriever import Retriever
from .surveys import survey_documents

_SENTENCE = re.compile(r"(?!\s*(?:[#|*=<-]|\w+:))(?:\S+\s+){4}|(?!\s*[#|*=<-])[^\n]*[\u4e00-\u9fff]{8}")
"""The beginning of a sentence, not of a heading, a row, a tag or a field."""
_ITEM = re.compile(r"\s*[-*•][^\S\n]+(?:\S+\s+){3}")
"""An item of a list. Only a document that begins with one, such as minutes, says in its items what it is about."""
_WHOLE = re.compile(r"(?![a-z]).*[.!?…。！？][”’\"')\]]*\Z", re.DOTALL)
"""A whole sentence: it does not begin in lower case, and ends with its punctuation."""
_MARK = re.compile(r"\A\s*[-*•]\s+")  # of an item of a list
CHAPTER = re.compile(r"(?:Chapter )?[IVXLC\d]+\b")  # how the title of a chapter begins: "IV: Home"
_READ = 20_000  # characters of a document in which its opening is looked for
_OPENING = 250  # the most characters of an opening: those of a long sentence
_FIRST = 5  # how many of a document's first sentences its opening is chosen from
_MOST_DOCUMENTS = 300  # with more, their titles fit no budget
_NEAREST = 6  # how many reports are shown on one theme
_FACTS = 3  # how many facts a report cites
_OPENINGS_SHARE = 2 / 3  # the share of the budget that the openings of documents may take


class DocumentSummary(Frozen):
    """A document with its opening: `said` is the sentence without markup, at characters `start` to `end`.

    `said` is "" if the document has no sentence; the place is then that of its first line.
    """

    document: str
    title: str
    start: int
    end: int
    said: str


def openings(index: GraphIndex, tokens: int, *, titles_only: bool = False) -> list[Passage]:
    """Return the titles of all documents, each with its opening, as items; none if they do not fit the budget."""
    documents, titles = index.store.documents, index.store.documents.titles()
    if len(titles) > _MOST_DOCUMENTS:
        return []
    documents_with_title = Counter(titles.values())
    items = list[Passage]()
    for summary, words in _openings([documents.get(document) for document in titles]):
        has_shared_title = documents_with_title[summary.title] > 1
        name = f"{summary.title} ({summary.document})" if has_shared_title else summary.title
        statement = f"{name}: {summary.said}" if summary.said and not titles_only else name
        items.append(Passage(chunk_id="", document=summary.document, title=summary.title, text=words,
                             start=summary.start, score=0.0, kind="opening", statement=statement))
    return items if sum(map(item_cost, items)) <= tokens else []


def summarise_documents(documents: Documents, ids: Sequence[str] = ()) -> list[DocumentSummary]:
    """Return for each document the sentence that best says what it is about, found without a model; no `ids` mean all.

    Raises:
        UnknownDocumentError: there is no such document.
    """
    found = [documents.get(key) for key in ids or documents.titles()]
    return [summary for summary, _ in _openings(found)]


def _openings(documents: Sequence[Document]) -> Iterator[tuple[DocumentSummary, str]]:
    """Yield the opening of each document, the sentence with most words of its title, and its words as they stand."""
    all_sentences = [_first_sentences(document) for document in documents]
    document_counts = Counter(
        words for sentences in all_sentences for words in {normalise(words) for _, words in sentences})
    for document, sentences in zip(documents, all_sentences, strict=True):
        # A sentence that several documents have, such as a notice, says of none what it is about.
        candidates = [one for one in sentences if document_counts[normalise(one[1])] == 1] or sentences
        # A chapter begins with its story, not with what its title is about.
        title_words = set() if CHAPTER.match(document.title) else set(content_words(document.title))
        first_line = document.text.lstrip()[:_OPENING].partition("\n")[0].rstrip()
        first_line_start = len(document.text) - len(document.text.lstrip())
        start, words = max(candidates, default=(first_line_start, first_line), key=lambda sentence: (
            len(title_words.intersection(content_words(sentence[1]))), -sentence[0]))
        if words:
            said = without_markup(_MARK.sub("", " ".join(words.split()))) if candidates else ""
            yield DocumentSummary(document=document.id, title=document.title or document.id, start=start,
                                  end=start + len(words), said=said), words


def _first_sentences(document: Document) -> Sequence[tuple[int, str]]:
    """Return a document's first sentences as (start, words); parts of sentences only if it has no others."""
    text = document.text[:_READ]
    spans = [(start, end) for start, end in split_sentences(text)
             if _SENTENCE.match(text[start:end]) or _ITEM.match(text[start:end])]
    if spans and not _ITEM.match(text[slice(*spans[0])]):
        spans = [(start, end) for start, end in spans if _SENTENCE.match(text[start:end])]
    spans = [(start, end) for start, end in spans if _WHOLE.match(text[start:end].strip())] or spans
    return [(start, text[start:min(end, start + _OPENING)].strip()) for start, end in spans[:_FIRST]]


def look_up_reports(retriever: Retriever, terms: LabelledTerms, lookup: CommunityLookup, question: str, tokens: int,
                    ) -> list[Block]:
    """Return the reports on a lookup's theme, or without one on all documents with facts nearest to `question`."""
    index, question_text = retriever.index, lookup.theme or question or "What are these documents about?"
    query = retriever.compare(question_text)
    if lookup.theme:
        nearest = [index.community(int(row)) for row in best_rows(index.community_cosines(query.vector), _NEAREST)]
        return [_block(f"reports on {lookup.theme}", _report_items(index, query, nearest), tokens)]
    document_openings = openings(index, int(tokens * _OPENINGS_SHARE))
    if not document_openings and (document_groups := survey_documents(index, terms, tokens)):
        return document_groups
    document_openings = document_openings or openings(index, int(tokens * _OPENINGS_SHARE), titles_only=True)
    tokens_left = tokens - sum(map(item_cost, document_openings))
    whole = _block("reports on the whole", _finest_level_that_fits(index, query, tokens_left), tokens_left)
    return [Block(title="documents", items=tuple(document_openings)), whole] if document_openings else [whole]


def _block(title: str, reports: Sequence[Passage], tokens: int) -> Block:
    """Return a block of the reports that fit a budget."""
    note = "" if reports else "there is no report on this"
    return fit_block(Block(title=title, items=tuple(reports), note=note), tokens)


def _finest_level_that_fits(index: GraphIndex, query: Query, tokens: int) -> list[Passage]:
    """Return all reports of the finest level (the first) that fits a budget, else of the coarsest; largest first."""
    levels: dict[int, list[TreeCommunity]] = {}
    for community in index.store.communities.all(level=None):
        if community.summary:
            levels.setdefault(community.level, []).append(community)
    items: list[Passage] = []
    for _, communities in sorted(levels.items()):
        ordered = sorted(communities, key=lambda community: (-len(community.members), community.id))
        items = _report_items(index, query, ordered)
        if sum(map(item_cost, items)) <= tokens:
            break
    return items


def _report_items(index: GraphIndex, query: Query, communities: Iterable[TreeCommunity]) -> list[Passage]:
    """Return the reports of communities as items that cite their facts nearest to a query, if they have any to cite."""
    items = list[Passage]()
    for community in communities:
        members = [row for row in map(index.entity_at, community.members) if row is not None]
        incident = index.columns.incident.unite(members)
        rows = incident[best_rows(query.triples[incident], _FACTS)]
        places = [place.model_copy(update={"member": f"{row.head} {row.tail}"})
                  for row in triple_rows(index, map(int, rows)) for place in row.places[:1]]
        if community.summary and places:
            items.append(graph_item(places, " ".join(community.text().split()), community.name, "report"))
    return items
