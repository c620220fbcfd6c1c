"""The rounds of a question: items are only ever appended, nothing is shown twice, and all of it is in one budget."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from ...schemas.inquiry import Block, Round
from ...schemas.lookups import Lookup, PassageLookup, lookup_text
from ...schemas.retrieval import Passage
from ...tools.line_budget import fit_lines, item_cost
from ...tools.passages import AT_LEAST

ROUND_SHARE = 1 / 4
"""Of the budget of all evidence: what the first look, and each round of lookups, may add."""
_SHOWN_ABOVE = "the rest was shown above"


def items_of(rounds: Iterable[Round]) -> Iterator[Passage]:
    """Yield the items of rounds in the order of their numbers."""
    for one in rounds:
        for block in one.blocks:
            yield from block.items


def seen_passages(rounds: Iterable[Round]) -> list[str]:
    """Return the keys of the passages that were shown; of one that was cut, the whole was not."""
    return [item.key for item in items_of(rounds) if item.kind == "passage"]


def split_repeated(lookups: Sequence[Lookup], rounds: Sequence[Round]) -> tuple[list[Lookup], list[Lookup]]:
    """Return the lookups that are new, and those that an earlier round made alone; each once.

    Passages are searched again, and so is what shared its budget with other lookups: then the next lines are shown.
    """
    alone = (one.lookups[0] for one in rounds if len(one.lookups) == 1)
    made = {lookup for lookup in alone if not isinstance(lookup, PassageLookup)}
    asked = list(dict.fromkeys(lookups))
    return [one for one in asked if one not in made], [one for one in asked if one in made]


def completed_round(rounds: Sequence[Round], asked: Round, found: Sequence[Sequence[Block]], tokens: int,
                    omitted: Sequence[tuple[Lookup, str]] = ()) -> Round:
    """Return a round with what its lookups found, without items that were shown before or by an earlier lookup.

    Args:
        rounds: the earlier ones.
        asked: the round's thought and lookups.
        found: what each of its lookups found.
        tokens: the budget of the round, estimated tokens; a lookup that needs less leaves the rest to the others.
        omitted: lookups that were asked for and not made, each with the reason.
    """
    known = {item.key for item in items_of(rounds)}
    described = {item.document for item in items_of(rounds)
                 if item.about or (item.kind == "passage" and item.start == 0)}
    costs = [sum(item_cost(item) for block in of_one for item in block.items if item.key not in known)
             for of_one in found]
    passages = max(1, AT_LEAST // max(1, len(found)))
    blocks = list[Block]()
    for of_one, share in zip(found, _shares(costs, tokens), strict=True):
        # What an earlier lookup found but did not show is not known yet.
        for block in _within((_without_known(block, known) for block in of_one), share, passages, described):
            known.update(item.key for item in block.items)
            blocks.append(block)
    blocks += [Block(title=lookup_text(lookup), note=why) for lookup, why in omitted]
    return Round(thought=asked.thought, lookups=asked.lookups, blocks=tuple(blocks))


def _without_known(block: Block, known: Collection[str]) -> Block:
    new = tuple(item for item in block.items if item.key not in known)
    note = block.note if len(new) == len(block.items) else "; ".join(filter(None, [block.note, _SHOWN_ABOVE]))
    return block.model_copy(update={"items": new, "note": note})


def _shares(costs: Sequence[int], tokens: int) -> list[int]:
    """Return what each of several lookups may show: all get the same, and what one does not need goes to the others."""
    shares = [0] * len(costs)
    for done, place in enumerate(sorted(range(len(costs)), key=lambda place: costs[place])):
        shares[place] = min(costs[place], tokens // (len(costs) - done))
        tokens -= shares[place]
    return shares


def _within(blocks: Iterable[Block], tokens: int, passages: int, described: set[str]) -> Iterator[Block]:
    """Yield blocks with the items that fit a share, at least some passages; a document's metadata is shown once."""
    for block in blocks:
        items = [_describe_once(item, described) for item in block.items]
        are_passages = bool(items) and items[0].kind == "passage"
        at_least = passages if are_passages else 1
        shown, left = fit_lines(items, tokens, at_least) if tokens > 0 else ([], len(items))
        tokens -= sum(map(item_cost, shown))
        more = f"{left} more passages: the same query shows them" if are_passages else f"{left} more lines: narrow it"
        note = "; ".join(filter(None, [block.note, more if left else ""]))
        yield block.model_copy(update={"items": tuple(shown), "note": note})


def _describe_once(item: Passage, described: set[str]) -> Passage:
    if not item.about:
        return item
    if item.document in described:
        return item.model_copy(update={"about": ""})
    described.add(item.document)
    return item


def dropped_numbers(rounds: Sequence[Round], kept: Collection[int], dropped: Collection[int], tokens: int) -> list[int]:
    """Return the numbers of the items that no longer fit the budget, those dropped before among them.

    The oldest items that no reply asked to keep go first; what was kept and the last round stay.

    Args:
        rounds: all rounds, the newest last.
        kept: the numbers, from 1, of the items that replies asked to keep.
        dropped: the numbers of items that were dropped before.
        tokens: the budget, estimated tokens.
    """
    items = list(items_of(rounds))
    newest = len(items) - len(list(items_of(rounds[-1:])))
    gone = set(dropped)
    left = tokens - sum(item_cost(item) for number, item in enumerate(items, 1) if number not in gone)
    for number, item in enumerate(items[:newest], 1):
        if left >= 0:
            break
        if number not in gone and number not in kept:
            gone.add(number)
            left += item_cost(item)
    return sorted(gone)
