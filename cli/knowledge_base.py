"""Commands on a whole knowledge base: what it holds, whether it is sound, deleting a document, reindexing."""

import json
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from ..graph_store.integrity.status import Status, status_of
from ..graph_store.integrity.verify import damages_on_disk
from ..graph_store.integrity.verify import verify as find_problems
from ..graph_store.layout import Layout
from ..graph_store.ledger.accounts import Spent
from .console import err, escape, money, on_a_line, out, print_json
from .session import AsJson, Kb, opened

app = typer.Typer()

_SHOWN_BUILDS = 5


@app.command()
def documents(kb: Kb, *, as_json: AsJson = False) -> None:
    """List the documents of a knowledge base."""
    with opened(reasons=False) as resources:
        entries = resources.knowledge_base(kb).documents.entries()
    if as_json:
        print_json([entry.model_dump() for entry in entries])
        return
    table = Table("document", "title", "characters", "chunks", "failed", "added")
    for entry in entries:
        table.add_row(on_a_line(entry.id), on_a_line(entry.title), str(entry.characters), str(entry.chunks),
                      str(entry.failed), entry.added_at)
    out.print(table)


@app.command()
def status(kb: Kb, *, as_json: AsJson = False) -> None:
    """Show what a knowledge base holds, what failed, and what was spent."""
    with opened(reasons=False) as resources:
        report = status_of(resources.knowledge_base(kb), resources.spending.prices)
    if as_json:
        print_json(report.model_dump())
        return
    table = Table(show_header=False, title=f"Knowledge base {escape(kb)}")
    spent = {"tokens", "spent", "spent_by_step", "spent_by_build", "dearest_documents"}
    for field, value in report.model_dump(exclude=spent).items():
        shown = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | tuple) else value
        table.add_row(field.replace("_", " "), escape(str(shown)))
    out.print(table)
    if report.spent.calls:
        out.print(_spending(report))


def _spending(status: Status) -> Table:
    """What was spent by step, by the latest builds, and for the most expensive documents."""
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


@app.command()
def verify(kb: Kb, *, as_json: AsJson = False) -> None:
    """Check a knowledge base against its invariants; exits 1 if something is wrong."""
    with opened(reasons=False) as resources:
        damages = damages_on_disk(Layout.of(resources.settings.home, kb, resources.settings.chroma_server).require())
        problems = [*damages, *find_problems(resources.knowledge_base(kb))]
    if as_json:
        print_json({"kb": kb, "problems": [problem.model_dump() for problem in problems]})
    else:
        for problem in problems:
            out.print(f"[red]{on_a_line(problem.what)}[/red]: {on_a_line(problem.fix)}")
        out.print("all is well" if not problems else f"{len(problems)} problems")
    if problems:
        raise typer.Exit(1)


@app.command()
def delete(document: Annotated[str, typer.Argument(help="The document's id.")], kb: Kb) -> None:
    """Delete a document with all that only it supports."""
    with opened() as resources:
        resources.delete_document(kb, document)
    out.print(f"deleted {on_a_line(document)}")


@app.command()
def reindex(kb: Kb) -> None:
    """Rebuild graph, vectors and tree from the ledger, with the current embedding model."""
    with opened() as resources, err.status("reindexing"):
        resources.reindex(kb)
    out.print("done")
