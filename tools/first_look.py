"""What is shown of a question before any call: passages, short cards of what it names, tables that it asks for."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from ..graph_store.bounding.words import words
from ..models.rules.recognition.names import names_in
from ..schemas.graph_schema import GraphSchema
from ..schemas.inquiry import Block
from ..schemas.lookups import LONGEST, CommunityLookup, PassageLookup, PathLookup, Tool, TripleLookup, lookup_text
from ..schemas.retrieval import EVERYTHING, Passage, Place, Switches
from ..text.lexicon import SUMMARY_CUES
from .asking.asked_mentions import asked_mentions
from .asking.asked_rows import asked_rows
from .asking.asked_table import asked_survey, asked_table
from .cards import entity_card
from .entity_names import named_entities
from .index import RetrievalIndex
from .line_budget import item_cost
from .openings import asked_folder, openings
from .passages import look_up_passages
from .paths import look_up_paths
from .reports import look_up_reports
from .retriever import Retriever
from .tables import look_up_table

_CARDS_SHARE, _TABLES_SHARE = 1 / 4, 1 / 4
"""Of the budget; passages have what these leave."""
_PASSAGES_SHARE = 2 / 3
"""Of the budget, for passages that a model reads: the last third held a passage that it needed for one question in
ten, which costs a call there, and is paid for in each call of all questions."""
_BESIDE_TABLE_SHARE = 1 / 4
"""Of the budget, for passages beside the table that the question asks for: of thirty such questions the table answered
all (benchmarks/README.md)."""
_ASKED_SHARE = 1 / 2
"""Of the budget, for the table that the question asks for."""
_NAMED_SHARE = 1 / 8
"""Of the budget, for documents that the question names and at most one passage is of."""
_REPORTS_SHARE = 3 / 4
"""Of a question about the documents as a whole, which passages hardly answer."""
_CONNECTED = re.compile(r"\b(?:connect|link|relat|chain|between|lead|tie)\w*\b|关系|联系|关联|链", re.IGNORECASE)
"""Questions about what connects two things."""
_OF_DOCUMENTS = re.compile(r"\b(?:document|text|file|paper|collection|folder|corpus)|文件|文档|资料|文章|材料",
                           re.IGNORECASE)
"""Words of a question about the documents as a whole, even if it names something."""
_MOST_CARDS, _MOST_TABLES, _ENOUGH = 3, 2, 2
_MOST_OWNERS = 100
"""Entities of a value that are read; one that more have tells little of any of them."""
_MOST_SCANNED = 1000
"""Rows of an attribute among which those with a value are looked for while a person waits."""


def first_look(retriever: Retriever, schema: GraphSchema, question: str, tokens: int, tools: Collection[Tool],
               switches: Switches = EVERYTHING, *, reasons: bool = True) -> list[Block]:
    """Return the evidence that a question begins with.

    Args:
        retriever: the knowledge base.
        schema: the schema in force, whose terms the question may name.
        question: the question.
        tokens: the budget, estimated tokens.
        tools: the lookups that are switched on.
        switches: what the ranking of passages uses.
        reasons: whether a model reads it; otherwise it is the table that the question asks for, a row an item, or what
            can be quoted.

    Returns:
        The table that the question asks for; passages; then lines of cards and tables whose words no shown passage
        has. Of a question about the documents as a whole, reports before passages.
    """
    if not reasons and (mentions := asked_mentions(retriever.index, question)):
        return mentions
    named = named_entities(retriever.index, question)
    asked = asked_table(retriever.index, schema, question) if "triple_search" in tools else None
    if asked and not reasons and (rows := asked_rows(retriever.index, schema, question, asked)):
        return rows
    blocks = _read_asked_table(retriever, schema, asked, int(tokens * _ASKED_SHARE)) if asked and reasons else []
    is_table = bool(blocks)
    if "community_search" in tools:
        reports = _read_reports(retriever, schema, question, named, int(tokens * _REPORTS_SHARE))
        if not reasons and any(item.kind == "row" for block in reports for item in block.items):
            return reports
        blocks += reports
    graph = list[Block]()
    if "entity_search" in tools and reasons:
        graph += _read_cards(retriever, schema, question, named, int(tokens * _CARDS_SHARE))
    if "dfs_search" in tools and reasons and _CONNECTED.search(question):
        graph += _read_paths(retriever.index, named, int(tokens * _CARDS_SHARE))
    if "triple_search" in tools and reasons and not is_table:
        graph += _read_tables(retriever, schema, question, int(tokens * _TABLES_SHARE))
    left = tokens - sum(item_cost(item) for block in (*blocks, *graph) for item in block.items)
    if "passage_search" in tools:
        share = _BESIDE_TABLE_SHARE if is_table else _PASSAGES_SHARE
        left = min(left, int(tokens * share)) if reasons else left
        found = look_up_passages(retriever, PassageLookup(query=question[:LONGEST]), left, (), switches, near=False)
        blocks += [block.model_copy(update={"title": "passages"}) for block in found]
        blocks += _read_named_documents(retriever, question, named, [item for block in found for item in block.items],
                            int(tokens * _NAMED_SHARE), switches)
    shown = [item for block in blocks for item in block.items if item.kind == "passage"]
    unsaid = [block.model_copy(update={"items": tuple(item for item in block.items if not _is_shown(item, shown))})
              for block in graph]
    return [block for block in (*blocks, *unsaid) if block.items]


def _read_named_documents(retriever: Retriever, question: str, named: Mapping[str, str], shown: Sequence[Passage],
                          tokens: int, switches: Switches) -> Iterator[Block]:
    """Yield the best passages of each document that a question names and at most one passage is of, its metadata."""
    for name in dict.fromkeys((*names_in(question[:LONGEST]), *named.values())):
        documents = retriever.index.documents_called(name)
        if sum(item.document in documents for item in shown) < _ENOUGH:
            for document in sorted(documents):
                lookup = PassageLookup(query=question[:LONGEST], documents=(document,))
                found = look_up_passages(retriever, lookup, tokens // len(documents),
                                         [item.key for item in shown], switches)
                yield from (block.model_copy(update={"title": f"passages of {document}"}) for block in found)


def _read_asked_table(retriever: Retriever, schema: GraphSchema, asked: TripleLookup, tokens: int) -> list[Block]:
    """Return the table that a question asks for, under its lookup, so that a model can ask for another."""
    title = f"{lookup_text(asked)}: "
    return [block.model_copy(update={"title": f"{title}{block.title}", "table": asked})
            for block in look_up_table(retriever.index, schema, asked, tokens) if block.items]


def _read_reports(retriever: Retriever, schema: GraphSchema, question: str, named: Mapping[str, str], tokens: int,
             ) -> list[Block]:
    """Return the survey that a question asks for, or reports on the whole if it is about that, not about one thing."""
    survey = asked_survey(retriever.index, schema, question)
    if survey is None and SUMMARY_CUES.search(question) and (
            _OF_DOCUMENTS.search(question) or not named):
        return look_up_reports(retriever, CommunityLookup(), question, tokens)
    if survey is None:
        folder = asked_folder(retriever.index, question)
        opened = openings(retriever.index, tokens, folder) if folder else []
        return [Block(title=folder, items=tuple(opened))] if opened else []
    return [block.model_copy(update={"title": f"{lookup_text(survey)}: {block.title}"})
            for block in look_up_reports(retriever, survey, question, tokens)]


def _read_cards(retriever: Retriever, schema: GraphSchema, question: str, named: Mapping[str, str], tokens: int,
           ) -> Iterator[Block]:
    """Yield short cards of the rarest entities that a question names: lines that it names, too, then the nearest."""
    index = retriever.index
    rarest = sorted(named, key=lambda entity: (len(index.entity_support(entity)), entity))[:_MOST_CARDS]
    if not rarest:
        return
    asked, near = set(retriever.labelled_terms(schema).named(question)), _rate_terms(retriever, question)
    for entity in rarest:
        yield entity_card(index, entity, tokens // len(rarest), order=lambda label: (label in asked) + near[label])


def _read_paths(index: RetrievalIndex, named: Mapping[str, str], tokens: int) -> list[Block]:
    """Return the chains between the first and the last name of a question that asks for what connects them."""
    names = list(dict.fromkeys(named.values()))
    if len(names) < 2:  # noqa: PLR2004 - a chain has two ends
        return []
    return [block for block in look_up_paths(index, PathLookup(start=names[0], end=names[-1]), tokens) if block.items]


def _rate_terms(retriever: Retriever, question: str) -> dict[str, float]:
    """Return the cosine of the name of each relation and attribute to a question."""
    # What the ranking of passages will need is embedded together.
    return retriever.term_cosines(retriever.queries(retriever.sub_queries(question[:LONGEST]))[0].embedded.vector)


def _read_tables(retriever: Retriever, schema: GraphSchema, question: str, tokens: int) -> Iterator[Block]:
    """Yield the tables of the values that a question names.

    A table that does not fit as a whole is left out: a part of it would look like all, and can be looked up.
    """
    rows = {term.name: term.rows for term in retriever.labelled_terms(schema).terms}
    wanted = [TripleLookup(relation=attribute, tail=value)
              for attribute, value in _find_shared_values(retriever.index, question)
              if rows.get(attribute, 0) <= _MOST_SCANNED][:_MOST_TABLES]
    for lookup in wanted:
        yield from (block for block in look_up_table(retriever.index, schema, lookup, tokens // len(wanted))
                    if block.items and not block.note)


def _find_shared_values(index: RetrievalIndex, question: str) -> list[tuple[str, str]]:
    """Return the (attribute, value) that a question names and several entities have."""
    owners: dict[tuple[int, str], dict[str, str]] = {}
    numbers: dict[str, int] = {}
    for named in index.values.find(question):
        number = numbers.setdefault(named.name, len(numbers))
        for entity in named.entities[:_MOST_OWNERS]:
            for attribute, values in index.attributes(entity).items():
                for value in (value for value in values if " ".join(words(value)) == named.name):
                    owners.setdefault((number, attribute), {}).setdefault(entity, value)
    return [(attribute, next(iter(held.values()))) for (_, attribute), held in sorted(
        owners.items(), key=lambda item: item[0]) if len(held) > 1]


def _is_shown(item: Passage, passages: Sequence[Passage]) -> bool:
    """Return True if all words that support an item stand in shown passages."""
    places = item.places or (Place(document=item.document, start=item.start, text=item.text),)
    return all(any(passage.document == place.document and passage.start <= place.start
                   and place.start + len(place.text) <= passage.start + len(passage.text) for passage in passages)
               for place in places)
