"""`banyan forget`: delete the documents that mention an entity."""

from typing import Annotated

import typer
from rich.tree import Tree

from ...graph_store.entity_mentions import EntityMentions, find_entity_mentions
from ..console import err, format_count, on_a_line, out, print_json
from ..session import AsJson, Kb, open_resources

app = typer.Typer()

_SHOWN_DOCUMENTS, _SHOWN_SENTENCES = 20, 3
"""What is shown before the question; the rest is counted."""


@app.command()
def forget(
    entity: Annotated[str, typer.Argument(help="An entity's name, `name (type)`, or id.")],
    kb: Kb,
    *, dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what mentions it; delete nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False, as_json: AsJson = False,
) -> None:
    """Delete every document that mentions an entity, by any of its names; shows them and asks first."""
    with open_resources(reasons=False) as resources:
        mentions = find_entity_mentions(resources.knowledge_base(kb), entity)
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
