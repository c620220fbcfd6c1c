"""`banyan status`: a knowledge base's contents, failures and spending in a few lines."""

from collections.abc import Iterator, Sequence

import typer
from rich.markup import escape
from rich.table import Table

from ...agents.resources import Resources
from ...graph_store.integrity.status import Status, status_of
from ...graph_store.ledger.extractions import IMPORTED, RULES
from ...graph_store.ledger.token_accounts import Spent
from ...text.shown_numbers import format_count
from ..console import money, on_a_line, out, print_json
from ..session import AsJson, Kb, open_resources

app = typer.Typer()

_SHOWN_BUILDS = 5
_SHOWN_FAILURES = 10
_REPAIRS = {"swapped": "with subject and object exchanged", "mapped_label": "with the schema's label for the same",
            "inferred_type": "without a type, inferred from the text",
            "normalised_value": "values in one form", "dropped_time": "without a time that the text does not state"}
"""How facts were repaired, as text for people, by the kind of repair."""
_REASONS = {"unknown_entity_type": "of a type that the schema does not have",
            "unknown_relation": "by a relation that the schema does not have",
            "unknown_attribute": "of an attribute that the schema does not have",
            "domain_range": "between other types than the schema has it",
            "ungrounded": "with a name or value that is not in the text",
            "undeclared_entity": "of something without a type", "self_loop": "of a thing with itself",
            "malformed": "not complete", "type_as_name": "with a type as a name",
            "wrong_kind": "with a value of another kind"}
"""Why facts are not admitted, as text for people, by the reason's name."""

_READERS = {RULES: "the rules", IMPORTED: "imported triples"}


@app.command()
def status(kb: Kb, *, as_json: AsJson = False) -> None:
    """Show a knowledge base's contents, failures and spending."""
    with open_resources(reasons=False) as resources:
        with resources.snapshot(kb) as snapshot:
            report = status_of(snapshot.kb, resources.spending.prices)
        introduction = None if as_json or not report.documents else _introduce_base(resources, kb)
    if as_json:
        print_json(report.model_dump())
        return
    table = Table.grid(padding=(0, 2))
    for name, text in _status_lines(report):
        table.add_row(f"  [dim]{name}[/dim]", text)
    out.print(f"[bold]{escape(kb)}[/bold]")
    if introduction:
        out.print(introduction)
    out.print(table)
    for document, number, reason in report.failures[:_SHOWN_FAILURES]:
        out.print(f"  [red]failed:[/red] {on_a_line(document)}, chunk {number}: {on_a_line(reason)}", soft_wrap=True)
    for document, note in list(report.partly_read.items())[:_SHOWN_FAILURES]:
        out.print(f"  [yellow]partly read:[/yellow] {on_a_line(document)}: {on_a_line(note)}", soft_wrap=True)
    if len(report.partly_read) > _SHOWN_FAILURES:
        out.print(f"  and {len(report.partly_read) - _SHOWN_FAILURES:,} more; `banyan status --json` lists all")
    if report.chunks_failed:
        out.print(f"  [yellow]banyan build --kb {escape(kb)} --retry-failed[/yellow] reads what failed", soft_wrap=True)
    if report.spent.calls:
        out.print(_spending_table(report))


def _introduce_base(resources: Resources, kb: str) -> Table:
    # Imported here, because it needs the retrieval graph, which is slow to import. So `--json` stays quick.
    from ...agents.introduction import introduce  # noqa: PLC0415
    from .build import introduction_table  # noqa: PLC0415

    return introduction_table(introduce(resources, kb))


def _status_lines(report: Status) -> Iterator[tuple[str, str]]:
    """Yield the lines of a status as pairs of a name and a text; lines that do not apply are left out."""
    not_read = [f"{number:,} {name}" for name, number in (("waiting", report.chunks_waiting),
                                                         ("failed", report.chunks_failed)) if number]
    partly = f"; {format_count(len(report.partly_read), 'document')} only in part" if report.partly_read else ""
    yield "documents", (f"{report.documents:,}, in {format_count(report.chunks, 'chunk')}"
                        + (f", of which {' and '.join(not_read)}" if not_read else ", all read") + partly)
    if report.read_by:
        yield "read by", ", ".join(f"{_READERS.get(reader) or on_a_line(reader)}: {format_count(number, 'chunk')}"
                                   for reader, number in report.read_by.items())
    yield "graph", ", ".join((
        format_count(report.entities, "entity", "entities"), format_count(report.triples, "fact"),
        format_count(report.attributes, "attribute"), format_count(report.communities, "community", "communities")))
    if "rules" in report.read_by:
        yield "sentences", ("rules read no facts from sentences, a model does (set one, then: banyan build PATH "
                            "--reread)")
    waiting = (f"; waiting: {format_count(report.candidates_waiting, 'candidate')} (decide: banyan schema review --kb "
               f"{escape(report.kb)}; admit all: the same with --all accept)")
    yield "schema", (f"{on_a_line(report.schema_name) or 'none yet'}, version {report.schema_version}"
                     + (waiting if report.candidates_waiting else ""))
    if report.facts_not_admitted:
        yield "not admitted", (f"{format_count(sum(report.facts_not_admitted.values()), 'fact')}: " + ", ".join(
            f"{number:,} {_REASONS.get(reason, reason)}" for reason, number in sorted(
                report.facts_not_admitted.items(), key=lambda item: (-item[1], item[0]))))
    if report.repaired:
        yield "repaired", ", ".join(f"{number:,} {_REPAIRS[kind]}" for kind, number in sorted(
            report.repaired.items(), key=lambda item: (-item[1], item[0])))
    yield "embedding", on_a_line(report.embedding_model)


def _spending_table(status: Status) -> Table:
    table = Table("spent on", "calls", "prompt", "cached", "completion", "wasted", "cost", title="Spent")

    def add(name: str, spent: Spent) -> None:
        table.add_row(name, *map(str, (spent.calls, spent.prompt, spent.cached, spent.completion, spent.wasted)),
                      money(spent.cost))

    parts: dict[str, Sequence[Spent]] = {"step": status.spent_by_step,
                                         "build": status.spent_by_build[-_SHOWN_BUILDS:],
                                         "document": status.dearest_documents}
    for kind, rows in parts.items():
        for row in rows:
            add(f"{kind} {on_a_line(row.name)}" if row.name else f"no {kind}", row)
        table.add_section()
    add("all", status.spent)
    return table
