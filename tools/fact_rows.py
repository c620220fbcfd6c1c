"""Facts and values of the graph as rows, and rows as citable lines that a model reads in few tokens."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import PurePosixPath
from typing import NamedTuple

from ..graph_store.graph.knowledge_graph import Places
from ..graph_store.graph_index import Dated, GraphIndex
from ..schemas.inquiry import Block
from ..schemas.retrieval import Kind, Passage, Place
from ..text.scripts import estimate_tokens
from ..text.times import Validity, read_day

PER_LINE = 12  # how many facts share one line: a longer list takes several, so that it can be cut and cited in parts
_MOST_PLACES = 3  # how many places of one fact on a line can be cited
_MOST_DOCUMENTS = 2  # how many documents are named after one fact on a line
_LONGEST_VALUE = 300  # characters of a value on a line; a longer one is cut, and its source has the whole
_MOST_TITLES = 4  # how many relations of lines that were left out are named
MARK_TOKENS = 4  # estimated tokens of the number and the mark that precede an item in a prompt


class FactRow(NamedTuple):
    """A triple, or a value of an attribute: its two ends, when it holds, and the places that state it.

    `head` and `tail` are names (or a value), `ends` are the ids of the entities; a value has "" for the second one.
    """

    head: str
    relation: str
    tail: str
    ends: tuple[str, str]
    validity: Validity
    places: tuple[Place, ...]

    @property
    def documents(self) -> tuple[str, ...]:
        """The documents that state it, sorted."""
        return tuple(sorted({place.document for place in self.places}))


Side = Callable[[FactRow], str]  # returns one end of a row, as it is shown
head_of: Side = attrgetter("head")
tail_of: Side = attrgetter("tail")


def triple_rows(index: GraphIndex, rows: Iterable[int]) -> Iterator[FactRow]:
    """Yield triples, given by their rows in the index. If some chunks say when one holds, only these are its places."""
    for row in rows:
        head, relation, tail = index.edge(row)
        dated = index.dated(row)
        spans = [(chunk, start, end) for chunk, (start, end, _) in index.support(row).items() if dated.covers(chunk)]
        yield FactRow(index.name(head), relation, index.name(tail), (head, tail), dated.validity,
                      _places(index, spans, ""))


def value_rows(index: GraphIndex, entity: str, held: Mapping[str, Mapping[str, Places]] | None = None,
               ) -> Iterator[FactRow]:
    """Yield the values of an entity that describe it, as rows sorted by attribute and value.

    `held` are values to yield instead, by attribute, each with the places that state it.
    """
    times, name = index.dated_values(entity), index.name(entity)
    for attribute, values in sorted((index.descriptive_values(entity) if held is None else held).items()):
        for value, support in sorted(values.items()):
            dated = times.get((attribute, value), Dated())
            spans = [(chunk, start, end) for chunk, (start, end) in sorted(support.items()) if dated.covers(chunk)]
            yield FactRow(name, attribute, value, (entity, ""), dated.validity, _places(index, spans, value))


def _places(index: GraphIndex, spans: Iterable[tuple[str, int, int]], member: str) -> tuple[Place, ...]:
    """Return the places of (chunk, start, end)s; `member` is the value that they support, "" for a triple."""
    located = ((index.chunks[index.chunk_row[key]], start, end) for key, start, end in spans)
    return tuple(Place(document=chunk.document_id, start=chunk.start + start, text=chunk.text[start:end], member=member)
                 for chunk, start, end in located)


def holding_at(rows: Iterable[FactRow], at: str) -> list[FactRow]:
    """Return the rows that hold at a date; all rows if the date is "".

    Raises:
        DateError: `at` is no date with a year.
    """
    day = read_day(at) if at else None
    return [row for row in rows if day is None or row.validity.holds(*day)]


def graph_item(places: Sequence[Place], statement: str, title: str = "", kind: Kind = "fact",
               cells: tuple[str, ...] = ()) -> Passage:
    """Return a citable item for a line of the graph, which is read as `statement` and supported by at least one place.

    `cells` are the parts of a single fact: head, relation, tail and time.
    """
    first = places[0]
    return Passage(chunk_id="", document=first.document, title=title.replace("_", " "), text=first.text,
                   start=first.start, score=0.0, kind=kind, statement=statement, cells=cells, places=tuple(places))


def row_items(rows: Sequence[FactRow], lead: str, side: Side) -> Iterator[Passage]:
    """Yield rows that share a relation and one end as lines, several rows a line: "lead end; end (document)".

    `lead` has the relation and the shared end; `side` returns the other one.
    """
    for start in range(0, len(rows), PER_LINE):
        yield _line(rows[start:start + PER_LINE], lead, side)


def _line(rows: Sequence[FactRow], lead: str, side: Side) -> Passage:
    """Return some rows as one line (see `row_items`), which says once what rows in succession share of their times."""
    have_different_documents = len({row.documents for row in rows}) > 1
    members = list[str]()
    for note, group in groupby(rows, key=lambda row: row.validity.note()):
        same = list(group)
        shared = f" (all {note})" if note and len(same) > 1 else ""
        texts = (_member(row, side, "" if shared else note, with_documents=have_different_documents) for row in same)
        members.append(f"{'; '.join(texts)}{shared}")
    places = [place.model_copy(update={"member": side(row)}) for row in rows for place in row.places[:_MOST_PLACES]]
    first, cells = rows[0], tuple[str, ...]()
    if len(rows) == 1:  # only such a line can be a short answer
        cells = (first.head, first.relation, first.tail, *filter(None, [first.validity.note()]))
    documents = "" if have_different_documents else _document_note(first.documents)
    return graph_item(places, f"{lead}{'; '.join(members)}{documents}", first.relation, cells=cells)


def _member(row: FactRow, side: Side, note: str, *, with_documents: bool) -> str:
    """Return one row of a line: "end (time) (documents)"; a long end is cut."""
    value = " ".join(side(row).split())
    value = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}…"
    stem = re.escape(PurePosixPath(row.documents[0]).stem)
    # "EIP-20: Token" names its only document eip-20.md itself.
    names_it = len(row.documents) == 1 and re.search(rf"(?<![^\W_]){stem}(?![^\W_])", value, re.IGNORECASE)
    documents = _document_note(row.documents) if with_documents and not names_it else ""
    return f"{value} ({note}){documents}" if note else f"{value}{documents}"


def _document_note(documents: Sequence[str]) -> str:
    """Return the first documents in brackets, with the number of the others: " (a.md, b.md +3)"."""
    more = f" +{len(documents) - _MOST_DOCUMENTS}" if len(documents) > _MOST_DOCUMENTS else ""
    return f" ({', '.join(documents[:_MOST_DOCUMENTS])}{more})" if documents else ""


def sides_by_repetition(rows: Sequence[FactRow]) -> tuple[Side, Side]:
    """Return the end with fewer different names in some rows, by which they are grouped, and then the other end."""
    heads, tails = Counter(row.head for row in rows), Counter(row.tail for row in rows)
    return (tail_of, head_of) if len(tails) < len(heads) else (head_of, tail_of)


def item_cost(item: Passage) -> int:
    """Return the estimated tokens of an item in a prompt: its statement, or a passage's header and text."""
    if item.statement:
        return estimate_tokens(item.statement) + MARK_TOKENS
    return estimate_tokens(item.header) + estimate_tokens(item.text) + MARK_TOKENS


