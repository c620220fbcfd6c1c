"""Looking up reports of the knowledge tree, on a theme or on the documents as a whole, and surveys.

For the documents as a whole, the reports are those of the finest level that fits the budget, as in Microsoft GraphRAG's
global search. If there are few documents, the opening of each is shown too, as it says what the document is about. If
there are many, groups of documents by the fields that tell them apart are shown instead of both.
"""

from collections.abc import Iterable

from ..graph_store.graph_index import GraphIndex
from ..graph_store.ledger.communities import TreeCommunity
from ..schemas.inquiry import Block
from ..schemas.lookups import CommunityLookup, lookup_text
from ..schemas.retrieval import Passage
from .fact_rows import graph_item, triple_rows
from .line_budget import fit_lines, item_cost
from .openings import openings
from .query import Query, best_rows
from .retriever import Retriever
from .surveys import survey_along, survey_by, survey_documents
from .table_query import FieldError

_WHOLE = "What are these documents about?"
_NEAREST = 6
"""How many reports are shown on one theme."""
_FACTS = 3
"""How many facts a report cites."""
_OPENINGS_SHARE = 2 / 3
"""The share of the budget that the openings of documents may take."""


def look_up_reports(retriever: Retriever, lookup: CommunityLookup, question: str, tokens: int) -> list[Block]:
    """Return the reports on the lookup's theme, or without one on the documents as a whole; or a survey (`surveys`).

    Without a theme, the question ranks the facts that reports cite.
    """
    index, question_text = retriever.index, lookup.theme or question or _WHOLE
    schema = index.store.schemas.current()
    try:
        if lookup.along:
            return survey_along(index, schema, lookup.theme, lookup.along, tokens)
        if lookup.by:
            return survey_by(index, schema, lookup.by, tokens, lookup.weight)
    except FieldError as error:
        return [Block(title=lookup_text(lookup), note=str(error))]
    query = retriever.compare(question_text)
    if lookup.theme:
        cosines = index.community_cosines(query.vector)
        nearest = [index.community(int(row)) for row in best_rows(cosines, _NEAREST)]
        reports = [_report_item(index, query, community) for community in nearest]
        return [_block(f"reports on {lookup.theme}", reports, tokens)]
    document_openings = openings(index, int(tokens * _OPENINGS_SHARE))
    if not document_openings and (document_groups := survey_documents(index, schema, tokens)):
        return document_groups
    tokens_left = tokens - sum(map(item_cost, document_openings))
    whole = _block("reports on the whole", _finest_level_that_fits(index, query, tokens_left), tokens_left)
    return [Block(title="documents", items=tuple(document_openings)), whole] if document_openings else [whole]


def _block(title: str, items: Iterable[Passage | None], tokens: int) -> Block:
    """Return a block of the reports that fit a budget (None is no report); its note says how many others there are."""
    shown, omitted_count = fit_lines([item for item in items if item is not None], tokens)
    note = f"{omitted_count} more reports" if omitted_count else "" if shown else "there is no report on this"
    return Block(title=title, items=tuple(shown), note=note)


def _finest_level_that_fits(index: GraphIndex, query: Query, tokens: int) -> list[Passage]:
    """Return all reports of the finest level of the tree that fits a budget, the largest communities first."""
    levels: dict[int, list[TreeCommunity]] = {}
    for community in index.store.communities.all(level=None):
        if community.summary:
            levels.setdefault(community.level, []).append(community)
    items: list[Passage] = []
    for _, communities in sorted(levels.items()):
        ordered = sorted(communities, key=lambda community: (-len(community.members), community.id))
        items = [item for one in ordered if (item := _report_item(index, query, one)) is not None]
        if sum(map(item_cost, items)) <= tokens:
            break
    return items


def _report_item(index: GraphIndex, query: Query, community: TreeCommunity) -> Passage | None:
    """Return a community's report as an item that cites the community's facts nearest to a query."""
    if not community.summary:
        return None
    members = [row for row in map(index.entity_at, community.members) if row is not None]
    incident = index.columns.incident.of(members)
    rows = incident[best_rows(query.triples[incident], _FACTS)]
    places = [place.model_copy(update={"member": f"{row.head} {row.tail}"})
              for row in triple_rows(index, map(int, rows)) for place in row.places[:1]]
    if not places:
        return None
    return graph_item(places, " ".join(community.text().split()), community.name, "report")
