"""`banyan export`, `banyan backup` and `banyan restore`: save a knowledge base to a file, and load it again."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ...agents.resources import Resources
from ...api.progress import track
from ...export.export_file import write_file
from ...export.export_formats import ExportFormat, export_pieces
from ...graph_store.integrity.backup import back_up
from ...graph_store.integrity.restore import restore as restore_ledger
from ...graph_store.layout import Layout
from ...graph_store.store_errors import StoreError
from ..console import err, on_a_line, out, print_json
from ..session import AsJson, Kb, NewKb, open_resources

app = typer.Typer()

_STANDARD_OUTPUT = Path("-")


@app.command()
def export(
    kb: Kb,
    form: Annotated[ExportFormat, typer.Option("--format", help="html: one page that works offline.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Write to this file; -: to standard output.")],
) -> None:
    """Write a knowledge base with its tree as GraphML, JSON, Cypher statements or an HTML page.

    An existing file is replaced only once everything is written.
    """
    with open_resources(reasons=False) as resources, err.status("reading"), resources.snapshot(kb) as snapshot:
        graph = snapshot.kb.tree_graph()
        pieces = export_pieces(form, graph, lambda: snapshot.index)
    if not graph.graph["current"]:
        err.print(f"[yellow]the tree is out of date:[/yellow] build again, or run `banyan reindex --kb {kb}`")
    if output == _STANDARD_OUTPUT:
        sys.stdout.buffer.writelines(piece.encode() for piece in pieces)
        return
    with err.status("writing"):
        size = write_file(output, pieces)
    err.print(f"{graph.number_of_nodes()} nodes and {graph.number_of_edges()} edges written to "
              f"{on_a_line(str(output))}, {size:,} bytes", soft_wrap=True)


@app.command()
def backup(kb: Kb, output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")], *,
           force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
           as_json: AsJson = False) -> None:
    """Write a knowledge base to one file, even while a build runs.

    The file is a zip of ledger.sqlite (documents, chunks, their extractions, schema versions and decisions,
    communities with their summaries, LLM responses, accounts) as it is when the command runs, and manifest.json with
    its size and SHA-256. It does not contain graph and vectors: `restore` rebuilds them from the ledger without
    calling an LLM. Nor does it contain your source files and settings.
    """
    with open_resources(reasons=False) as resources, track(err, "copying") as progress:
        layout = Layout.by(resources.settings, kb).require()
        manifest = back_up(layout, output, resources.embedder, progress, force=force)
    size = output.stat().st_size
    if as_json:
        print_json({"kb": kb, "file": str(output), "bytes": size, **manifest.model_dump(exclude={"name"})})
        return
    out.print(f"{manifest.documents} documents, {manifest.chunks} chunks and {manifest.extractions} extractions "
              f"written to {on_a_line(str(output))}, {size:,} bytes", soft_wrap=True)


@app.command()
def restore(file: Annotated[Path, typer.Argument(help="A file that `banyan backup` wrote.")], kb: NewKb, *,
            force: Annotated[bool, typer.Option("--force", help="Replace a knowledge base of that name.")] = False,
            as_json: AsJson = False) -> None:
    """Create a knowledge base from a backup, under any name, without calling an LLM.

    The format, sizes, checksum and every row of the file are checked before anything is changed. If the command is
    interrupted, either the old knowledge base or the new one is in effect.
    """
    with open_resources(reasons=False) as resources:
        layout = Layout.by(resources.settings, kb)
        with track(err, "restoring") as progress:
            manifest = restore_ledger(file, layout, resources.embedder, progress, force=force)
        fix = _derive(resources, kb)
    if as_json:
        print_json({"kb": kb, **manifest.model_dump(exclude={"name"}), "derived": not fix})
    else:
        out.print(f"{manifest.documents} documents, {manifest.chunks} chunks and {manifest.extractions} extractions "
                  f"restored to {kb}, as they were on {manifest.created}", soft_wrap=True)
    if fix:
        err.print(f"[yellow]the vectors are not built yet:[/yellow] {on_a_line(fix)}", soft_wrap=True)


def _derive(resources: Resources, kb: str) -> str:
    """Build graph and vectors; return how to build them later if this is not possible now."""
    try:
        with err.status("embedding"), resources.snapshot(kb) as snapshot:
            return snapshot.kb.unwritten
    except (StoreError, OSError) as error:  # the ledger is restored, and another model is in use
        return str(error)
