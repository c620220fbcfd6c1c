"""Commands on the home folder: list, rename and drop knowledge bases, and show who changed what."""

import sys
from contextlib import closing
from typing import Annotated, Any

import typer
from rich.table import Table

from ...config import Settings
from ...graph_store import moving
from ...graph_store.layout import Layout, knowledge_bases
from ...graph_store.ledger.database import Database
from ...graph_store.ledger.document_rows import Documents
from ...graph_store.store_errors import StoreError
from ...runtime.audit import entries
from ...text.shown_numbers import format_count
from ..console import CommandError, err, on_a_line, out, print_json, table_of
from ..session import AsJson

app = typer.Typer()

Name = Annotated[str, typer.Argument(help="The knowledge base's name.")]


@app.command(name="list")
def list_bases(*, as_json: AsJson = False) -> None:
    """List all knowledge bases and where they are stored."""
    settings = Settings()
    home = settings.home
    listed = [_count_contents(settings, name) for name in knowledge_bases(settings)]
    if as_json:
        print_json(listed)
        return
    if not listed:
        err.print(f"there is no knowledge base in {on_a_line(str(home))} yet: make one with `banyan build PATH --kb "
                  "NAME`", soft_wrap=True)
        return
    table = Table("knowledge base", "documents", "chunks")
    for entry in listed:
        counts = str(entry["documents"]), str(entry["chunks"])
        if entry["problem"]:  # the counts are not known
            counts = "?", f"[red]{on_a_line(entry['problem'])}[/red]"
        table.add_row(on_a_line(entry["kb"]), *counts)
    out.print(table)
    out.print(f"[dim]in {on_a_line(str(home.absolute()))}[/dim]", soft_wrap=True)


def _count_contents(settings: Settings, name: str) -> dict[str, Any]:
    """Return a knowledge base's counts of documents and chunks; `problem` is why it cannot be read, or empty."""
    try:
        with closing(Database(Layout.by(settings, name).require().ledger, create=False)) as database:
            documents = Documents(database)
            return {"kb": name, "documents": documents.count_documents(), "chunks": documents.count(), "problem": ""}
    except StoreError as error:
        return {"kb": name, "documents": 0, "chunks": 0, "problem": str(error)}


@app.command()
def rename(old: Name, new: Annotated[str, typer.Argument(help="The new name.")]) -> None:
    """Give a knowledge base another name."""
    settings = Settings()
    moving.rename(Layout.by(settings, old), new)
    _move_conversations(settings, old, new)
    out.print(f"renamed {on_a_line(old)} to {on_a_line(new)}", soft_wrap=True)


@app.command()
def drop(name: Name, *, yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False) -> None:
    """Delete a knowledge base and everything stored in it; asks first."""
    settings = Settings()
    layout = Layout.by(settings, name)
    if not yes:
        if not sys.stdin.isatty():
            raise CommandError(f"deleting {name!r} needs your confirmation, and no terminal is attached: add --yes")
        entry = _count_contents(settings, name)
        what = (f"? It cannot be read ({entry['problem']})." if entry["problem"] else
                f" with {format_count(entry['documents'], 'document')} and everything derived from them?")
        typer.confirm(f"Delete {name}{what} Your files stay.", abort=True)
    moving.drop(layout)
    _move_conversations(settings, name, new="")  # deletes them
    out.print(f"dropped {on_a_line(name)}", soft_wrap=True)


@app.command()
def audit(kb: Annotated[str, typer.Option("--kb", help="Only changes of this knowledge base.")] = "", *,
          as_json: AsJson = False) -> None:
    """List who changed which knowledge base, and who created and revoked keys."""
    home = Settings().home
    listed = [entry for entry in (entries(home) if home.is_dir() else ()) if kb in {"", entry.knowledge_base}]
    if as_json:
        print_json([entry.model_dump() for entry in listed])
        return
    out.print(table_of(("time", "who", "action", "knowledge base", "what"), (
        (entry.time, entry.who, entry.action, entry.knowledge_base, entry.what) for entry in listed)))


def _move_conversations(settings: Settings, old: str, new: str) -> None:
    """Move a server's conversations about a renamed knowledge base; delete them if `new` is empty."""
    # Importing this takes half a second, and only two commands need it.
    from ...server.runs.conversations import move_conversations  # noqa: PLC0415

    move_conversations(settings, old, new)
