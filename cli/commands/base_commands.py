"""Commands on one knowledge base: its documents and instructions, verify, reindex, export, backup, restore."""

import getpass
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ...api.progress import track
from ...export.export_formats import FORMATS, ExportFormat
from ...export.wiki import INDEX, wiki
from ...graph_store.integrity.backup import back_up
from ...graph_store.integrity.backup import restore as restore_ledger
from ...graph_store.integrity.verify import RESTORE, Problem, damages_on_disk
from ...graph_store.integrity.verify import verify as find_problems
from ...graph_store.layout import Layout
from ...graph_store.ledger.notes import Purpose
from ...graph_store.store_errors import StoreError
from ..console import CommandError, err, out, print_json, print_table, write_file
from ..session import AsJson, Kb, NewKb, open_resources

app = typer.Typer()
_STANDARD_OUTPUT = Path("-")
Output = Annotated[Path, typer.Option("--output", "-o")]


@app.command()
def documents(kb: Kb, *, supersedes: Annotated[tuple[str, str] | None, typer.Option(metavar="NEWER OLDER")] = None,
              trust: Annotated[tuple[str, int] | None, typer.Option(metavar="PATTERN RANK")] = None,
              as_json: AsJson = False) -> None:
    """List the documents of a knowledge base, or state which one supersedes another or is trusted more."""
    with open_resources(uses_model=False) as resources:
        if supersedes:
            number = resources.edit(kb, lambda edits: edits.supersede(*supersedes, getpass.getuser()))
            out.say("edit {}: {} supersedes {}", number, *supersedes)
        if trust:
            number = resources.edit(kb, lambda edits: edits.trust(*trust, getpass.getuser()))
            out.say("edit {}: trust {} by rank {}", number, *trust)
        if supersedes or trust:
            return
        with resources.snapshot(kb) as snapshot:
            entries = snapshot.kb.documents.entries()
    if as_json:
        print_json([entry.model_dump() for entry in entries])
    else:
        print_table(("document", "title", "characters", "chunks", "failed", "added", "trust"), [
            (entry.id, entry.title, entry.characters, entry.chunks, entry.failed, entry.added_at, entry.trust)
            for entry in entries])


@app.command()
def verify(kb: Kb, *, repair: bool = False, as_json: AsJson = False) -> None:
    """Check a knowledge base against its invariants; exits 1 if something is wrong."""
    problems, repaired = _find_problems(kb), list[Problem]()
    # Rebuilding what is derived mends all but damaged files, which only a backup can restore.
    if repair and any(problem.fix != RESTORE for problem in problems):
        with open_resources(uses_model=False) as resources:
            resources.reindex(kb)
        problems_before, problems = problems, _find_problems(kb)
        repaired = [problem for problem in problems_before if problem not in problems]
    if as_json:
        print_json({"kb": kb, "problems": [problem.model_dump() for problem in problems],
                    "repaired": [problem.what for problem in repaired]})
    else:
        for problem in repaired:
            out.say("[green]repaired:[/green] {}", problem.what)
        for problem in problems:
            out.say("[red]{}[/red]: {}", problem.what, problem.fix)
        out.print("all is well" if not problems else f"{len(problems)} problems")
    if problems:
        raise typer.Exit(1)


def _find_problems(kb: str) -> list[Problem]:
    """Check the files and rows of a knowledge base, and what is derived from the rows, while nobody writes to it."""
    # It opens its own resources: those opened before a repair would still read the vectors from before it.
    with open_resources(uses_model=False) as resources:
        layout = Layout.by(resources.settings, kb).require()
        damages = damages_on_disk(layout)
        with resources.snapshot(kb) as snapshot, layout.alone():
            return [*damages, *find_problems(snapshot.kb)]


@app.command()
def delete(documents: list[str], kb: Kb) -> None:
    """Delete documents, and everything that no other document supports."""
    with open_resources(uses_model=False) as resources:
        resources.delete_documents(kb, list(dict.fromkeys(documents)))
    for document in documents:
        out.say("deleted {}", document)


