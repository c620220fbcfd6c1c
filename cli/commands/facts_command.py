"""`banyan facts`: the facts and values of an entity, of a relation or attribute, or how many each of these has."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich import box

from ...graph_store.graph.resolved_graph import ResolvedGraph
from ...graph_store.graph_edits import Said
from ...graph_store.resolution.decisions import match_node
from ...schemas.naming import label_key
from ...text.times import Validity
from ...tools.schema_names import terms_of
from ..console import CommandError, left_out, on_a_line, out, print_json, table_of
from ..session import AsJson, At, Kb, day_of, open_resources

app = typer.Typer()

_SHOWN = 50
"""Facts or terms to print where no `--limit` is given."""


@app.command("facts")
def facts(
    *, kb: Kb,
    of: Annotated[str, typer.Option(metavar="ENTITY", help="Only facts of this entity.")] = "",
    relation: Annotated[str, typer.Option(metavar="NAME", help="Only of this relation or attribute. Without --of and "
                                                               "this: how many facts each of them has.")] = "",
    at: At = "",
    limit: Annotated[int | None, typer.Option(min=1, help="How many facts to print.",
                                              show_default=f"{_SHOWN}; all with --json")] = None,
    as_json: AsJson = False,
) -> None:
    """List the facts of an entity, a relation or an attribute; `banyan sql` filters, counts and groups them."""
    most = limit if as_json else limit or _SHOWN
    if of or relation:
        _print_facts(_find_facts(kb, of, relation, at), most, as_json=as_json)
    elif at:
        raise CommandError("--at needs --of or --relation: name an entity, a relation or an attribute")
    else:
        _print_fields(kb, most, as_json=as_json)


def _find_facts(kb: str, entity: str, relation: str, at: str) -> list[tuple[Said, Validity]]:
    """Return facts and values; with a date `at`, only those that hold on that date."""
    day = day_of(at)
    with open_resources(reasons=False) as resources, resources.snapshot(kb) as snapshot:
        name = _known_relation(relation, [field.name for field in terms_of(snapshot.index)]) if relation else ""
        return [(fact, validity) for fact, validity in _facts_of(snapshot.kb.graph, entity)
                if (not name or fact.relation == name) and (day is None or validity.holds(*day))]


def _print_facts(facts: Sequence[tuple[Said, Validity]], limit: int | None, *, as_json: bool) -> None:
    shown = facts[:limit]
    if as_json:
        print_json([{**fact._asdict(), "time": validity.note()} for fact, validity in shown])
        return
    for fact, validity in shown:
        time = f" [dim]({on_a_line(validity.note())})[/dim]" if validity.note() else ""
        out.print(" [dim]|[/dim] ".join(map(on_a_line, fact)) + time, soft_wrap=True)
    if left := left_out(len(facts) - len(shown)):
        out.print(left)


def _known_relation(name: str, names: Sequence[str]) -> str:
    for known in names:
        if label_key(known) == label_key(name):
            return known
    raise CommandError(f"no relation or attribute is called {name!r}; there are: {', '.join(names) or 'none'}")


def _facts_of(graph: ResolvedGraph, entity: str) -> Iterator[tuple[Said, Validity]]:
    """Yield the values of an entity, or of all, then the facts, each with the time in which it holds."""
    node = match_node(graph, entity) if entity else ""
    names = graph.name
    for owner in [node] if node else sorted(graph.entity_ids(), key=lambda one: (names(one), one)):
        validities = graph.validities(owner)  # by attribute and value; values without a time are not in it
        for name, values in graph.descriptive_values(owner).items():
            for value in values:
                yield Said(names(owner), name, value), validities.get(name, {}).get(value, Validity())
    for edge in graph.incident(node) if node else sorted(
            graph.edges(), key=lambda edge: (names(edge[0]), edge[1], names(edge[2]), edge)):
        head, relation, tail = edge
        yield Said(names(head), relation, names(tail)), graph.validity(edge)


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
    if left := left_out(len(fields) - len(shown)):
        out.print(left)
