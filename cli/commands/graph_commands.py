"""`banyan facts`, `tree`, `tables` and `sql`: the graph, its knowledge tree, and the tables of both and of records."""

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich.tree import Tree

from ...api.python_results import SqlRows
from ...graph_store.graph.resolved_graph import ResolvedGraph
from ...graph_store.graph_edits import StatedFact
from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.ledger.entity_rows import TreeCommunity
from ...graph_store.resolution.resolver import match_node
from ...graph_store.sql.checking import unknown_table
from ...schemas.documents import Scope
from ...schemas.inquiry import Block
from ...schemas.naming import label_key
from ...schemas.records import Basis, TableInfo
from ...text.cleaning import visible
from ...text.quantities import format_count, show_number, show_value
from ...text.times import DateError, Validity, read_day
from ...tools.graph_names import LabelledTerms, terms_of
from ...tools.surveys import survey_along, survey_by
from ...tools.table_query import basis_text
from ..console import CommandError, err, on_a_line, out, print_json, print_left_out, print_table
from ..session import AsJson, Documents, Kb, Kbs, Limit, open_resources

app = typer.Typer()
_SHOWN = 50  # facts or rows where no `--limit` is given
_SHOWN_OF_KEYWORD = 3  # facts and attributes of each keyword of a community
_SURVEY_TOKENS = 20_000  # of a survey, enough for any field that has groups; what does not fit is counted
_MOST_DATA = 100_000  # rows of `sql --json` and `--csv` without a `--limit`
_CITATIONS_SHOWN, _LONGEST_CITATION = 3, 160  # below the rows of a SELECT, and the characters of each
_FREQUENT_VALUES = 3  # values of a column in the list of a table's columns
_COLUMN_KEYS = {"name", "kind", "distinct", "empty", "untyped"}  # the keys of a column in `tables --json`


@app.command("facts")
def facts(*, kb: Kb, of: Annotated[str, typer.Option(metavar="ENTITY")] = "",
          relation: Annotated[str, typer.Option(metavar="NAME")] = "",
          at: Annotated[str, typer.Option(metavar="DATE")] = "", limit: Limit = None, as_json: AsJson = False) -> None:
    """List the facts of an entity, a relation or an attribute; `banyan sql` filters, counts and groups them."""
    try:
        day = read_day(at) if at else None  # its first and its last date
    except DateError as error:
        raise CommandError(f"--at: {error}") from error
    with open_resources(uses_model=False) as resources, resources.snapshot(kb) as snapshot:
        known_names = [term.name for term in terms_of(snapshot.index)] if relation else []
        wanted_names = {name for name in known_names if label_key(name) == label_key(relation)}
        if relation and not wanted_names:
            raise CommandError(f"no relation or attribute is called {relation!r}; there are: "
                               f"{', '.join(known_names) or 'none'}")
        fitting = [(fact, validity) for fact, validity in _facts_of(snapshot.kb.graph, of)
                   if (not relation or fact.relation in wanted_names) and (day is None or validity.holds(*day))]
    shown = fitting[:limit if as_json else limit or _SHOWN]
    if as_json:
        print_json([{**fact._asdict(), "time": validity.note()} for fact, validity in shown])
        return
    for fact, validity in shown:
        time = f" ({validity.note()})" if validity.note() else ""
        out.say("{} [dim]|[/dim] {} [dim]|[/dim] {}[dim]{}[/dim]", *fact, time)
    print_left_out(len(fitting) - len(shown))


def _facts_of(graph: ResolvedGraph, entity: str) -> Iterator[tuple[StatedFact, Validity]]:
    """Yield the attribute values of an entity (of all, by name, for ""), then its facts, each with its time."""
    name_of, owners, edges = graph.name, graph.entity_ids(), graph.edges()
    if entity:
        owners = [match_node(graph, entity)]
        edges = graph.incident(owners[0])
    else:
        owners = sorted(owners, key=lambda owner: (name_of(owner), owner))
        edges = sorted(edges, key=lambda edge: (name_of(edge[0]), edge[1], name_of(edge[2]), edge))
    for owner in owners:
        validities = graph.validities(owner)  # by attribute and value; values without a time are not in it
        for name, values in graph.descriptive_values(owner).items():
            for value in values:
                yield StatedFact(name_of(owner), name, value), validities.get(name, {}).get(value, Validity())
    for edge in edges:
        head, relation, tail = edge
        yield StatedFact(name_of(head), relation, name_of(tail)), graph.validity(edge)


