"""`banyan facts`: the rows of a relation or attribute, filtered, counted and grouped, or the facts of an entity."""

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from pydantic import ValidationError
from rich import box
from rich.table import Table

from ...graph_store.graph_edits import Said
from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.resolution.decisions import match_node
from ...schemas.lookups import EXTREMES, Calculation, TripleLookup
from ...text.cleaning import visible
from ...text.times import Validity
from ...tools.schema_names import terms_of
from ...tools.table_query import shown_number
from ...tools.table_results import MOST_ROWS, ComputedTable, TableRow, tabulate
from ..console import CommandError, format_count, left_out, on_a_line, out, print_json, table_of
from ..session import AsJson, At, Kb, day_of, open_resources

app = typer.Typer()

_SHOWN = 50
"""Rows, groups or facts to print where no `--limit` is given."""
_NUMBER_CALCULATIONS = {"count", "distinct", "sum", "mean"}
"""Calculations whose result is a number without rows of its own."""
_OPTION_NAMES = {"head": "of"}
"""Options by the arguments of a lookup, where the two have different names."""


@app.command("facts")
def facts(  # noqa: PLR0913  (its options)
    *, kb: Kb,
    of: Annotated[str, typer.Option(metavar="ENTITY", help="Only facts of this entity, or of names with this part; "
                                                           "A|B: either. Alone: all facts of the entity.")] = "",
    relation: Annotated[str, typer.Option(metavar="NAME", help="The relation or attribute; none: list them all.")] = "",
    tail: Annotated[str, typer.Option(metavar="X", help="Only rows whose object or value is X, has it as a part, or "
                                                        "fits a sign: '!=A', '>=2020', '5..10'.")] = "",
    where: Annotated[list[str] | None, typer.Option(
        metavar="FIELD=VALUE", help="Only subjects with this value, such as status=Final, 'created>=2020' or owner= "
                                    "(has none); tail.FIELD: of the object; or with what stands beside "
                                    "rows, such as network=Ropsten. May be repeated.")] = None,
    by: Annotated[str, typer.Option(metavar="KEY", help="Group by head, tail, a field, or year, month or decade of "
                                                        "the value or of a field (created.year).")] = "",
    do: Annotated[Calculation, typer.Option(help="What to compute of all rows, or of each group.")] = "list",
    show: Annotated[list[str] | None, typer.Option(
        metavar="FIELD", help="Show this field of the subject in each row. May be repeated.")] = None,
    at: At = "",
    document: Annotated[str, typer.Option(help="Only rows of documents with this part in their id or title.")] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="How many rows, groups or facts to print, or values of --do "
                                                              "largest and the like (1).",
                                              show_default=f"{_SHOWN}; {MOST_ROWS} with --json or --csv")] = None,
    count: Annotated[bool, typer.Option("--count", help="Count the subjects; short for --do count.")] = False,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print rows or groups as CSV and nothing else.")] = False,
) -> None:
    """List or compute the rows of a relation or attribute, or the facts of an entity."""
    if count and do not in {"list", "count"}:
        raise CommandError(f"--count and --do {do} exclude each other: use one of them")
    if as_json and as_csv:
        raise CommandError("--json and --csv exclude each other: use one of them")
    do = "count" if count else do
    most, computed_limit = _limits(limit, is_extreme=do in EXTREMES and not by, as_data=as_json or as_csv)
    if not relation:
        need_relation = {"--tail": tail, "--where": where, "--by": by, "--count or --do": do != "list", "--show": show,
                         "--document": document, "--csv": as_csv, "--at": at and not of}
        _require_relation([option for option, value in need_relation.items() if value])
        if of:
            _print_facts(kb, of, at, most, as_json=as_json)
        else:
            _print_fields(kb, most, as_json=as_json)
        return
    if by and show:
        raise CommandError("--show adds fields to rows, and --by makes groups of them: use one of them")
    if as_csv and not by and do in _NUMBER_CALCULATIONS:
        raise CommandError(f"--csv prints rows or groups, and --do {do} gives one number: add --by, or use --json")
    day_of(at)  # raises an error if it is no date
    table = _compute(kb, _validate_lookup(relation=relation, head=of, tail=tail, where=where or (), by=by, do=do,
                                          show=show or (), at=at, document=document, limit=computed_limit))
    if as_json or as_csv:
        shown = table.model_copy(update={"rows": table.rows[:most], "groups": table.groups[:most]})
        if as_json:
            print_json(shown.model_dump(mode="json"))
        else:
            _write_csv(shown)
    else:
        _print_table(table, by, show or (), most)


def _limits(limit: int | None, *, is_extreme: bool, as_data: bool) -> tuple[int | None, int]:
    """Return how many rows, groups or facts to show (None: all), and the limit of the lookup."""
    if is_extreme:
        return None if as_data else max(limit or 0, _SHOWN), limit or 1
    # More is computed than shown, because the last line says how many are left out.
    return limit if as_data else limit or _SHOWN, max(limit or 0, MOST_ROWS)


def _require_relation(options: Sequence[str]) -> None:
    if options:
        raise CommandError(f"{', '.join(options)} {'needs' if len(options) == 1 else 'need'} --relation: name a "
                           "relation or attribute; `banyan facts` without options lists them")


