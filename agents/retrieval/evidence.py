"""The evidence for a question, gathered in rounds: items are only appended, none twice, all within one token budget."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from ...schemas.graph_schema import GraphSchema
from ...schemas.inquiry import Block, Round
from ...schemas.lookups import Lookup, PassageLookup
from ...schemas.retrieval import Passage
from ...text.tokens import estimate_tokens
from ...tools.fact_rows import fit_lines, item_cost
from ...tools.passages import AT_LEAST
from ...tools.retriever import Retriever
from ...tools.schema_names import Term

ROUND_SHARE = 1 / 4
"""The share of the budget of all evidence that the first look, and each round of lookups, may add."""
_TERM_TOKENS = 200
"""Limit on the estimated tokens of the terms, because they are in every prompt of a question."""
_LARGEST_SHARE = 1 / 2
"""The share of the tokens for the terms with the most rows, whatever the question is."""
_SHOWN_ABOVE = "the rest was shown above"


def items_of(rounds: Iterable[Round]) -> Iterator[Passage]:
    """Yield the items of rounds in the order of their numbers."""
    for lookup_round in rounds:
        for block in lookup_round.blocks:
            yield from block.items


def seen_passages(rounds: Iterable[Round]) -> list[str]:
    """Return the keys of the passages that were shown.

    The key of a passage that was cut differs from the whole passage's key, so the whole one counts as not shown.
    """
    return [item.key for item in items_of(rounds) if item.kind == "passage"]


def split_repeated(lookups: Sequence[Lookup], rounds: Sequence[Round]) -> tuple[list[Lookup], list[Lookup]]:
    """Split lookups into those to make and those that would only repeat an earlier one; duplicates are dropped.

    A lookup is a repetition if it was the only one of an earlier round: it then had the whole budget of the round.
    Searching passages again, or repeating a lookup that shared its round's budget, shows what was left out before.
    """
    sole_lookups = (earlier.lookups[0] for earlier in rounds if len(earlier.lookups) == 1)
    exhausted = {lookup for lookup in sole_lookups if not isinstance(lookup, PassageLookup)}
    requested = list(dict.fromkeys(lookups))
    return ([lookup for lookup in requested if lookup not in exhausted],
            [lookup for lookup in requested if lookup in exhausted])


def completed_round(rounds: Sequence[Round], asked: Round, found: Sequence[Sequence[Block]], tokens: int,
                    omitted: Sequence[tuple[str, str]] = ()) -> Round:
    """Return a round with what its lookups found, without items that were shown before or by an earlier lookup.

    Args:
        rounds: the earlier rounds.
        asked: the round's thought and lookups.
        found: for each of its lookups, the blocks that it found.
        tokens: the budget of the round, estimated tokens; a lookup that needs less leaves the rest to the others.
        omitted: lookups that were asked for and not made, each with the reason.
    """
    shown_keys = {item.key for item in items_of(rounds)}
    # A document is described once its metadata was shown, or the passage at its beginning, which contains it.
    described = {item.document for item in items_of(rounds)
                 if item.about or (item.kind == "passage" and item.start == 0)}
    costs = [sum(item_cost(item) for block in lookup_blocks for item in block.items if item.key not in shown_keys)
             for lookup_blocks in found]
    min_passages = max(1, AT_LEAST // max(1, len(found)))  # the lookups of a round share `AT_LEAST`
    round_blocks = list[Block]()
    for lookup_blocks, share in zip(found, _shares(costs, tokens), strict=True):
        # `shown_keys` grows block by block: an item that an earlier lookup found but had no room for may be shown now.
        new_blocks = (_without_shown(block, shown_keys) for block in lookup_blocks)
        for block in _fit_blocks(new_blocks, share, min_passages, described):
            shown_keys.update(item.key for item in block.items)
            round_blocks.append(block)
    round_blocks += [Block(title=lookup, note=reason) for lookup, reason in omitted]
    return Round(thought=asked.thought, lookups=asked.lookups, blocks=tuple(round_blocks))


def _without_shown(block: Block, shown_keys: Collection[str]) -> Block:
    """Return a block without items that were shown before; if it had any, its note says so."""
    new_items = tuple(item for item in block.items if item.key not in shown_keys)
    has_repetition = len(new_items) < len(block.items)
    note = "; ".join(filter(None, [block.note, _SHOWN_ABOVE])) if has_repetition else block.note
    return block.model_copy(update={"items": new_items, "note": note})


def _shares(costs: Sequence[int], tokens: int) -> list[int]:
    """Divide a budget among lookups in equal shares; what one does not need, by its cost, goes to the others."""
    shares = [0] * len(costs)
    # The cheapest lookup comes first, so that what it leaves is divided among those that need more.
    for served_count, lookup_index in enumerate(sorted(range(len(costs)), key=lambda index: costs[index])):
        shares[lookup_index] = min(costs[lookup_index], tokens // (len(costs) - served_count))
        tokens -= shares[lookup_index]
    return shares


def _fit_blocks(blocks: Iterable[Block], tokens: int, min_passages: int, described: set[str]) -> Iterator[Block]:
    """Yield the blocks of one lookup with only the items that fit its share; notes say how many were left out."""
    for block in blocks:
        items = list(_describe_once(block.items, described))
        are_passages = bool(items) and items[0].kind == "passage"
        at_least = min_passages if are_passages else 1
        shown, left = fit_lines(items, tokens, at_least) if tokens > 0 else ([], len(items))
        tokens -= sum(map(item_cost, shown))
        described.update(item.document for item in shown if item.about)
        more = f"{left} more passages: the same query shows them" if are_passages else f"{left} more lines: narrow it"
        note = "; ".join(filter(None, [block.note, more if left else ""]))
        yield block.model_copy(update={"items": tuple(shown), "note": note})


def _describe_once(items: Iterable[Passage], described: Collection[str]) -> Iterator[Passage]:
    """Yield items, each without its document's metadata if that was shown before or is with an earlier item."""
    known = set(described)
    for item in items:
        yield item.model_copy(update={"about": ""}) if item.document in known else item
        if item.about:
            known.add(item.document)


