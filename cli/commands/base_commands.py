"""Commands on one knowledge base: list, delete and forget documents, set instructions, verify, reindex."""

import shlex
from typing import Annotated

import typer
from rich.tree import Tree

from ...api.progress import track
from ...graph_store.entity_mentions import EntityMentions, find_entity_mentions
from ...graph_store.integrity.verify import damages_on_disk
from ...graph_store.integrity.verify import verify as find_problems
from ...graph_store.layout import Layout
from ...graph_store.ledger.instructions import Purpose
from ..console import err, escape, format_count, on_a_line, out, print_json, table_of
from ..session import AsJson, Kb, open_resources

app = typer.Typer()

_SHOWN_DOCUMENTS, _SHOWN_SENTENCES = 20, 3
"""What is shown before the question; the rest is counted."""


@app.command()
def documents(kb: Kb, *, as_json: AsJson = False) -> None:
    """List the documents of a knowledge base."""
    with open_resources(reasons=False) as resources, resources.snapshot(kb) as snapshot:
        entries = snapshot.kb.documents.entries()
    if as_json:
        print_json([entry.model_dump() for entry in entries])
        return
    out.print(table_of(("document", "title", "characters", "chunks", "failed", "added"), (
        (entry.id, entry.title, entry.characters, entry.chunks, entry.failed, entry.added_at) for entry in entries)))


@app.command()
def verify(kb: Kb, *, as_json: AsJson = False) -> None:
    """Check a knowledge base against its invariants; exits 1 if something is wrong."""
    with open_resources(reasons=False) as resources:
        damages = damages_on_disk(Layout.by(resources.settings, kb).require())
        with resources.snapshot(kb) as snapshot:
            problems = [*damages, *find_problems(snapshot.kb)]
    if as_json:
        print_json({"kb": kb, "problems": [problem.model_dump() for problem in problems]})
    else:
        for problem in problems:
            out.print(f"[red]{on_a_line(problem.what)}[/red]: {on_a_line(problem.fix)}")
        out.print("all is well" if not problems else f"{len(problems)} problems")
    if problems:
        raise typer.Exit(1)


@app.command()
def delete(documents: Annotated[list[str], typer.Argument(help="The documents' ids.")], kb: Kb) -> None:
    """Delete documents, and everything that no other document supports."""
    with open_resources(reasons=False) as resources:
        resources.delete_documents(kb, list(dict.fromkeys(documents)))
    for document in documents:
        out.print(f"deleted {on_a_line(document)}")


@app.command()
def reindex(kb: Kb, *, fresh_verdicts: Annotated[bool, typer.Option("--fresh-verdicts", help=(
        "Let the model judge again which labels and which entities are the same, as if all documents had come at "
        "once."))] = False) -> None:
    """Rebuild graph, vectors and tree from the ledger, with the embedding model that the settings name.

    With `BANYAN_EMBEDDING_MODEL=auto` it is chosen again, by the languages of the documents as they are now.
    """
    with open_resources() as resources, track(err, "reindexing") as show:
        resources.reindex(kb, fresh_verdicts=fresh_verdicts, progress=show)
    out.print(f"{kb}: facts, vectors, graph and tree are built again")


@app.command()
def instructions(
    kb: Kb,
    text: Annotated[str | None, typer.Argument(help="The new instructions; omit to show the current ones.")] = None,
    *,
    purpose: Annotated[Purpose, typer.Option("--for", help=(
        "What they are for: the wording of answers, or extraction from documents."))] = "answers",
    clear: Annotated[bool, typer.Option("--clear", help="Remove the instructions.")] = False,
) -> None:
    """Show or set what a model is to heed when it words answers, or when it extracts from documents.

    For answers: tone, length, format, language. Citations are checked all the same.

    For extraction: what to extract, what to leave out, and what terms mean. The text is paid for with every extraction
    call. Documents already read stay as they are until you read them again.
    """
    with open_resources(reasons=False) as resources:
        changed = text is not None or clear
        if changed:
            resources.instruct(kb, text or "", purpose)
        with resources.snapshot(kb) as snapshot:
            stored = snapshot.kb
            current = (stored.instructions if purpose == "answers" else stored.extraction_instructions).get()
            documents, is_read = stored.documents.count_documents(), stored.documents.count_status("done") > 0
    out.print(escape(current) if current else "[dim]no instructions[/dim]", soft_wrap=True)
    if changed and not documents:
        err.print(f"{on_a_line(kb)} has no documents yet: add some with `banyan build`")
    elif changed and purpose == "extraction" and is_read:
        command = f"banyan build PATH --kb {shlex.quote(kb)} --reread"
        err.print("Documents already read stay as they are. To have a model read them again: "
                  f"{on_a_line(command)} (add --dry-run to see the cost first)", soft_wrap=True)


@app.command()
def forget(
    entity: Annotated[str, typer.Argument(help="An entity's name, `name (type)`, or id.")],
    kb: Kb,
    *, dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what mentions it; delete nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False, as_json: AsJson = False,
) -> None:
    """Delete every document that mentions an entity, by any of its names; shows them and asks first."""
    with open_resources(reasons=False) as resources:
        with resources.snapshot(kb) as snapshot:
            mentions = find_entity_mentions(snapshot.kb, entity)
        if as_json:
            print_json({"kb": kb, "entity": mentions.name, "documents": mentions.sentences, "deleted": not dry_run})
        else:
            _show(mentions)
        if dry_run:
            return
        number = format_count(len(mentions.sentences), "document")
        if not yes and not typer.confirm(f"Delete {number} from {kb}?"):
            raise typer.Abort
        resources.delete_documents(kb, list(mentions.sentences))
    err.print("Files and earlier backups still have it, and so have a server's conversations about it: `banyan build` "
              "of the same files brings it back.", soft_wrap=True)


def _show(mentions: EntityMentions) -> None:
    root = Tree(f"[bold]{on_a_line(mentions.name)}[/bold] is mentioned in "
                f"{format_count(len(mentions.sentences), 'document')}")
    for document, sentences in list(mentions.sentences.items())[:_SHOWN_DOCUMENTS]:
        branch = root.add(on_a_line(document))
        for sentence in sentences[:_SHOWN_SENTENCES]:
            branch.add(on_a_line(sentence))
        if len(sentences) > _SHOWN_SENTENCES:
            branch.add(f"[dim]and {len(sentences) - _SHOWN_SENTENCES} more sentences[/dim]")
    if len(mentions.sentences) > _SHOWN_DOCUMENTS:
        root.add(f"[dim]and {len(mentions.sentences) - _SHOWN_DOCUMENTS} more documents[/dim]")
    out.print(root)