@app.command()
def reindex(kb: Kb, *, fresh_verdicts: bool = False) -> None:
    """Rebuild graph, vectors and tree from the ledger, with the embedding model that the settings name."""
    with open_resources() as resources, track(err, "reindexing") as show:
        resources.reindex(kb, fresh_verdicts=fresh_verdicts, progress=show)
    out.print(f"{kb}: facts, vectors, graph and tree are built again")


@app.command()
def instructions(kb: Kb, text: Annotated[str | None, typer.Argument()] = None, *,
                 purpose: Annotated[Purpose, typer.Option("--for")] = "answers", clear: bool = False) -> None:
    """Show or set what a model is to heed when it words answers, or when it extracts from documents."""
    with open_resources(uses_model=False) as resources:
        if text is not None or clear:
            resources.instruct(kb, text or "", purpose)
        with resources.snapshot(kb) as snapshot:
            stored = snapshot.kb
            current = (stored.instructions if purpose == "answers" else stored.extraction_instructions).get()
    out.print(escape(current) if current else "[dim]no instructions[/dim]", soft_wrap=True)


@app.command()
def export(kb: Kb, form: Annotated[ExportFormat, typer.Option("--format")], output: Output) -> None:
    """Write a knowledge base as GraphML, JSON, Cypher statements, an HTML page or a wiki of Markdown pages."""
    with open_resources(uses_model=False) as resources, err.status("writing"), resources.snapshot(kb) as snapshot:
        graph = snapshot.kb.make_node_link().graph()
        if not graph.graph["current"]:  # documents were added or deleted since the tree was built
            err.print(f"[yellow]the tree is out of date:[/yellow] build again, or run `banyan reindex --kb {kb}`")
        if form == "wiki" and output != _STANDARD_OUTPUT and output.suffix != ".zip":
            if output.is_file() or (output.is_dir() and any(output.iterdir())):
                raise CommandError(f"{output} is not empty: name a new folder, or delete this one first")
            for page in wiki(graph, snapshot.index.sql):
                (output / page.path).parent.mkdir(parents=True, exist_ok=True)
                (output / page.path).write_text(page.text, "utf-8")
            err.say("the wiki is written to {}; begin with {}", output, INDEX)
            return
        pieces = FORMATS[form].write(graph, snapshot.index.sql)
        if output == _STANDARD_OUTPUT:
            sys.stdout.buffer.writelines(pieces)
            return
        size = write_file(output, pieces)
    err.say("{} nodes and {} edges written to {}, {} bytes", graph.number_of_nodes(), graph.number_of_edges(), output,
            f"{size:,}")


@app.command()
def backup(kb: Kb, output: Output, *, force: bool = False, as_json: AsJson = False) -> None:
    """Write a knowledge base to one file, even while a build runs."""
    with open_resources(uses_model=False) as resources, err.status("copying"):
        manifest = back_up(Layout.by(resources.settings, kb).require(), output, resources.embedder, force=force)
    size = output.stat().st_size
    if as_json:
        print_json({"kb": kb, "file": str(output), "bytes": size, **manifest.model_dump(exclude={"name"})})
        return
    out.say("{} documents, {} chunks and {} extractions written to {}, {} bytes", manifest.documents, manifest.chunks,
            manifest.extractions, output, f"{size:,}")


@app.command()
def restore(file: Path, kb: NewKb, *, force: bool = False, as_json: AsJson = False) -> None:
    """Create a knowledge base from a backup, under any name, without calling an LLM."""
    with open_resources(uses_model=False) as resources:
        layout = Layout.by(resources.settings, kb)
        with err.status("restoring"):
            manifest = restore_ledger(file, layout, resources.embedder, force=force)
        try:
            with err.status("embedding"), resources.snapshot(kb) as snapshot:  # opening it builds what is missing
                fix = snapshot.kb.unwritten  # what to do if the vectors could not be written, else ""
        except (StoreError, OSError) as error:
            fix = str(error)
    if as_json:
        print_json({"kb": kb, **manifest.model_dump(exclude={"name"}), "derived": not fix})
    else:
        out.say("{} documents, {} chunks and {} extractions restored to {}, as they were on {}", manifest.documents,
                manifest.chunks, manifest.extractions, kb, manifest.created)
    if fix:
        err.say("[yellow]the vectors are not built yet:[/yellow] {}", fix)
