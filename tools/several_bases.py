"""Search several knowledge bases for one question: each by itself, with its own embedding model, the findings together.

What is found names its base: documents are called BASE/DOCUMENT, tables BASE.TABLE, and blocks begin with the base. So
entities of one name stand side by side, and nothing is merged.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TypeAlias

import sqlglot
from sqlglot import exp

from ..graph_store.ledger.document_rows import JoinedDocuments, joined_id, split_id
from ..graph_store.sql.checking import DIALECT
from ..graph_store.sql.engine import SqlEngine
from ..graph_store.sql.table_file import open_tables as open_files
from ..schemas.documents import Chunk
from ..schemas.inquiry import Block
from ..schemas.lookups import LONGEST, Lookup, PassageLookup, TableQuery, Tool, TripleLookup
from ..schemas.retrieval import EVERYTHING, Passage, Switches
from ..text.content_words import content_words
from .fact_rows import fit_lines, item_cost
from .first_look import first_look
from .passages import AT_LEAST, LEFT_HINT
from .retriever import Retriever
from .table_choice import TABLES

Retrievers: TypeAlias = Mapping[str, Retriever]
"""The retrievers of the knowledge bases that a question is about, by name; of one alone, under the name ""."""
_JUDGED = 5  # how many of the best passages of a base tell how well it fits a question
_LEAST_FIT = 0.1  # the weight of a base that shares no word with the question: it may be in another language
_ORDER = {"row": 0, "report": 0, "opening": 0, "passage": 1, "fact": 2, "table": 3}  # of the kinds of items


@contextmanager
def open_tables(retrievers: Retrievers) -> Iterator[SqlEngine]:
    """Yield an engine for SQL over the tables of all bases; those of several are called BASE.TABLE."""
    indexes = {base: retriever.index for base, retriever in retrievers.items()}
    if len(indexes) == 1:
        yield next(iter(indexes.values())).sql
        return
    files = {base: index.store.table_file(index) for base, index in indexes.items()}
    documents = JoinedDocuments({base: index.store.documents for base, index in indexes.items()})

    def count_unread() -> int:
        return sum(index.sql.count_unread_files() for index in indexes.values())

    with closing(open_files(files)) as connection:
        yield SqlEngine(connection, documents, count_unread, bases=indexes)


def first_look_at(retrievers: Retrievers, question: str, tokens: int, tools: Collection[Tool],
                  switches: Switches = EVERYTHING, *, reasons: bool = True) -> list[Block]:
    """Return the evidence that a question begins with, from each base; see `first_look` for the arguments.

    All passages together take as many tokens as those of one base, or half of the budget. Without a model that
    reasons, only the results of queries are returned, if the question is read as a query over any base.
    """
    found = {base: first_look(retriever, retriever.index.store.schemas.current(), question, tokens, tools, switches,
                              reasons=reasons) for base, retriever in retrievers.items()}
    if len(found) == 1:
        return next(iter(found.values()))
    answered = {base: blocks for base, blocks in found.items()
                if any(item.kind == "row" for block in blocks for item in block.items)}
    if answered and not reasons:
        found = answered
    weights = _weigh_bases(retrievers, question, switches)

    def has_only_passages(block: Block) -> bool:
        return bool(block.items) and all(item.kind == "passage" for item in block.items)

    passages = {base: [*filter(has_only_passages, blocks)] for base, blocks in found.items()}
    most = max(sum(item_cost(item) for block in blocks for item in block.items) for blocks in passages.values())
    joined = _join_passages("passages", passages, weights, max(most, tokens // 2))
    others = [_name_base(block, base) for base, blocks in found.items() for block in blocks
              if not has_only_passages(block)]
    # A block without items is of tables that only its note names.
    return sorted([*others, *joined], key=lambda block: _ORDER[block.items[0].kind if block.items else "table"])


def join_lookups(lookup: Lookup, found: Mapping[str, list[Block]], retrievers: Retrievers, tokens: int,
                 switches: Switches) -> list[Block]:
    """Return what a lookup found in each base: passages as one block, anything else in blocks that name their base.

    If the lookup found anything in one base, what others say of finding nothing is left out.
    """
    filled = {base: blocks for base, blocks in found.items() if any(block.items for block in blocks)}
    if not filled or not isinstance(lookup, PassageLookup):
        return [_name_base(block, base) for base, blocks in (filled or found).items() for block in blocks]
    weights = _weigh_bases(retrievers, lookup.query, switches)
    return _join_passages(f"passages: {lookup.query}", filled, weights, tokens, max(AT_LEAST, len(lookup.documents)))


def lookup_in(lookup: Lookup, base: str, bases: Collection[str]) -> Lookup | None:
    """Return a lookup as one of several bases is asked it; None if it names only documents of others."""
    if isinstance(lookup, PassageLookup) and lookup.documents:
        own = _own_names(lookup.documents, base, bases)
        return lookup.model_copy(update={"documents": own}) if own else None
    if isinstance(lookup, TripleLookup) and lookup.document:
        own = _own_names([lookup.document], base, bases)
        return lookup.model_copy(update={"document": own[0]}) if own else None
    return lookup


def _own_names(documents: Iterable[str], base: str, bases: Collection[str]) -> tuple[str, ...]:
    """Return names of documents as one base has them: BASE/DOCUMENT without the base, none of other bases."""
    own = dict[str, str]()  # by the name as given, which is there once
    for document in documents:
        before_slash, own_id = split_id(document)
        if own_id and before_slash == base:
            own[document] = own_id
        elif not own_id or before_slash not in bases:  # a folder may stand before the slash
            own[document] = document
    return tuple(own.values())


def rank_chunks_of(retrievers: Retrievers, question: str, limit: int, switches: Switches,
                   ) -> list[tuple[str, Chunk, float]]:
    """Return the best chunks for a question over all bases, best first: each with its base and weight."""
    weights = _weigh_bases(retrievers, question, switches)
    ranked = [(base, retriever.index.chunks[retriever.index.chunk_row[key]], score * weights[base])
              for base, retriever in retrievers.items()
              for key, score in retriever.rank_passages(question, limit, switches=switches)]
    return sorted(ranked, key=lambda one: -one[2])[:limit]


def _weigh_bases(retrievers: Retrievers, question: str, switches: Switches) -> dict[str, float]:
    """Return how well each base fits a question: the share of its words in the best passages, rare words more."""
    # The best passage of any base has a weight of about 1, and cosines of different embedding models differ.
    if len(retrievers) == 1:
        return dict.fromkeys(retrievers, 1.0)
    asked = frozenset(content_words(question))
    shared_words = dict[str, list[frozenset[str]]]()  # of each base, for each of its best passages
    for base, retriever in retrievers.items():
        best = (retriever.passage(*ranked) for ranked in
                retriever.rank_passages(question[:LONGEST], _JUDGED, switches=switches, reranks=False))
        shared_words[base] = [asked.intersection(content_words(f"{one.title} {one.heading} {one.text}"))
                              for one in best]
    counts = Counter(word for passages in shared_words.values() for words in passages for word in words)
    rarity = {word: 1 / (1 + counts[word]) for word in asked}
    total = sum(rarity.values()) or 1.0  # 1 for a question without content words
    return {base: _LEAST_FIT + sum(rarity[word] for word in sorted(frozenset().union(*passages))) / total
            for base, passages in shared_words.items()}


def _join_passages(title: str, found: Mapping[str, Sequence[Block]], weights: Mapping[str, float], tokens: int,
                   at_least: int = 1) -> list[Block]:
    """Return the passages of several bases as one block, best first; none if there are no passages."""
    named = [item for base, blocks in found.items() for block in blocks for item in _name_base(block, base).items]
    weighed = [item.model_copy(update={"score": item.score * weights[item.base]}) for item in named]
    # The same passage may be in several blocks: the last one in this order, with the highest score, stays.
    best_of_key = {item.key: item for item in sorted(weighed, key=lambda item: item.score)}
    shown, left = fit_lines(sorted(best_of_key.values(), key=lambda item: -item.score), tokens, at_least)
    left += sum(block.left for blocks in found.values() for block in blocks)
    return [Block(title=title, items=tuple(shown), left=left, left_hint=LEFT_HINT)] if shown else []


def _name_base(block: Block, base: str) -> Block:
    """Return a block of one of several bases, which its title, its documents and its queries name."""
    table = block.table
    if isinstance(table, TableQuery):
        table = table.model_copy(update={"sql": _name_tables(table.sql, base)})
    is_tables = block.title == TABLES
    title = f"tables of {base}, in SQL {_in_sql(base)}.NAME" if is_tables else f"{base}: {block.title}"
    items = list[Passage]()
    for item in block.items:
        places = tuple(place.model_copy(update={"document": joined_id(base, place.document)}) for place in item.places)
        basis = item.basis and item.basis.model_copy(update={"query": _name_tables(item.basis.query, base)})
        statement = f"{_in_sql(base)}.{item.statement}" if item.kind == "table" else item.statement
        items.append(item.model_copy(update={"base": base, "document": joined_id(base, item.document),
                                             "places": places, "basis": basis, "statement": statement}))
    return block.model_copy(update={"title": title, "table": table, "items": tuple(items)})


def _name_tables(sql: str, base: str) -> str:
    """Return a query over the tables of one base as it is asked of several: its tables are called BASE.TABLE."""
    tree = sqlglot.parse_one(sql, dialect=DIALECT)
    named_in_query = {cte.alias for cte in tree.find_all(exp.CTE)}  # WITH name AS (...)
    for table in tree.find_all(exp.Table):
        if table.name not in named_in_query:
            table.set("db", exp.to_identifier(base))
    return tree.sql(dialect=DIALECT)


def _in_sql(base: str) -> str:
    """Return the name of a base as SQL needs it, in quotation marks if it has other signs than letters."""
    return exp.to_identifier(base).sql(dialect=DIALECT)
