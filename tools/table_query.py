"""Run a query over the tables, with its texts as the documents write them, and return its result as citable items.

Each row of a result is a line that cites its records, and a note says what the numbers rest on.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any

import sqlglot
from rapidfuzz import fuzz, process
from sqlglot import exp

from ..graph_store.sql.checking import DIALECT, SqlError, join_names
from ..graph_store.sql.engine import SqlEngine
from ..graph_store.sql.logical_tables import literal, quoted
from ..graph_store.sql.tracing import MOST_PLACES
from ..schemas.documents import Citation
from ..schemas.inquiry import Block
from ..schemas.lookups import TableQuery
from ..schemas.naming import label_key, spaced_words
from ..schemas.records import Basis, ColumnInfo, SqlResult, TableInfo
from ..schemas.retrieval import Passage, Place
from ..text.quantities import show_value
from ..text.scripts import Language
from .fact_rows import fit_lines

_MOST_CHECKED = 8  # how many texts of a query are looked for in their columns
_MOST_NEAR = 5  # how many of a column's values a note names


def look_up_query(engine: SqlEngine, lookup: TableQuery, tokens: int) -> list[Block]:
    """Return the result of a query as a block of citable rows.

    A query that fails by its names is run once more with those that are meant, and so is one that compares a column
    with a text that it does not have. The note says what was changed. A query that fails is no error: the note says
    why, with the names that there are.
    """
    sql = lookup.sql.strip("`; \n\t").removeprefix("sql\n")  # models write it as a block of code
    try:
        result, notes = _run_repaired(engine, sql)
    except SqlError as error:
        return [Block(title=" ".join(lookup.sql.split()), note=str(error))]
    try:
        result, changes = _with_known_values(engine, result, engine.tables())
        notes += changes
    except SqlError as error:
        notes.append(f"its texts were not looked for in their columns: {error}")
    tree = parse_query(result.sql)
    if result.records == 0 and tree is not None and tree.find(exp.Like):
        notes.append("LIKE tells capitals apart, ILIKE does not")
    return [block_of(engine, result, tokens, notes)]


def _run_repaired(engine: SqlEngine, sql: str) -> tuple[SqlResult, list[str]]:
    """Return the result of a query, once repaired if it fails, and what was changed; raise SqlError if it fails."""
    try:
        return engine.run(sql), []
    except SqlError as error:
        tree = parse_query(sql)
        changes = repair_names(tree, engine.tables()) if tree is not None else []
        if tree is None or not changes:
            raise
        try:
            return engine.run(tree.sql(dialect=DIALECT)), changes
        except SqlError as second:
            raise SqlError("; ".join([*changes, str(second)])) from error


def block_of(engine: SqlEngine, result: SqlResult, tokens: int, notes: Sequence[str] = (), understood: str = "",
             ) -> Block:
    """Return a result as a block of citable rows, with the first record of its table cited if it rests on none.

    `understood` says in words how a question was read as this query.
    """
    plain = {column.name for table in engine.tables() for column in table.columns}
    if not result.citations and (tree := parse_query(result.sql)) is not None:  # a count of none rests on these
        first = [engine.run(f"SELECT * FROM {quoted(table.name)}", most_rows=1, most_cited=1).citations  # noqa: S608
                 for table in tables_read(tree, engine.tables()).values()]
        result = result.model_copy(update={"citations": tuple(chain.from_iterable(first))})
    return result_block(result, tokens, notes=notes, plain=plain, understood=understood)


def _with_known_values(engine: SqlEngine, result: SqlResult, tables: Sequence[TableInfo],
                       ) -> tuple[SqlResult, list[str]]:
    """Return a query's result with its texts as the documents write them, and notes on these and on unknown ones."""
    if (tree := parse_query(result.sql)) is None:
        return result, []
    compared = list(_compared_texts(tree, tables))
    distinct_texts = list(dict.fromkeys((table, column, node.this) for table, column, node in compared))
    notes = list[str]()
    is_changed = False
    for table, column, text in distinct_texts[:_MOST_CHECKED]:
        name, wanted = quoted(column.name), literal(text)
        found = engine.run(f"SELECT {name}, count(*) AS number FROM {quoted(table.name)} "  # noqa: S608
                           f"WHERE contains(lower({name}), lower({wanted})) OR {name} = {wanted} "
                           f"GROUP BY {name} ORDER BY number DESC, {name}", most_rows=50)
        values = [str(row[0]) for row in found.rows]
        if text in values:
            continue
        # The value that differs in case and signs alone, or else the only one that contains the text.
        meant = [value for value in values if label_key(value) == label_key(text)] or values
        if len(meant) == 1:
            for *owner, node in compared:
                if (*owner, node.this) == (table, column, text):
                    node.replace(exp.Literal.string(meant[0]))
            is_changed = True
            notes.append(f"{column.name} '{text}' read as '{meant[0]}'")
        else:  # a count of no rows is easily taken for an answer
            known = values or [value for value, _ in column.frequent]
            more = ", …" if len(known) > _MOST_NEAR else ""
            notes.append(f"no {column.name} is '{text}'; there are: {', '.join(known[:_MOST_NEAR])}{more}")
    return (engine.run(tree.sql(dialect=DIALECT)) if is_changed else result), notes


