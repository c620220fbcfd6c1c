"""Facts and values of the graph as rows, and rows as citable lines that a model reads in few tokens."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from ..graph_store.graph.knowledge_graph import Places
from ..schemas.retrieval import Kind, Passage, Place
from ..text.times import Validity, read_day
from .index import Dated, RetrievalIndex

_PER_LINE = 12
"""Members of one line: a longer list goes on in the next line, so that it is cut and cited in parts."""
_MOST_PLACES = 3
"""Places of one member that can be cited."""
_MOST_DOCUMENTS = 2
"""Documents that are named behind one member of a line."""
_LONGEST_VALUE = 300
"""Characters of a value on a line; the whole is in its source."""


class FactRow(NamedTuple):
    """A triple or value: names and ids of its ends (a value has no id), when it holds, and where that is stated."""

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


Side = Callable[[FactRow], str]
"""Returns one end of a row, as it is shown."""


def triple_rows(index: RetrievalIndex, rows: Iterable[int]) -> Iterator[FactRow]:
    """Yield the triples of some rows of the index."""
    for row in rows:
        head, relation, tail = index.edges[row]
        dated = index.dated(row)
        spans = [span for span in index.spans(row) if dated.is_of(span[0])]
        names = index.name(head), index.name(tail)
        yield FactRow(names[0], relation, names[1], (head, tail), dated.validity, _places(index, spans, ""))


def value_rows(index: RetrievalIndex, entity: str, held: Mapping[str, Mapping[str, Places]] | None = None,
               ) -> Iterator[FactRow]:
    """Yield some values of an entity with their places in chunks, by attribute, or all that describe it; sorted."""
    times, name = index.dated_values(entity), index.name(entity)
    for attribute, values in sorted((index.graph.told(entity) if held is None else held).items()):
        for value, support in sorted(values.items()):
            dated = times.get((attribute, value), Dated())
            spans = [(chunk, start, end) for chunk, (start, end) in sorted(support.items()) if dated.is_of(chunk)]
            yield FactRow(name, attribute, value, (entity, ""), dated.validity, _places(index, spans, value))


def _places(index: RetrievalIndex, spans: Iterable[tuple[str, int, int]], member: str) -> tuple[Place, ...]:
    found = []
    for key, start, end in spans:
        chunk = index.chunks[index.chunk_row[key]]
        found.append(Place(document=chunk.document_id, start=chunk.start + start, text=chunk.text[start:end],
                           member=member))
    return tuple(found)


def holding_at(rows: Iterable[FactRow], at: str) -> list[FactRow]:
    """Return the rows that hold at a date; all if it is empty.

    Raises:
        DateError: `at` is no date with a year.
    """
    day = read_day(at) if at else None
    return [row for row in rows if day is None or row.validity.holds(*day)]


def split_shared_note(rows: Sequence[FactRow]) -> tuple[list[FactRow], str]:
    """Return rows without the qualifiers that all of them have, if there are several, and these in words."""
    note = rows[0].validity.note() if len(rows) > 1 else ""
    is_shared = bool(note) and all(time.kind == "with" for time in rows[0].validity.times) and all(
        row.validity.note() == note for row in rows)
    return ([row._replace(validity=Validity()) for row in rows], note) if is_shared else ([*rows], "")


def graph_item(places: Sequence[Place], statement: str, title: str = "", kind: Kind = "fact",
               cells: tuple[str, ...] = ()) -> Passage:
    """Return what the graph says in a line as an item that its places, at least one, support."""
    first = places[0]
    return Passage(chunk_id="", document=first.document, title=title.replace("_", " "), text=first.text,
                   start=first.start, score=0.0, kind=kind, statement=statement, cells=cells, places=tuple(places))


def row_items(rows: Sequence[FactRow], lead: str, side: Side, beside: Mapping[str, str] | None = None,
              ) -> Iterator[Passage]:
    """Yield rows that share all but one end as lines of several: `lead: end; end (document)`.

    Args:
        rows: each with a place.
        lead: the beginning of the line.
        side: the end that differs.
        beside: what is said in brackets behind a row, by the id of its head.
    """
    for start in range(0, len(rows), _PER_LINE):
        yield _line(rows[start:start + _PER_LINE], lead, side, beside or {})


def rows_item(rows: Sequence[FactRow], text: str, total: int) -> Passage:
    """Return a line that some rows of a total support, such as a count."""
    documents = tuple(dict.fromkeys(document for row in rows for document in row.documents))
    more = f" +{total - _MOST_DOCUMENTS}" if min(len(documents), total) > _MOST_DOCUMENTS else ""
    return graph_item([row.places[0] for row in rows], f"{text} ({', '.join(documents[:_MOST_DOCUMENTS])}{more})",
                      rows[0].relation)


def _line(rows: Sequence[FactRow], lead: str, side: Side, beside: Mapping[str, str]) -> Passage:
    own = len({row.documents for row in rows}) > 1
    members = [_member(row, side, beside.get(row.ends[0], ""), with_documents=own) for row in rows]
    places = [place.model_copy(update={"member": side(row)}) for row in rows for place in row.places[:_MOST_PLACES]]
    first = rows[0]
    cells = (first.head, first.relation, first.tail, *filter(None, [first.validity.note()])) if len(rows) == 1 else ()
    text = f"{lead}{'; '.join(members)}{'' if own else _document_note(first.documents)}"
    return graph_item(places, text, first.relation, cells=cells)


def _member(row: FactRow, side: Side, beside: str, *, with_documents: bool) -> str:
    """Write one end of a fact among others of its line, with other fields of it, its time, and its documents."""
    value = " ".join(side(row).split())
    value = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}…"
    fields = f" [{beside}]" if beside else ""
    is_named = _names_document(value, row.documents)
    documents = _document_note(row.documents) if with_documents and not is_named else ""
    return f"{row.validity.with_note(value)}{fields}{documents}"


def _names_document(text: str, documents: Sequence[str]) -> bool:
    """Return True if words have the name of the only document's file: "EIP-20: Token" has that of eip-20.md."""
    stem = re.escape(PurePosixPath(documents[0]).stem)
    return len(documents) == 1 and re.search(rf"(?<![^\W_]){stem}(?![^\W_])", text, re.IGNORECASE) is not None


def _document_note(documents: Sequence[str]) -> str:
    more = f" +{len(documents) - _MOST_DOCUMENTS}" if len(documents) > _MOST_DOCUMENTS else ""
    return f" ({', '.join(documents[:_MOST_DOCUMENTS])}{more})" if documents else ""


def head_of(row: FactRow) -> str:
    """Return the name of a row's head."""
    return row.head


def tail_of(row: FactRow) -> str:
    """Return the name of a row's tail, or its value."""
    return row.tail


def sides_by_repetition(rows: Sequence[FactRow]) -> tuple[Side, Side]:
    """Return the end that repeats most over some rows, to group by, and the other one."""
    heads, tails = Counter(row.head for row in rows), Counter(row.tail for row in rows)
    return (tail_of, head_of) if len(tails) < len(heads) else (head_of, tail_of)
