"""`banyan tables` and `banyan sql`: the tables of a knowledge base, and what a SELECT over them finds."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from ...api.python_results import SqlRows
from ...graph_store.sql.sql_errors import unknown_table
from ...schemas.documents import Scope
from ...schemas.records import Basis, TableInfo
from ...text.cleaning import visible
from ...text.quantities import format_count, show_number, show_value
from ...tools.table_query import basis_text
from ..console import CommandError, err, on_a_line, out, print_json, table_of
from ..session import AsJson, Documents, Kbs, open_resources

app = typer.Typer()

_SHOWN = 50
"""Rows to print where no `--limit` is given."""
_MOST_DATA = 100_000
"""The most rows of `--json` and `--csv` without a `--limit`."""
_CITED = 3
_LONGEST = 160
"""Characters of a citation to print."""
_FREQUENT = 3
_COLUMN_KEYS = {"name", "kind", "distinct", "empty", "untyped"}


@app.command("tables")
def tables(
    *, kb: Kbs,
    table: Annotated[str, typer.Argument(help="A table to show with all its columns; none: list all tables.")] = "",
    documents: Documents = None, as_json: AsJson = False,
) -> None:
    """List the tables that SQL can read, or the columns of one."""
    with (open_resources(reasons=False) as resources,
          resources.tables_of(",".join(kb), Scope.of(documents or ())) as engine):
        found = engine.tables()
    if table:
        named = [one for one in found if one.name.casefold() == table.casefold()]
        if not named:
            raise unknown_table(table, found)
        found = (named[0],)
    if as_json:
        print_json([{"name": one.name, "title": one.title, "rows": one.rows, "columns": [
            column.model_dump(mode="json", include=_COLUMN_KEYS) for column in one.columns]} for one in found])
    elif table:
        _print_columns(found[0])
    else:
        _print_tables(found)


def _print_tables(tables: Sequence[TableInfo]) -> None:
    named = [table for table in tables if table.kind != "relation"]
    out.print(table_of(("table", "rows", "documents", "columns"), (
        (table.name, f"{table.rows:,}", f"{table.documents:,}", ", ".join(column.name for column in table.columns))
        for table in named), box=box.SIMPLE))
    relations = [f"{table.name} ({table.rows:,})" for table in tables if table.kind == "relation"]
    if relations:
        out.print(f"[dim]relations and attributes, a table each: {on_a_line(', '.join(relations))}[/dim]",
                  soft_wrap=True)


def _print_columns(table: TableInfo) -> None:
    source = f" in {format_count(table.documents, 'document')}" if table.documents else ""
    out.print(f"[bold]{on_a_line(table.name)}[/bold]: {format_count(table.rows, 'row')}{source}", soft_wrap=True)
    values = [f"{column.smallest} to {column.largest}" if column.smallest or column.largest else
              ", ".join(f"{value} ({number:,})" for value, number in column.frequent[:_FREQUENT])
              for column in table.columns]
    out.print(table_of(("column", "kind", "unit", "different", "empty", "unreadable", "values"), (
        (column.name, column.kind, column.unit or ", ".join(column.units), f"{column.distinct:,}",
         f"{column.empty:,}", f"{column.untyped:,}", shown)
        for column, shown in zip(table.columns, values, strict=True)), box=box.SIMPLE))
    for column in table.columns:
        if column.note:
            out.print(f"[dim]{on_a_line(column.name)}: {on_a_line(column.note)}[/dim]", soft_wrap=True)


@app.command("sql")
def sql(
    *, kb: Kbs, query: Annotated[str, typer.Argument(help="One SELECT; `banyan tables` lists what it can read.")],
    documents: Documents = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The most rows to print.",
                                              show_default=f"{_SHOWN}; {_MOST_DATA} with --json or --csv")] = None,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the rows as CSV and nothing else.")] = False,
) -> None:
    """Run a SELECT over the records, documents and facts, with the records that the result rests on."""
    if as_json and as_csv:
        raise CommandError("--json and --csv exclude each other: use one of them")
    most = limit or (_MOST_DATA if as_json or as_csv else _SHOWN)
    with (open_resources(reasons=False) as resources,
          resources.tables_of(",".join(kb), Scope.of(documents or ())) as engine):
        result = SqlRows(**vars(engine.run(query, most_rows=most)))
    if as_json:
        print_json({"columns": result.columns, "rows": result.rows, "records": result.records,
                    "citations": [citation.model_dump(mode="json") for citation in result.citations]})
    elif as_csv:
        text = result.to_csv()
        sys.stdout.buffer.write((visible(text) if out.is_terminal else text).encode())
        sys.stdout.flush()
    basis = basis_text(Basis(query=result.sql, records=result.records, left_out=result.left_out), "en")
    cut, notes = result.total - len(result.rows), [*result.notes]
    if cut > 0:
        notes.append(f"{show_number(cut)} of {show_number(result.total)} rows are left out: use --limit")
    if as_json or as_csv:
        for note in [basis, *notes]:  # beside the data, which scripts read
            err.print(f"[dim]{on_a_line(note)}[/dim]", soft_wrap=True)
        return
    out.print(f"[bold]{on_a_line(basis)}[/bold]", soft_wrap=True)
    _print_rows(result)
    for note in notes:
        out.print(f"[dim]{on_a_line(note)}[/dim]", soft_wrap=True)
    for citation in result.citations[:_CITED]:
        words = " ".join(citation.quote.split())
        shown = words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
        out.print(f"[dim]{on_a_line(citation.document)}:[/dim] {on_a_line(shown)}", soft_wrap=True)
    if result.records and result.records > _CITED:
        out.print(f"[dim]and {format_count(result.records - len(result.citations[:_CITED]), 'more record')}[/dim]")


def _print_rows(result: SqlRows) -> None:
    if not result.rows:
        out.print("no row fits")
        return
    table = Table(box=box.SIMPLE)
    for column, kind in zip(result.columns, result.kinds, strict=True):
        table.add_column(on_a_line(column), justify="right" if kind == "number" else "left")
    for row in result.rows:
        table.add_row(*(on_a_line(show_value(value, unit)) for value, unit in zip(row, result.units, strict=True)))
    out.print(table)