def _compared_texts(tree: exp.Expr, tables: Sequence[TableInfo]) -> Iterator[tuple[TableInfo, ColumnInfo, exp.Literal]]:
    """Yield the texts that a query compares columns of texts with by `=`, `<>` or `IN`, and where they stand."""
    read = tables_read(tree, tables)
    for comparison in tree.find_all(exp.EQ, exp.NEQ, exp.In):
        named, literals = comparison.this, comparison.expressions or [comparison.args.get("expression")]
        owner = column_of(named, read) if isinstance(named, exp.Column) else None
        if owner is not None and owner[1].kind == "text":
            yield from ((*owner, node) for node in literals if isinstance(node, exp.Literal) and node.is_string)


_FEW_ROWS = 3  # up to this number of rows, each repeats the names of its columns
_PAIR = 2
NONE = "(none)"  # a cell without a value
_MIDNIGHT = " 00:00:00"  # the time of a date that has none

_PHRASES: dict[Language, dict[str, str]] = {
    "en": {"over": "from {} records", "over_one": "from 1 record", "over_of": "from {} of {} records",
           "chosen": "the rows chosen rest on {} records", "chosen_one": "the rows chosen rest on 1 record",
           "empty": "{} have no {}", "untyped": "{} have another kind of {}",
           "unknown": "over which records cannot be told", "joint": "; ",
           "unread": "files that could not be read and are not counted: {}"},
    "zh": {"over": "依据 {} 条记录", "over_one": "依据 1 条记录", "over_of": "依据 {1} 条记录中的 {0} 条",
           "chosen": "所选各行依据 {} 条记录", "chosen_one": "所选各行依据 1 条记录",
           "empty": "{} 条没有 {}", "untyped": "{} 条的 {} 类型不同", "unknown": "无法说明依据哪些记录", "joint": "；",
           "unread": "无法读取而未计入的文件：{}"}}


def result_block(result: SqlResult, tokens: int, *, notes: Sequence[str] = (), plain: Collection[str] = (),
                 understood: str = "") -> Block:
    """Return a query's result as a block: the query and its columns as the title, a citable item for each row.

    The note says over how many records the numbers are, and what these lack.

    Args:
        result: what the query returned.
        tokens: the budget of the items, estimated tokens.
        notes: further notes, such as how the query was repaired.
        plain: the names of the tables' columns: numbers under these names are as the documents have them, others were
            computed.
        understood: how a question was read as the query, in words.
    """
    query = " ".join(result.sql.split())
    basis = Basis(query=query, understood=understood, records=result.records, left_out=result.left_out,
                  unread_files=result.unread_files)
    items = [_row_item(result, number, basis, plain) for number in range(len(result.rows))]
    fitting, _ = fit_lines([item for item, _ in items], tokens)
    shown = [_cite_records(item, cells, own or result.citations)
             for (item, cells), own in zip(items[:len(fitting)], chain(result.row_records, repeat(())))]  # noqa: B905
    # Notes are in English, for the model that reads them. Without `records`, `result.notes` say why they are unknown.
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
    tree = parse_query(basis.query) or exp.Select()
    # A query that chooses among groups looked at more records than the chosen ones rest on.
    total, chosen = f"{records:,}", any(tree.args.get(clause) is not None for clause in ("having", "qualify"))
    if lacks and len(missing) == 1 and not chosen:
        over = phrases["over_of"].format(f"{records - sum(missing.values()):,}", total)
    else:
        over = phrases[f"{'chosen' if chosen else 'over'}{'_one' if records == 1 else ''}"].format(total)
    unread = [phrases["unread"].format(f"{basis.unread_files:,}")] if basis.unread_files else []
    return phrases["joint"].join([*understood, over, *lacks, *unread])


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


def _cite_records(item: Passage, texts: Sequence[str], citations: Sequence[Citation]) -> Passage:
    """Return a row that cites its records, those that name it if any do; without records it cannot be cited."""
    naming = [citation for citation in citations if _has_all(citation.quote, texts)]
    records = (naming or citations)[:MOST_PLACES]
    if not records:
        return item
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
    """Return a row's cells as a line: "Alba: 3" of two, else "Alba | 3 | 4"."""
    return ": ".join(cells) if len(cells) == _PAIR else " | ".join(cells)


def _has_all(quote: str, texts: Sequence[str]) -> bool:
    """Return True if a record has all of some texts as words of their own."""
    return bool(texts) and all(spaced_words(text) in spaced_words(quote) for text in texts)


