"""`banyan entities`: the names of each entity and why they were merged, and decisions on that (more in `edits.py`)."""

import getpass
from typing import Annotated, Literal

import typer
from rich.tree import Tree

from ...graph_store.knowledge_base import KnowledgeBase
from ...schemas.naming import canonical_name
from ...schemas.resolution import Alias, EntityGroup
from ..console import err, on_a_line, out, print_json
from ..session import AsJson, Kb, default_kb, opened

app = typer.Typer()
entities_app = typer.Typer(help="List entities that have several names; change entities and their facts.")
app.add_typer(entities_app, name="entities")

Name = Annotated[str, typer.Argument(help="An entity's name, `name (type)`, or id.")]
Why = Annotated[str, typer.Option(help="The reason, for others to read.")]

_SHOWN_CHARACTERS = 40


@entities_app.callback(invoke_without_command=True)
def entities(
    context: typer.Context,
    kb: Annotated[str, typer.Option("--kb", help="Name of the knowledge base.")] = "",
    search: Annotated[str, typer.Option(help="Only entities with a name that contains these words.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="How many to print.")] = 50,
    *, as_json: AsJson = False,
) -> None:
    """List the entities that have several names, and why each name was merged."""
    if context.invoked_subcommand is not None:
        return
    with opened(reasons=False) as resources:
        knowledge_base = resources.knowledge_base(kb or default_kb())
        wanted = canonical_name(search)
        groups = [group for group in knowledge_base.graph.groups()
                  if any(wanted in canonical_name(name) for name in (group.name, *(a.name for a in group.aliases)))]
        if as_json:
            print_json([group.model_dump() for group in groups])
        else:
            _show(knowledge_base, groups, limit)


def _show(knowledge_base: KnowledgeBase, groups: list[EntityGroup], limit: int) -> None:
    root = Tree(f"{on_a_line(knowledge_base.layout.name)}: {len(groups)} entities with several names"
                + (" [yellow](facts have changed since: build again)[/yellow]"
                   if knowledge_base.entities.resolved_state() is None else ""))
    for group in groups[:limit]:
        branch = root.add(f"[bold]{on_a_line(group.name)}[/bold] [dim]{on_a_line(group.type)}[/dim]")
        for alias in group.aliases:
            branch.add(f"{on_a_line(alias.name)} [dim]{alias.rule.replace('_', ' ')}, {alias.score:.2f}: "
                       f"{on_a_line(_words(knowledge_base, alias))}[/dim]")
    if len(groups) > limit:
        root.add(f"[dim]and {len(groups) - limit} more (--limit)[/dim]")
    out.print(root)


def _words(knowledge_base: KnowledgeBase, alias: Alias) -> str:
    """Return the words of the first passage that supports an alias."""
    span = alias.evidence[0]
    chunk = next(iter(knowledge_base.documents.chunks([span.chunk])), None)
    if chunk is None:
        return "its passage no longer exists: build again"
    start, end = max(span.start - _SHOWN_CHARACTERS, 0), span.end + _SHOWN_CHARACTERS
    return f"{chunk.document_id}: …{chunk.text[start:end]}…"


@entities_app.command()
def merge(first: Name, second: Name, kb: Kb, why: Why = "") -> None:
    """Merge two entities into one, even if their names differ."""
    _decide(kb, "merge", first, second, why)


@entities_app.command()
def split(first: Name, second: Name, kb: Kb, why: Why = "") -> None:
    """Split entities that were merged; each gets its own facts back."""
    _decide(kb, "split", first, second, why)


def _decide(kb: str, verdict: Literal["merge", "split"], first: str, second: str, why: str) -> None:
    with opened(reasons=False) as resources, err.status("resolving"):
        resources.decide_entities(kb, verdict, (first, second), getpass.getuser(), why)
    out.print(f"{'merged' if verdict == 'merge' else 'split'}: {on_a_line(first)}, {on_a_line(second)}")
