"""What is shown of a question before any call: passages, short cards of what it names, tables that it asks for."""

from collections.abc import Callable, Collection, Iterator, Sequence

from ..models.rules.lexicon import SUMMARY_CUES
from ..schemas.graph_schema import GraphSchema
from ..schemas.inquiry import Block
from ..schemas.lookups import LONGEST, CommunityLookup, PassageLookup, Tool, TripleLookup
from ..schemas.retrieval import EVERYTHING, Passage, Place, SubQuery, Switches
from .cards import entity_card
from .line_budget import item_cost
from .passages import look_up_passages
from .reports import look_up_reports
from .retriever import Retriever
from .schema_names import named_terms, terms_of
from .tables import look_up_table
from .value_groups import value_groups

_CARDS_SHARE, _TABLES_SHARE = 1 / 4, 1 / 4
"""Of the budget; passages have the rest and what these leave."""
_REPORTS_SHARE = 3 / 4
"""Of a question about the documents as a whole, which passages hardly answer."""
_MOST_CARDS, _MOST_TABLES = 3, 2
_ROW_TOKENS = 3
"""The fewest tokens of a row: a table of more rows than fit is not read at all."""
_MOST_SCANNED = 1000
"""Rows of an attribute among which those with a value are looked for while a person waits."""


def first_look(retriever: Retriever, schema: GraphSchema, question: str, tokens: int, tools: Collection[Tool],
               switches: Switches = EVERYTHING) -> list[Block]:
    """Return the evidence that a question begins with.

    Args:
        retriever: the knowledge base.
        schema: the schema in force, whose terms the question may name.
        question: the question.
        tokens: the budget, estimated tokens.
        tools: the lookups that are switched on.
        switches: what the ranking of passages uses.

    Returns:
        Passages; then lines of cards and tables whose words no shown passage has. Of a question about the documents as
        a whole, reports first.
    """
    blocks = list[Block]()
    if "community_search" in tools and SUMMARY_CUES.search(question):
        blocks += look_up_reports(retriever, CommunityLookup(), question, int(tokens * _REPORTS_SHARE))
    graph = list[Block]()
    if "entity_search" in tools:
        graph += _cards(retriever, question, int(tokens * _CARDS_SHARE))
    if "triple_search" in tools:
        graph += _tables(retriever, schema, question, int(tokens * _TABLES_SHARE))
    left = tokens - sum(item_cost(item) for block in (*blocks, *graph) for item in block.items)
    if "passage_search" in tools:
        found = look_up_passages(retriever, PassageLookup(query=question[:LONGEST]), left, (), switches)
        blocks += [block.model_copy(update={"title": "passages"}) for block in found]
    shown = [item for block in blocks for item in block.items if item.kind == "passage"]
    unsaid = [block.model_copy(update={"items": tuple(item for item in block.items if not _is_shown(item, shown))})
              for block in graph]
    return [block for block in (*blocks, *unsaid) if block.items]


def _cards(retriever: Retriever, question: str, tokens: int) -> Iterator[Block]:
    """Yield short cards of the rarest entities that a question names, nearest lines first."""
    index = retriever.index
    named = dict.fromkeys(entity for name in index.names.find(question) for entity in name.entities)
    rarest = sorted(named, key=lambda entity: (len(index.entity_support(entity)), entity))[:_MOST_CARDS]
    order = _nearness(retriever, question)
    for entity in rarest:
        yield entity_card(index, entity, tokens // len(rarest), order=order)


def _nearness(retriever: Retriever, question: str) -> Callable[[str], float]:
    """Return the cosine of a relation's or attribute's name to a question."""
    asked = retriever.queries([SubQuery(question=question)])[0].meaning.vector
    return lambda label: round(float(retriever.embed([label.replace("_", " ")])[0] @ asked), 6)


def _tables(retriever: Retriever, schema: GraphSchema, question: str, tokens: int) -> Iterator[Block]:
    """Yield the tables of values that a question names, and of relations and attributes that it asks for.

    A table that does not fit as a whole is left out: a part of it would look like all, and can be looked up.
    """
    wanted = list(_named_tables(retriever, schema, question, tokens // _ROW_TOKENS))[:_MOST_TABLES]
    for lookup in wanted:
        yield from (block for block in look_up_table(retriever.index, schema, lookup, tokens // len(wanted))
                    if block.items and not block.note)


def _named_tables(retriever: Retriever, schema: GraphSchema, question: str, most: int) -> Iterator[TripleLookup]:
    """Yield the lookups of tables that may have at most so many rows."""
    index = retriever.index
    rows = {term.name: term.rows for term in terms_of(index)}
    (query,) = retriever.queries([SubQuery(question=question)])
    groups = [group for group in value_groups(index, query) if len({member.entity for member in group.members}) > 1]
    for group in groups:
        if rows.get(group.attribute, 0) <= _MOST_SCANNED:
            yield TripleLookup(relation=group.attribute, tail=group.members[0].value)
    for name in named_terms(index, schema, question):
        if rows[name] <= most and not any(group.attribute == name for group in groups):
            yield TripleLookup(relation=name)


def _is_shown(item: Passage, passages: Sequence[Passage]) -> bool:
    """Return True if all words that support an item stand in shown passages."""
    places = item.places or (Place(document=item.document, start=item.start, text=item.text),)
    return all(any(passage.document == place.document and passage.start <= place.start
                   and place.start + len(place.text) <= passage.start + len(passage.text) for passage in passages)
               for place in places)