@app.command()
def tree(kb: Kb, by: Annotated[str, typer.Option(metavar="FIELD")] = "",
         alpha: Annotated[float | None, typer.Option(min=0, max=1, metavar="0..1")] = None,
         along: Annotated[str, typer.Option(metavar="PATH")] = "",
         root: Annotated[str, typer.Option(metavar="ENTITY")] = "", limit: Annotated[int, typer.Option(min=1)] = 20,
         level: Annotated[int, typer.Option(min=0)] = 0, *, as_json: AsJson = False) -> None:
    """Print the knowledge tree: communities, their keywords, the facts about those, and attributes."""
    if by == "" and alpha is not None:
        raise CommandError("--alpha is for groups: say by which field with --by")
    if along and not root:
        raise CommandError("--along begins at an entity: name it with --root")
    with open_resources(uses_model=False) as resources, resources.snapshot(kb) as snapshot:
        index, terms = snapshot.index, LabelledTerms(snapshot.index, snapshot.kb.schemas.current())
        if along:
            _show_survey(survey_along(index, terms, root, along, _SURVEY_TOKENS), as_json=as_json)
        elif by:
            _show_survey(survey_by(index, terms, by, _SURVEY_TOKENS, alpha), as_json=as_json)
        else:
            _show_communities(snapshot.kb, snapshot.kb.communities.all(level=level), limit, as_json=as_json)


def _show_survey(blocks: Sequence[Block], *, as_json: bool) -> None:
    (block,) = blocks
    if as_json:
        print_json({"title": block.title, "note": block.note, "groups": [
            {"text": item.statement, "document": item.document, "quote": item.text} for item in block.items]})
        return
    for line in (block.title, *(f"    {item.statement}" for item in block.items), block.note):
        out.say("{}", line)


def _show_communities(knowledge_base: KnowledgeBase, communities: Sequence[TreeCommunity], limit: int, *,
                      as_json: bool) -> None:
    """Print communities as a tree, large and cohesive ones first, at most `limit` of them; as JSON all."""
    graph = knowledge_base.graph
    if as_json:
        print_json([{**community.model_dump(exclude={"keywords"}),
                     "keywords": [graph.entity(keyword).name for keyword in community.keywords]}
                    for community in communities])
        return
    # Sorted by size times cohesion: by size alone, large communities with little cohesion would come first.
    largest = sorted(communities, key=lambda community: (
        -len(community.members) * max(community.cohesion, 0.0), -len(community.members), community.id))
    title = f"{knowledge_base.layout.name}: {len(communities)} communities of {len(graph.entity_ids())} entities"
    if knowledge_base.tree.is_behind():
        title += " [yellow](the tree is out of date: build again)[/yellow]"
    root = Tree(title)
    for community in largest[:limit]:
        keywords, members = [graph.entity(keyword) for keyword in community.keywords], set(community.members)
        name = community.name or ", ".join(entity.name for entity in keywords)  # a community may not be described yet
        branch = root.add(f"[bold]{on_a_line(name)}[/bold]  [dim]{len(members)} entities, cohesion "
                          f"{community.cohesion:.2f}[/dim]")
        if community.summary:
            branch.add(f"[italic]{on_a_line(community.summary)}[/italic]")
        for keyword, entity in zip(community.keywords, keywords, strict=True):
            leaves = branch.add(f"{on_a_line(entity.name)} [dim]{on_a_line(entity.type)}[/dim]")
            # The facts within the community, whose head and tail are members, come before others.
            facts = sorted(graph.incident(keyword),
                           key=lambda fact: (fact[0] not in members or fact[2] not in members, fact))
            for fact in facts[:_SHOWN_OF_KEYWORD]:
                leaves.add(on_a_line(graph.statement_of(graph.triple_row(fact))))
            for attribute, values in list(graph.descriptive_values(keyword).items())[:_SHOWN_OF_KEYWORD]:
                leaves.add(f"[cyan]{on_a_line(attribute)}[/cyan]: {on_a_line(', '.join(values))}")
    out.print(root)
    print_left_out(len(largest) - limit)