def dropped_numbers(rounds: Sequence[Round], kept: Collection[int], dropped: Collection[int], tokens: int) -> list[int]:
    """Return the numbers of all items to leave out of prompts, so that the others fit the budget.

    Items that were dropped before stay dropped. Then the oldest are dropped, until the rest fits. Items that a reply
    asked to keep, and those of the last round, are never dropped.

    Args:
        rounds: all rounds, the newest last.
        kept: the numbers, from 1, of the items that replies asked to keep.
        dropped: the numbers of items that were dropped before.
        tokens: the budget, estimated tokens.
    """
    items = list(items_of(rounds))
    earlier_count = len(items) - len(list(items_of(rounds[-1:])))
    all_dropped = set(dropped)
    tokens_left = tokens - sum(item_cost(item) for number, item in enumerate(items, 1) if number not in all_dropped)
    for number, item in enumerate(items[:earlier_count], 1):
        if tokens_left >= 0:
            break
        if number not in all_dropped and number not in kept:
            all_dropped.add(number)
            tokens_left += item_cost(item)
    return sorted(all_dropped)


def terms_text(retriever: Retriever, schema: GraphSchema, question: str) -> str:
    """Return the schema's terms, each with its number of rows, as one line of a prompt.

    If they do not all fit, half of the tokens go to the terms with the most rows. The other half goes to the terms that
    the question names, and then to those nearest to it by embedding.
    """
    terms = retriever.labelled_terms(schema).terms
    described = {term: _describe_term(term, schema) for term in terms}
    all_terms = ", ".join(described.values())
    if estimate_tokens(all_terms) <= _TERM_TOKENS:
        return all_terms
    costs = {term: estimate_tokens(text) + 1 for term, text in described.items()}
    by_rows = sorted(terms, key=lambda term: (-term.rows, term.name))
    chosen = _first_fitting(by_rows, costs, int(_TERM_TOKENS * _LARGEST_SHARE))
    near = [term for term in _by_nearness(retriever, schema, question, terms) if term not in chosen]
    chosen |= _first_fitting(near, costs, _TERM_TOKENS - sum(costs[term] for term in chosen))
    return f"{', '.join(described[term] for term in terms if term in chosen)}, … {len(terms) - len(chosen)} more"


def _first_fitting(terms: Sequence[Term], costs: Mapping[Term, int], tokens: int) -> set[Term]:
    """Return the first terms whose costs together are within a number of tokens."""
    running_totals = accumulate(costs[term] for term in terms)
    return {term for term, total in zip(terms, running_totals, strict=True) if total <= tokens}


def _describe_term(term: Term, schema: GraphSchema) -> str:
    """Return a term with its number of rows, such as "works_at person->company 12"."""
    relation = None if term.is_attribute or schema.open else schema.relation_type(term.name)
    has_single_types = relation is not None and len(relation.domain) == len(relation.range) == 1
    types = f" {relation.domain[0]}->{relation.range[0]}" if relation and has_single_types else ""
    return f"{term.name}{types} {term.rows}"


def _by_nearness(retriever: Retriever, schema: GraphSchema, question: str, terms: Sequence[Term]) -> list[Term]:
    """Return the terms with those that the question names first, each group by falling cosine with the question."""
    named = frozenset(retriever.labelled_terms(schema).named(question))
    cosines = retriever.term_cosines(retriever.embed([question])[0])
    return sorted(terms, key=lambda term: (term.name not in named, -cosines[term.name], term))