def _validate_lookup(**arguments: object) -> TripleLookup:
    try:
        return TripleLookup.model_validate(arguments)
    except ValidationError as error:
        first = error.errors()[0]
        argument = str(first["loc"][0])
        raise CommandError(f"--{_OPTION_NAMES.get(argument, argument)}: {first['msg']}") from error


def _compute(kb: str, lookup: TripleLookup) -> ComputedTable:
    with open_resources(reasons=False) as resources, resources.snapshot(kb) as snapshot:
        return tabulate(snapshot.index, snapshot.kb.schemas.current(), lookup)


def _write_csv(table: ComputedTable) -> None:
    text = table.to_csv()
    sys.stdout.buffer.write((visible(text) if out.is_terminal else text).encode())
    sys.stdout.flush()


def _print_facts(kb: str, entity: str, at: str, limit: int | None, *, as_json: bool) -> None:
    """Print an entity's facts and values; with a date `at`, only those that hold on that date."""
    day = day_of(at)
    with open_resources(reasons=False) as resources, resources.snapshot(kb) as snapshot:
        facts = [(fact, validity) for fact, validity in _facts_of(snapshot.kb, entity)
                 if day is None or validity.holds(*day)]
    shown = facts[:limit]
    if as_json:
        print_json([{**fact._asdict(), "time": validity.note()} for fact, validity in shown])
        return
    for fact, validity in shown:
        time = f" [dim]({on_a_line(validity.note())})[/dim]" if validity.note() else ""
        out.print(" [dim]|[/dim] ".join(map(on_a_line, fact)) + time, soft_wrap=True)
    if left := left_out(len(facts) - len(shown)):
        out.print(left)


def _facts_of(knowledge_base: KnowledgeBase, entity: str) -> Iterator[tuple[Said, Validity]]:
    """Yield an entity's values, then its facts, each with the time in which it holds."""
    graph = knowledge_base.graph
    node = match_node(graph, entity)
    validities = graph.validities(node)  # by attribute and value; values without a time are not in it
    for name, values in graph.told(node).items():
        for value in values:
            yield Said(graph.name(node), name, value), validities.get(name, {}).get(value, Validity())
    for edge in graph.incident(node):
        head, relation, tail = edge
        yield Said(graph.name(head), relation, graph.name(tail)), graph.validity(edge)


def _print_fields(kb: str, limit: int | None, *, as_json: bool) -> None:
    with open_resources(reasons=False) as resources, resources.snapshot(kb) as snapshot:
        fields = terms_of(snapshot.index)
    shown = fields[:limit]
    if as_json:
        print_json([field._asdict() for field in shown])
        return
    if not fields:
        out.print("no facts yet: add documents with `banyan build`")
        return
    out.print(table_of(("name", "rows", "kind"), (
        (field.name, field.rows, "attribute" if field.is_attribute else "relation") for field in shown),
        box=box.SIMPLE))
    _print_notes(len(fields) - len(shown))


def _print_table(table: ComputedTable, by: str, show: Sequence[str], limit: int | None) -> None:
    name, left = on_a_line(table.relation), 0
    number = "" if table.value is None else f"{shown_number(table.value)} {table.unit}".strip()
    if not by and table.do in _NUMBER_CALCULATIONS:
        out.print(f"[bold]{name}[/bold], {table.do}: {on_a_line(number) or 'no row has a number'}", soft_wrap=True)
    else:
        result = f", {table.do}: {on_a_line(number)}" if number else ""
        out.print(f"[bold]{name}[/bold]{result} [dim]({format_count(table.total, 'row')})[/dim]", soft_wrap=True)
        if by:
            shown = table_of((by, "count" if table.do == "list" else table.do),
                             ((group.key, group.said) for group in table.groups[:limit]), box=box.SIMPLE)
        else:
            shown = _rows_table(table, show, limit)
        left = len(table.groups if by else table.rows) - shown.row_count
        if shown.row_count:
            out.print(shown)
        else:
            out.print("no row fits: leave out a condition" if not table.total else "no row has a value for this")
    _print_notes(left, [_shared_time(table.rows[:limit]), *table.notes])


def _shared_time(rows: Sequence[TableRow]) -> str:
    """Return the time in which several rows all hold, which is printed once below them; empty if they differ."""
    times = {row.time for row in rows}
    return times.pop() if len(rows) > 1 and len(times) == 1 else ""


def _rows_table(table: ComputedTable, show: Sequence[str], limit: int | None) -> Table:
    """Return rows with the fields to show; a column for their times is added only if the times differ."""
    rows = table.rows[:limit]
    has_times = any(row.time for row in rows) and not _shared_time(rows)
    columns = ("subject", table.relation, *show, *(["when"] if has_times else []), "document")
    return table_of(columns, (
        (row.head, row.tail, *("; ".join(row.fields.get(field, ())) for field in show),
         *([row.time] if has_times else []), row.document) for row in rows), box=box.SIMPLE)


def _print_notes(left: int, notes: Sequence[str] = ()) -> None:
    if left > 0:
        out.print(left_out(left), soft_wrap=True)
    for note in filter(None, notes):
        out.print(f"[dim]{on_a_line(note)}[/dim]", soft_wrap=True)
