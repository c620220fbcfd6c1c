"""The result of a query as citable items: a line for each row, and what the numbers rest on."""

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import sqlglot

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
_PAIR = 2
_WORD = re.compile(r"[^\W_]+")
NONE = "(none)"
"""A cell without a value."""
_MIDNIGHT = " 00:00:00"
"""The time of a date that has none."""

_PHRASES: dict[Language, dict[str, str]] = {
    "en": {"over": "from {} records", "over_one": "from 1 record", "over_of": "from {} of {} records",
           "chosen": "the rows chosen rest on {} records", "chosen_one": "the rows chosen rest on 1 record",
           "empty": "{} have no {}", "untyped": "{} have another kind of {}",
           "unknown": "over which records cannot be told", "joint": "; "},
    "zh": {"over": "依据 {} 条记录", "over_one": "依据 1 条记录", "over_of": "依据 {1} 条记录中的 {0} 条",
           "chosen": "所选各行依据 {} 条记录", "chosen_one": "所选各行依据 1 条记录",
           "empty": "{} 条没有 {}", "untyped": "{} 条的 {} 类型不同", "unknown": "无法说明依据哪些记录", "joint": "；"}}


def result_block(result: SqlResult, tokens: int, *, notes: Sequence[str] = (), plain: Collection[str] = (),
                 find_records: Callable[[int], Sequence[Citation]] = lambda _: (), understood: str = "") -> Block:
    """Return a query's result as a block: the query and its columns as the title, a citable item for each row.

    The note says over how many records the numbers are, and what these lack.

    Args:
        result: what the query returned.
        tokens: the budget of the items, estimated tokens.
        notes: further notes, such as how the query was repaired.
        plain: the names of the tables' columns: numbers under these names are as the documents have them, others were
            computed.
        find_records: returns the records to cite for a row, by its number, if no record of the result names the row.
        understood: how a question was read as the query, in words.
    """
    query = " ".join(result.sql.split())
    basis = Basis(query=query, understood=understood, records=result.records, left_out=result.left_out)
    items = [_row_item(result, number, basis, plain) for number in range(len(result.rows))]
    fitting, _ = fit_lines([item for item, _ in items], tokens)
    shown = [_cite_records(item, cells, result.citations, partial(find_records, number))
             for number, (item, cells) in enumerate(items[:len(fitting)])]
    # Notes of blocks are in English, for the model that reads them. Without `records`, `result.notes` say why the
    # records are unknown.
    over = basis_text(basis, "en") if result.records is not None else ""
    notes = [over, "" if result.total else "no row", *result.notes, *notes]
    columns = [f"{name}: list" if kind == "list" else name
               for name, kind in zip(result.columns, result.kinds, strict=True)]
    return Block(title=f"{query} ({', '.join(columns)})", items=tuple(shown), left=result.total - len(shown),
                 note="; ".join(filter(None, notes)), table=TableQuery(sql=result.sql))


def basis_text(basis: Basis, language: Language) -> str:
    """Return over which records a number is, in words: "from 31 of 33 records; 2 have no body_mass".

    How a question was read as the query comes first, in English answers: there are no other words for it.
    """
    phrases, records = _PHRASES[language], basis.records
    understood = [basis.understood] if basis.understood and language == "en" else []
    if records is None:
        return phrases["joint"].join([*understood, phrases["unknown"]])
    lacks = [phrases[reason].format(f"{count:,}", left_out.column) for left_out in basis.left_out
             for reason, count in (("empty", left_out.empty), ("untyped", left_out.untyped)) if count]
    missing = {left_out.column: left_out.empty + left_out.untyped for left_out in basis.left_out}
    try:
        tree = sqlglot.parse_one(basis.query, dialect="duckdb")
    except sqlglot.errors.SqlglotError:
        tree = sqlglot.exp.Select()
    # A query that chooses among groups looked at more records than the chosen ones rest on.
    total, chosen = f"{records:,}", any(tree.args.get(clause) is not None for clause in ("having", "qualify"))
    if lacks and len(missing) == 1 and not chosen:
        over = phrases["over_of"].format(f"{records - sum(missing.values()):,}", total)
    else:
        over = phrases[f"{'chosen' if chosen else 'over'}{'_one' if records == 1 else ''}"].format(total)
    return phrases["joint"].join([*understood, over, *lacks])


def _row_item(result: SqlResult, number: int, basis: Basis, plain: Collection[str]) -> tuple[Passage, list[str]]:
    """Return a row of a result as an item without its records, and the texts by which records name it."""
    cells = [_cell_text(value, unit, is_plain=name in plain)
             for name, value, unit in zip(result.columns, result.rows[number], result.units, strict=True)]
    is_named = len(result.rows) <= _FEW_ROWS
    named = "; ".join(f"{name}: {cell}" for name, cell in zip(result.columns, cells, strict=True))
    texts = [cell for cell, kind in zip(cells, result.kinds, strict=True) if kind != "number" and cell != NONE]
    item = Passage(chunk_id="", document="", title="", text="", start=0, score=0.0, kind="row",
                   statement=named if is_named else _joined(cells), cells=(_joined(cells),), basis=basis)
    return item, texts or [cell for cell in cells if cell != NONE]


def _cite_records(item: Passage, texts: Sequence[str], citations: Sequence[Citation],
                  find_records: Callable[[], Sequence[Citation]]) -> Passage:
    """Return a row that cites the records that name it; without any record it can be read, but not cited."""
    naming = [citation for citation in citations if _names(citation.quote, texts)]
    records = naming or find_records() or citations
    if not records:
        return item
    records = records[:_MOST_PLACES]
    places = tuple(Place(document=one.document, start=one.start, text=one.quote) for one in records)
    first = places[0]
    return item.model_copy(update={"document": first.document, "start": first.start, "text": first.text,
                                   "places": places})


def _cell_text(value: Any, unit: str, *, is_plain: bool) -> str:
    """Return a cell as people write it; a plain integer without a unit keeps its digits, as it may be a postcode."""
    is_key = is_plain and not unit and isinstance(value, int) and not isinstance(value, bool)
    text = str(value) if is_key else show_value(value, unit)
    return " ".join(text.removesuffix(_MIDNIGHT).split()) or NONE


def _joined(cells: Sequence[str]) -> str:
    return ": ".join(cells) if len(cells) == _PAIR else " | ".join(cells)


def _names(quote: str, texts: Sequence[str]) -> bool:
    """Return True if a record has all of some texts as words of their own."""
    record, *wanted = (f" {' '.join(_WORD.findall(normalise(text)))} " for text in (quote, *texts))
    return bool(wanted) and all(words in record for words in wanted)
