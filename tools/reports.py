"""Reports of the knowledge tree: on a theme, or on the documents as a whole; and surveys by a field or along a path.

The level for the whole is the finest one whose reports fit the budget, as in Microsoft GraphRAG's global search. Where
there are few documents, the opening of each is shown too, as it says what the document is about; where there are many,
their groups by the fields that tell them apart take the place of both.
"""

from collections.abc import Iterable

from ..graph_store.ledger.communities import TreeCommunity
from ..schemas.inquiry import Block
from ..schemas.lookups import CommunityLookup, lookup_text
from ..schemas.retrieval import Passage, SubQuery
from .best import best_rows
from .fact_rows import graph_item, triple_rows
from .index import RetrievalIndex
from .line_budget import fit_lines, item_cost
from .openings import openings
from .query import Query
from .retriever import Retriever
from .surveys import survey_along, survey_by, survey_documents
from .table_query import FieldError

_WHOLE = "What are these documents about?"
_NEAREST = 6
"""Reports on one theme."""
_FACTS = 3
"""Facts that support a report."""
_OPENINGS_SHARE = 2 / 3


def look_up_reports(retriever: Retriever, lookup: CommunityLookup, question: str, tokens: int) -> list[Block]:
    """Return the reports on a theme or on the documents as a whole, or a survey.

    Args:
        retriever: the knowledge base.
        lookup: the theme; empty for the whole. By a field or along a path, see `surveys`.
        question: the question.
        tokens: the budget, estimated tokens.
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
    (query,) = retriever.queries([SubQuery(question=question_text)])
    if lookup.theme:
        cosines = index.community_cosines(query.embedded.vector)
        nearest = [index.community(int(row)) for row in best_rows(cosines, _NEAREST)]
        return [_block(f"reports on {lookup.theme}", [_report_item(index, query, one) for one in nearest], tokens)]
    opened = openings(index, int(tokens * _OPENINGS_SHARE))
    if not opened and (grouped := survey_documents(index, schema, tokens)):
        return grouped
    left = tokens - sum(map(item_cost, opened))
    whole = _block("reports on the whole", _finest_that_fits(index, query, left), left)
    return [Block(title="documents", items=tuple(opened)), whole] if opened else [whole]


def _block(title: str, items: Iterable[Passage | None], tokens: int) -> Block:
    shown, left = fit_lines([item for item in items if item is not None], tokens)
    return Block(title=title, items=tuple(shown),
                 note=f"{left} more reports" if left else "" if shown else "there is no report on this")


def _finest_that_fits(index: RetrievalIndex, query: Query, tokens: int) -> list[Passage]:
    """Return the reports of the finest level that fits, else those of the coarsest, the largest communities first."""
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


def _report_item(index: RetrievalIndex, query: Query, community: TreeCommunity) -> Passage | None:
    """Return a community's report, which rests on its facts nearest to the theme; None if it has no fact or report."""
    if not community.summary:
        return None
    members = [row for row in map(index.entity_at, community.members) if row is not None]
    rows, _ = query.embedded.triples.best(_FACTS, index.incident_of(members))
    places = [place.model_copy(update={"member": f"{row.head} {row.tail}"})
              for row in triple_rows(index, map(int, rows)) for place in row.places[:1]]
    if not places:
        return None
    return graph_item(places, " ".join(community.text().split()), community.name, "report")