_NEAR, _LEAD = 80, 8
"""The least likeness (0 to 100) of the name that a wrong one may mean, and how much less like it the next one is."""


def parse_query(sql: str) -> exp.Expr | None:
    """Return a query as a tree; None if it is not one statement that can be read."""
    try:
        tree: exp.Expr = sqlglot.parse_one(sql, dialect=DIALECT)
        join_names(tree)
    except (sqlglot.errors.SqlglotError, SqlError):
        return None
    return tree


def tables_read(tree: exp.Expr, tables: Iterable[TableInfo]) -> dict[str, TableInfo]:
    """Return the tables that a query reads, by the folded names by which it calls them."""
    known = {table.name.casefold(): table for table in tables}
    return {node.alias_or_name.casefold(): known[node.name.casefold()] for node in tree.find_all(exp.Table)
            if node.name.casefold() in known}


def column_of(column: exp.Column, read: dict[str, TableInfo]) -> tuple[TableInfo, ColumnInfo] | None:
    """Return the table and column that a column of a query is, by the tables that it reads; None if it is none."""
    owners = [read.get(column.table.casefold())] if column.table else [*read.values()]
    for table in filter(None, owners):
        for info in table.columns:
            if info.name.casefold() == column.name.casefold():
                return table, info
    return None


def repair_names(tree: exp.Expr, tables: Sequence[TableInfo]) -> list[str]:
    """Put the names in a query's tree right, and return what was changed, in words.

    A table or column takes the name that differs in case, spaces and signs alone, or the only one of similar spelling.
    A name that is compared with a column and is like no column's becomes a text, and `=` on lists `list_contains`.
    """
    aliases = {node.alias.casefold() for node in tree.find_all(exp.CTE, exp.Subquery, exp.Alias) if node.alias}
    changes = [_rename(table, tables, aliases) for table in tree.find_all(exp.Table)]
    read = tables_read(tree, tables)
    for column in list(tree.find_all(exp.Column)):
        is_known = column.name.casefold() in aliases or column_of(column, read) or isinstance(column.this, exp.Star)
        if is_known or (column.table and column.table.casefold() not in read):
            continue
        owners = [read[column.table.casefold()]] if column.table else [*read.values()]
        change = _rename(column, [info for table in owners for info in table.columns], aliases)
        is_compared_with = isinstance(column.parent, exp.Binary | exp.In) and column.arg_key != "this"  # on the right
        if not change and is_compared_with and not column.table:
            change = f"{column.name} read as the text '{column.name}'"
            column.replace(exp.Literal.string(column.name))
        changes.append(change)
    return [*dict.fromkeys(filter(None, changes)), *_compare_lists(tree, read)]


def _compare_lists(tree: exp.Expr, read: dict[str, TableInfo]) -> list[str]:
    """Write `list_contains` for `=` on a column of lists, and return what was changed."""
    changes = dict[str, None]()
    for comparison in list(tree.find_all(exp.EQ, exp.NEQ)):
        column, text = comparison.this, comparison.expression
        found = column_of(column, read) if isinstance(column, exp.Column) else None
        if found and found[1].kind == "list" and isinstance(text, exp.Literal):
            contains: exp.Expr = exp.Anonymous(this="list_contains", expressions=[column.copy(), text.copy()])
            comparison.replace(exp.not_(contains) if isinstance(comparison, exp.NEQ) else contains)
            changes[f"{found[1].name} is a list, so = reads list_contains"] = None
    return list(changes)


def _rename(node: exp.Table | exp.Column, known: Sequence[TableInfo | ColumnInfo], aliases: set[str]) -> str:
    """Give a table or column the name of the known one that it means, and say so; "" if nothing is changed."""
    names = list(dict.fromkeys(one.name for one in known))
    name = node.name
    if name.casefold() in {*map(str.casefold, names), *aliases} or not (meant := _nearest(name, names)):
        return ""
    if isinstance(node, exp.Table) and not node.alias:  # columns may be called by the wrong name of their table
        node.set("alias", exp.TableAlias(this=node.this.copy()))
    node.set("this", exp.to_identifier(meant, quoted=True))
    return f"{name} read as {meant}"


def _nearest(name: str, names: Sequence[str]) -> str:
    """Return the name that a wrong one means; "" if none or several may be meant."""
    # The tables of several knowledge bases are called BASE.TABLE, and a query may leave out the base.
    equal = [one for one in names if _folded(name) in {_folded(one), _folded(one.rpartition(".")[2])}]
    if equal:
        return equal[0] if len(equal) == 1 else ""
    nearest = process.extract(name, names, scorer=fuzz.ratio, processor=_folded, limit=2)
    (best, score, _), (_, next_score, _) = [*nearest, ("", 0.0, 0), ("", 0.0, 0)][:2]  # there may be fewer names
    return best if score >= _NEAR and score - next_score >= _LEAD else ""


def _folded(name: str) -> str:
    return label_key(name).replace(" ", "").replace("_", "")