def fit_lines(items: Sequence[Passage], tokens: int, at_least: int = 1) -> tuple[list[Passage], int]:
    """Return the first items that fit a budget, or at least so many, and the number of those left out."""
    shown: list[Passage] = []
    for item in items:
        tokens -= item_cost(item)
        if tokens < 0 and len(shown) >= at_least:
            break
        shown.append(item)
    return shown, len(items) - len(shown)


def fit_block(block: Block, tokens: int, at_least: int = 1) -> Block:
    """Return a block with the first items that fit a budget, at least some if it is above 0, and what is left out."""
    shown, left = fit_lines(block.items, tokens, at_least) if tokens > 0 else ([], len(block.items))
    if not left:
        return block
    omitted_titles = dict.fromkeys(item.title for item in block.items[len(shown):])
    has_one_title = len({item.title for item in block.items}) == 1  # then the block's own title says it
    named = [] if has_one_title else list(omitted_titles)[:_MOST_TITLES]
    hint = block.left_hint or (f"lines: {', '.join(named)}" if named else "")
    return block.model_copy(update={"items": tuple(shown), "left": block.left + left, "left_hint": hint})


def fit_blocks(blocks: Sequence[Block], tokens: int) -> list[Block]:
    """Return the blocks of one lookup, each with the items that fit an equal share of a budget."""
    return [fit_block(block, tokens // len(blocks)) for block in blocks]