@app.command("tables")
def tables(*, kb: Kbs, table: Annotated[str, typer.Argument()] = "", documents: Documents = None,
           as_json: AsJson = False) -> None:
    """List the tables that SQL can read, or the columns of one."""
    with (open_resources(uses_model=False) as resources,
          resources.tables_of(",".join(kb), Scope.of(documents or ())) as engine):
        listed = engine.tables()
    if table:
        tables_of_name = [known for known in listed if known.name.casefold() == table.casefold()]
        if not tables_of_name:
            raise unknown_table(table, listed)
        listed = (tables_of_name[0],)
    if as_json:
        print_json([{"name": known.name, "title": known.title, "rows": known.rows, "columns": [
            column.model_dump(mode="json", include=_COLUMN_KEYS) for column in known.columns]} for known in listed])
    elif table:
        _print_columns(listed[0])
    else:
        print_table(("table", "rows", "documents", "columns"), [
            (known.name, known.rows, known.documents, ", ".join(column.name for column in known.columns))
            for known in listed if known.kind != "relation"])
        relations = ", ".join(f"{known.name} ({known.rows:,})" for known in listed if known.kind == "relation")
        out.say("[dim]relations and attributes, a table each: {}[/dim]", relations or "none")


def _print_columns(table: TableInfo) -> None:
    """Print a table's columns: those of numbers and dates with their range, others with their most frequent values."""
    rows = []
    for column in table.columns:
        values = ", ".join(f"{value} ({number:,})" for value, number in column.frequent[:_FREQUENT_VALUES])
        if column.smallest or column.largest:  # numbers and dates have a range
            values = f"{column.smallest} to {column.largest}"
        rows.append((column.name, column.kind, column.unit or ", ".join(column.units), column.distinct, column.empty,
                     column.untyped, values))
    print_table(("column", "kind", "unit", "different", "empty", "unreadable", "values"), rows,
                title=f"{table.name}: {format_count(table.rows, 'row')}")
    for column in table.columns:
        if column.note:
            out.say("[dim]{}: {}[/dim]", column.name, column.note)


@app.command("sql")
def sql(*, kb: Kbs, query: Annotated[str, typer.Argument()], documents: Documents = None, limit: Limit = None,
        as_json: AsJson = False, as_csv: Annotated[bool, typer.Option("--csv")] = False) -> None:
    """Run a SELECT over the records, documents and facts, with the records that the result rests on."""
    if as_json and as_csv:
        raise CommandError("--json and --csv exclude each other: use one of them")
    with (open_resources(uses_model=False) as resources,
          resources.tables_of(",".join(kb), Scope.of(documents or ())) as engine):
        most_rows = limit or (_MOST_DATA if as_json or as_csv else _SHOWN)
        result = SqlRows(**vars(engine.run(query, most_rows=most_rows)))
    basis = basis_text(Basis(query=result.sql, records=result.records, left_out=result.left_out,
                             unread_files=result.unread_files), "en")
    notes = [*result.notes]
    if result.total > len(result.rows):
        rows_left_out = result.total - len(result.rows)
        notes.append(f"{show_number(rows_left_out)} of {show_number(result.total)} rows are left out: use --limit")
    if as_json or as_csv:
        if as_json:
            print_json({"columns": result.columns, "rows": result.rows, "records": result.records,
                        "citations": [citation.model_dump(mode="json") for citation in result.citations]})
        else:
            text = result.to_csv()
            # On a terminal, the text of documents must not control it.
            sys.stdout.buffer.write((visible(text) if out.is_terminal else text).encode())
            sys.stdout.flush()
        for note in [basis, *notes]:  # on standard error, because scripts read the data
            err.say("[dim]{}[/dim]", note)
        return
    out.say("[bold]{}[/bold]", basis)
    if result.rows:
        print_table(result.columns, [
            [show_value(value, unit) for value, unit in zip(row, result.units, strict=True)] for row in result.rows],
            numbers=[kind == "number" for kind in result.kinds])
    else:
        out.print("no row fits")
    for note in notes:
        out.say("[dim]{}[/dim]", note)
    shown = result.citations[:_CITATIONS_SHOWN]
    for citation in shown:
        out.say("[dim]{}:[/dim] {}", citation.document, " ".join(citation.quote.split())[:_LONGEST_CITATION])
    if result.records and result.records > _CITATIONS_SHOWN:  # None: it is not known how many there are
        out.print(f"[dim]and {format_count(result.records - len(shown), 'more record')}[/dim]")
