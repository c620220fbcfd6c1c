"""The evidence for a question, gathered in rounds: items are only appended, none twice, all within one token budget."""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from ...schemas.graph_schema import ANY, GraphSchema
from ...schemas.inquiry import Block, Round, items_of
from ...schemas.lookups import PassageLookup, Tool
from ...schemas.naming import label_key
from ...schemas.retrieval import Passage
from ...text.scripts import estimate_tokens
from ...tools.fact_rows import fit_block, item_cost
from ...tools.graph_names import Term
from ...tools.passages import AT_LEAST
from ...tools.retriever import Retriever
from ...tools.several_bases import Retrievers
from ...tools.table_choice import column_keys, shown_tables

ROUND_SHARE = 1 / 4  # of the budget of all evidence, which the first look, and each round of lookups, may add
_BUDGETS_FOR_LISTS = 2  # times the budget of a round may its lists take: each then shows some sixty short rows
_MOST_FOR_PASSAGES, _LEAST_FOR_PASSAGES = 1 / 2, 1 / 4
"""The most of the budget that passages take, as in the first look, and the least that lists leave them."""
_MOST_FOR_NAMED_DOCUMENTS = 3 / 4
"""The most of the budget that passages take if a lookup names documents: what it looks for is there, so that a passage
that did not fit costs another round."""
_LEAST_OF_NAMED_DOCUMENTS = 2  # passages that a lookup shows of documents that it names: after one, models ask for more
_TERM_TOKENS = 30  # the most estimated tokens of the terms, because they are in every prompt of a question
_COMMON_WEIGHT = 1 / 10
"""How much cosine to the question ten times as many rows of a term outweigh: few rows are no list to ask for."""


