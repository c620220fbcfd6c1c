"""`banyan tree`: the knowledge tree, from communities down to attributes, and further views of the graph."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.tree import Tree

from .console import on_a_line
from .shared import AsJson, Kb, err, opened, out, print_json

if TYPE_CHECKING:
    from ..graph_store.graph.knowledge_graph import KnowledgeGraph
    from ..graph_store.knowledge_base import KnowledgeBase
    from ..graph_store.ledger.communities import Community

_FACTS = 3
_ATTRIBUTES = 3


def tree(
    kb: Kb,
    view: Annotated[str, typer.Option(help="Another view: modularity, attribute:NAME[:decade], relation:NAME, "
                                           "'pattern:NAME>^NAME'; none: the communities.")] = "",
    most: Annotated[int, typer.Option(min=1, help="How many communities to print, largest first.")] = 20,
    level: Annotated[int, typer.Option(min=0, help="0: the finest communities; above: communities of them.")] = 0,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="What describing all communities would cost.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the knowledge tree: communities, their keywords, the facts about those, and attributes."""
    with opened(reasons=False) as resources:
        if dry_run:
            from ..agents.estimate import estimate_summaries  # noqa: PLC0415

            estimate = estimate_summaries(resources, kb)
            if as_json:
                print_json(estimate.model_dump())
            else:
                out.print(f"{estimate.communities} communities, {estimate.calls} calls, about "
                          f"{estimate.prompt_tokens} prompt and {estimate.completion_tokens} completion tokens")
            return
        if view:
            with err.status("grouping"):
                found = resources.build_view(kb, view)
        else:
            found = resources.knowledge_base(kb).communities.all(level=level)
        _show(resources.knowledge_base(kb), found, most, as_json=as_json)


def _show(knowledge_base: "KnowledgeBase", found: "Sequence[Community]", most: int, *, as_json: bool) -> None:
    graph = knowledge_base.graph
    if as_json:
        print_json([{**community.model_dump(exclude={"keywords"}),
                     "keywords": [graph.entity(one).name for one in community.keywords]} for community in found])
        return
    # Size alone would put first what nothing but its loneliness holds together.
    largest = sorted(found, key=lambda c: (-len(c.members) * max(c.cohesion, 0.0), -len(c.members), c.id))
    root = Tree(f"{knowledge_base.layout.name}: {len(found)} communities of {len(graph.entity_ids())} entities"
                + (" [yellow](the tree is behind the facts: build again)[/yellow]" if knowledge_base.tree_behind()
                   else ""))
    for community in largest[:most]:
        _add(root, graph, community)
    if len(largest) > most:
        root.add(f"[dim]and {len(largest) - most} more (--most)[/dim]")
    out.print(root)


def _add(root: Tree, graph: "KnowledgeGraph", community: "Community") -> None:
    keywords = [graph.entity(one) for one in community.keywords]
    title = community.name or ", ".join(entity.name for entity in keywords)
    branch = root.add(f"[bold]{on_a_line(title)}[/bold]  [dim]{len(community.members)} entities, cohesion "
                      f"{community.cohesion:.2f}[/dim]")
    if community.summary:
        branch.add(f"[italic]{on_a_line(community.summary)}[/italic]")
    members = set(community.members)
    for one, entity in zip(community.keywords, keywords, strict=True):
        twig = branch.add(f"{on_a_line(entity.name)} [dim]{on_a_line(entity.type)}[/dim]")
        facts = sorted(graph.incident(one), key=lambda edge: (not members.issuperset((edge[0], edge[2])), edge))
        for edge in facts[:_FACTS]:
            twig.add(on_a_line(graph.triple(edge).text()))
        for name, values in list(graph.attributes(one).items())[:_ATTRIBUTES]:
            twig.add(f"[cyan]{on_a_line(name)}[/cyan]: {on_a_line(', '.join(values))}")
