"""The result of a query as citable items: a line for each row, and what the numbers rest on."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..schemas.documents import Citation
from ..schemas.inquiry import Block
from ..schemas.lookups import TableQuery
from ..schemas.naming import normalise
from ..schemas.records import Basis, SqlResult
from ..schemas.retrieval import Passage, Place
from ..text.languages import Language
from ..text.shown_numbers import show_value
from .fact_rows import fit_lines

_MOST_PLACES = 3
"""How many records one row of a result cites."""
_FEW_ROWS = 3
"""Up to this number of rows, each repeats the names of its columns."""
_SHORTEST_PART = 2
"""Characters of a value that is looked for in a record to find those that a row rests on."""
_PAIR = 2
_NONE = "–"
"""A cell without a value."""
_MIDNIGHT = " 00:00:00"
"""The time of a date that has none."""

_PHRASES: dict[Language, dict[str, str]] = {
    "en": {"over": "over {} records", "over_of": "over {} of {} records", "empty": "{} have no {}",
           "untyped": "{} have another kind of {}", "unknown": "over which records cannot be told", "joint": "; "},
    "zh": {"over": "依据 {} 条记录", "over_of": "依据 {1} 条记录中的 {0} 条", "empty": "{} 条没有 {}",
           "untyped": "{} 条的 {} 类型不同", "unknown": "无法说明依据哪些记录", "joint": "；"}}


def result_block(result: SqlResult, tokens: int, *, notes: Sequence[str] = (), plain: Collection[str] = (),
                 at_least: Sequence[Citation] = (), understood: str = "") -> Block:
    """Return a query's result as a block: the query and its columns as the title, a citable item for each row.

    The note says over how many records the numbers are, what these lack, and how many rows are not shown.

    Args:
        result: what the query returned.
        tokens: the budget of the items, estimated tokens.
        notes: further notes, such as how the query was repaired.
        plain: the names of the tables' columns: numbers under these names are as the documents have them, others were
            computed.
        at_least: what is cited if the result rests on no record: those that the query looked at.
        understood: how a question was read as the query, in words.
    """
    query = " ".join(result.sql.split())
    basis = Basis(query=query, understood=understood, records=result.records, left_out=result.left_out)
    items = [_row_item(result, number, basis, plain, result.citations or at_least)
             for number in range(len(result.rows))]
    shown, _ = fit_lines(items, tokens)
    over = basis_text(basis, "en") if result.records is not None else ""  # a note of the result says why
    notes = [over, _rest_text(result, len(shown)), *result.notes, *notes]
    return Block(title=f"{query} ({', '.join(result.columns)})", items=tuple(shown),
                 note="; ".join(filter(None, notes)), table=TableQuery(sql=result.sql))


def basis_text(basis: Basis, language: Language) -> str:
    """Return over which records a number is, in words: "over 31 of 33 records; 2 have no body_mass".

    How a question was read as the query comes first.
    """
    phrases = _PHRASES[language]
    over = _over_text(basis, phrases) if basis.records is not None else phrases["unknown"]
    return phrases["joint"].join(filter(None, [basis.understood, over]))


def _over_text(basis: Basis, phrases: Mapping[str, str]) -> str:
    """Return over how many records a number is, and how many lack a value for it."""
    records = basis.records or 0
    lacks = [phrases[reason].format(f"{count:,}", left_out.column) for left_out in basis.left_out
             for reason, count in (("empty", left_out.empty), ("untyped", left_out.untyped)) if count]
    missing = {left_out.column: left_out.empty + left_out.untyped for left_out in basis.left_out}
    total = f"{records:,}"
    if lacks and len(missing) == 1:
        used = records - sum(missing.values())
        return phrases["joint"].join([phrases["over_of"].format(f"{used:,}", total), *lacks])
    return phrases["joint"].join([phrases["over"].format(total), *lacks])


def _rest_text(result: SqlResult, shown: int) -> str:
    """Return how many rows of a result are not shown; "" if all are."""
    if not result.total:
        return "no row"
    left = result.total - shown
    return f"{left:,} more rows of {result.total:,}: narrow the query" if left > 0 else ""


def _row_item(result: SqlResult, number: int, basis: Basis, plain: Collection[str],
              citations: Sequence[Citation]) -> Passage:
    """Return a row of a result as an item that cites its records; without any it can be read, but not cited."""
    cells = [_cell_text(value, unit, is_plain=name in plain)
             for name, value, unit in zip(result.columns, result.rows[number], result.units, strict=True)]
    places = [Place(document=one.document, start=one.start, text=one.quote) for one in _records_of(cells, citations)]
    is_named = len(result.rows) <= _FEW_ROWS
    named = "; ".join(f"{name}: {cell}" for name, cell in zip(result.columns, cells, strict=True))
    first = places[0] if places else Place(document="", start=0, text="")
    return Passage(chunk_id="", document=first.document, title="", text=first.text, start=first.start, score=0.0,
                   kind="row", statement=named if is_named else _joined(cells), cells=(_joined(cells),),
                   places=tuple(places), basis=basis)


def _cell_text(value: Any, unit: str, *, is_plain: bool) -> str:
    """Return a cell as people write it; a plain integer without a unit keeps its digits, as it may be a postcode."""
    is_key = is_plain and not unit and isinstance(value, int) and not isinstance(value, bool)
    text = str(value) if is_key else show_value(value, unit)
    return " ".join(text.removesuffix(_MIDNIGHT).split()) or _NONE


def _joined(cells: Sequence[str]) -> str:
    return ": ".join(cells) if len(cells) == _PAIR else " | ".join(cells)


def _records_of(cells: Sequence[str], citations: Sequence[Citation]) -> list[Citation]:
    """Return the records that name most of a row's values, in their order; the first records if none names any."""
    parts = [normalise(cell) for cell in cells if len(cell) >= _SHORTEST_PART and cell != _NONE]
    counts = [sum(part in normalise(citation.quote) for part in parts) for citation in citations]
    most = max(counts, default=0)
    return [citation for citation, count in zip(citations, counts, strict=True) if count == most][:_MOST_PLACES]