def completed_round(rounds: Sequence[Round], asked: Round, found: Sequence[Sequence[Block]], tokens: int,
                    omitted: Sequence[tuple[str, str]] = ()) -> Round:
    """Return a round with what its lookups found, without items that were shown before or by an earlier lookup.

    `asked` has the round's thought and lookups, `found` the blocks that each of them found, and `omitted` those that
    were not made, each with the reason. For `tokens`, the budget in estimated tokens, see `_divide_budget`.
    """
    shown_keys = {item.key for item in items_of(rounds)}
    # A document is described once its metadata was shown, or the passage at its beginning, which contains it.
    described = {item.document for item in items_of(rounds)
                 if item.about or (item.kind == "passage" and item.start == 0)}
    costs = list[int]()
    for blocks in found:
        unseen_items = chain.from_iterable(_unseen(block, shown_keys) for block in blocks)
        costs.append(sum(map(item_cost, unseen_items)))
    shares = _divide_budget(costs, asked, tokens)
    round_blocks = list[Block]()
    spare = 0  # tokens that a passage lookup leaves to the next one: a whole passage seldom fills its share
    for lookup, blocks, lookup_share in zip(asked.lookups, found, shares, strict=True):
        share, least_items = lookup_share, 1  # `least_items` are shown even if they exceed the share
        if isinstance(lookup, PassageLookup):
            share += spare
            # The lookups of a round together show `AT_LEAST` passages; one that names documents shows each of these.
            least_items = max(1, AT_LEAST // len(found))
            if lookup.documents:
                least_items = max(least_items, len(lookup.documents), _LEAST_OF_NAMED_DOCUMENTS)
        # `shown_keys` grows block by block: an item that an earlier lookup found but had no room for may be shown now.
        for block in blocks:
            new_items = _unseen(block, shown_keys)
            notes = [block.note, "the rest was shown above" if len(new_items) < len(block.items) else ""]
            fitting = fit_block(block.model_copy(update={
                "items": tuple(_describe_once(new_items, described)), "note": "; ".join(filter(None, notes))}),
                share, least_items)
            share -= sum(map(item_cost, fitting.items))
            described.update(item.document for item in fitting.items if item.about)
            shown_keys.update(item.key for item in fitting.items)
            round_blocks.append(fitting)
        if isinstance(lookup, PassageLookup):
            spare = max(share, 0)  # the least items may have exceeded the share
    round_blocks += [Block(title=lookup, note=reason) for lookup, reason in omitted]
    return Round(thought=asked.thought, lookups=asked.lookups, blocks=tuple(round_blocks))


def _unseen(block: Block, shown_keys: Collection[str]) -> list[Passage]:
    return [item for item in block.items if item.key not in shown_keys]


def _divide_budget(costs: Sequence[int], asked: Round, tokens: int) -> list[int]:
    """Divide the budget of a round among its lookups, given what each costs: lists come first, then passages."""
    shares = [0] * len(costs)
    passages = [index for index, lookup in enumerate(asked.lookups) if isinstance(lookup, PassageLookup)]
    lists = [index for index, lookup in enumerate(asked.lookups) if not isinstance(lookup, PassageLookup)]
    names_documents = any(isinstance(lookup, PassageLookup) and lookup.documents for lookup in asked.lookups)

    def divide(tokens_left: int, indices: list[int]) -> None:
        """Write the shares of some lookups, given by their places, into `shares`; together they get `tokens_left`."""
        # The cheapest lookup comes first, so that what it leaves is divided among those that need more.
        for done_count, index in enumerate(sorted(indices, key=lambda index: costs[index])):
            equal_share = tokens_left // (len(indices) - done_count)
            shares[index] = min(costs[index], equal_share, tokens)  # no lookup alone exceeds the budget of the round
            tokens_left -= shares[index]

    divide(tokens * _BUDGETS_FOR_LISTS, lists)
    left_by_lists = tokens - sum(shares)
    most_for_passages = int(tokens * (_MOST_FOR_NAMED_DOCUMENTS if names_documents else _MOST_FOR_PASSAGES))
    least_for_passages = int(tokens * _LEAST_FOR_PASSAGES)
    divide(max(min(left_by_lists, most_for_passages), least_for_passages), passages)
    return shares


def _describe_once(items: Iterable[Passage], described: Collection[str]) -> Iterator[Passage]:
    """Yield items, each without its document's metadata if that was shown before or is with an earlier item."""
    known = set(described)
    for item in items:
        yield item.model_copy(update={"about": ""}) if item.document in known else item
        if item.about:
            known.add(item.document)


def dropped_numbers(rounds: Sequence[Round], dropped: Collection[int], tokens: int) -> list[int]:
    """Return the numbers of all items to leave out of prompts, so that the others fit the budget of estimated tokens.

    Dropped items stay dropped; then the oldest passages go, and then lines, but none of the last round and no table.
    """
    numbered = [*enumerate(items_of(rounds), 1)]
    earlier_count = len(numbered) - len(list(items_of(rounds[-1:])))
    all_dropped = set(dropped)
    counted = [(number, item) for number, item in numbered if item.kind != "table" and number not in all_dropped]
    tokens_left = tokens - sum(item_cost(item) for _, item in counted)
    earlier = [(number, item) for number, item in counted if number <= earlier_count]
    earlier.sort(key=lambda pair: pair[1].kind != "passage")  # stable, so each kind stays in order of age
    for number, item in earlier:
        if tokens_left >= 0:
            break
        all_dropped.add(number)
        tokens_left += item_cost(item)
    return sorted(all_dropped)


def useful_tools(retrievers: Retrievers, tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return the lookups that can find anything: those over the graph and tables are left out if there are none."""
    indexes = [retriever.index for retriever in retrievers.values()]
    has_facts = any(index.relation_counts or index.attribute_counts for index in indexes)
    if has_facts:  # they are read as tables, too
        return tuple(tools)
    useful = {"passage_search", "community_search"}  # without a graph, reports are on the documents as a whole
    if any(map(shown_tables, indexes)):
        useful.add("table_query")
    return tuple(tool for tool in tools if tool in useful)


def terms_of_bases(retrievers: Retrievers, question: str, *, are_tables_shown: bool) -> str:
    """Return the relations and attributes of each knowledge base that a question may mean, "" if there are none.

    If they do not all fit, those that it names come first, then those that are nearest to it or have many rows; of the
    others the number is given. If tables are shown, which have more detail, their columns are left out.
    """
    texts = {base: _terms_text(retriever, question, are_tables_shown=are_tables_shown)
             for base, retriever in retrievers.items()}
    return "; ".join(f"{base}: {text}" if base else text for base, text in texts.items() if text)


def _terms_text(retriever: Retriever, question: str, *, are_tables_shown: bool) -> str:
    """Return the terms of one knowledge base, within their budget, in the order that `terms_of_bases` describes."""
    schema = retriever.index.store.schemas.current()
    labelled = retriever.labelled_terms(schema)
    columns = column_keys(retriever.index) if are_tables_shown else frozenset[str]()
    terms = [term for term in labelled.terms if label_key(term.name) not in columns]
    # If all fit, they need no order. Each term has a token at least, so no more terms than tokens can fit.
    most_terms = ", ".join(_describe_term(term, schema) for term in terms[:_TERM_TOKENS])
    if len(terms) > _TERM_TOKENS or estimate_tokens(most_terms) > _TERM_TOKENS:
        named = frozenset(labelled.named(question))
        cosines = retriever.term_cosines(retriever.compare(question).vector)
        terms.sort(key=lambda term: (term.name not in named,
                                     -cosines[term.name] - _COMMON_WEIGHT * math.log10(max(term.rows, 1)), term))
    shown, tokens_left = list[str](), _TERM_TOKENS
    for term in terms:
        description = _describe_term(term, schema)
        tokens_left -= estimate_tokens(description) + 1  # with the comma
        if tokens_left < 0:
            break
        shown.append(description)
    hidden_count = len(terms) - len(shown)
    return ", ".join([*shown, f"… {hidden_count} more"] if hidden_count else shown)


def _describe_term(term: Term, schema: GraphSchema) -> str:
    """Return a term with the types of its ends if each is one, such as "works_at person->company", else its name."""
    # An open schema defines no types for its relations.
    relation = None if term.is_attribute or schema.open else schema.relation_type(term.name)
    if relation is None or len(relation.domain) != 1 or len(relation.range) != 1:
        return term.name
    ends = [*relation.domain, *relation.range]
    return term.name if ANY in ends else f"{term.name} {'->'.join(ends)}"
