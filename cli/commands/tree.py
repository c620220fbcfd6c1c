"""`banyan tree`: the knowledge tree, from communities down to attributes, and further views of the graph."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.tree import Tree

from ...graph_store.graph.knowledge_graph import KnowledgeGraph
from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.ledger.communities import TreeCommunity
from ...schemas.inquiry import Block
from ...tools.schema_names import LabelledTerms
from ...tools.surveys import survey_along, survey_by
from ..console import CommandError, left_out, on_a_line, out, print_json
from ..session import AsJson, Kb, open_resources

app = typer.Typer()

_FACTS_SHOWN, _ATTRIBUTES_SHOWN = 3, 3
"""The facts and attributes to print of each keyword of a community."""
_SURVEY_TOKENS = 20_000
"""The most tokens of a survey, which is enough for any field that has groups; what does not fit is counted."""


@app.command()
def tree(
    kb: Kb,
    by: Annotated[str, typer.Option(metavar="FIELD", help="Instead: groups by a field, or by a period of it: "
                                                          "FIELD.year, FIELD.month, FIELD.decade.")] = "",
    alpha: Annotated[float | None, typer.Option(min=0, max=1, metavar="0..1", help=(
        "With --by: groups of what facts link, too; 0: by facts alone, 1: by the field alone."))] = None,
    along: Annotated[str, typer.Option(metavar="PATH", help="Instead: what relations reach from --root: "
                                                            "'requires -> *', '<requires -> changes'.")] = "",
    root: Annotated[str, typer.Option(metavar="ENTITY", help="The entity where --along begins.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="How many communities to print, largest first.")] = 20,
    level: Annotated[int, typer.Option(min=0, help="0: the finest communities; above: communities of them.")] = 0,
    *,
    as_json: AsJson = False,
) -> None:
    """Print the knowledge tree: communities, their keywords, the facts about those, and attributes."""
    if by == "" and alpha is not None:
        raise CommandError("--alpha is for groups: say by which field with --by")
    if along and not root:
        raise CommandError("--along begins at an entity: name it with --root")
    with open_resources(reasons=False) as resources, resources.snapshot(kb) as snapshot:
        index, terms = snapshot.index, LabelledTerms(snapshot.index, snapshot.kb.schemas.current())
        if along:
            _show_survey(survey_along(index, terms, root, along, _SURVEY_TOKENS), as_json=as_json)
        elif by:
            _show_survey(survey_by(index, terms, by, _SURVEY_TOKENS, alpha), as_json=as_json)
        else:
            _show_communities(snapshot.kb, snapshot.kb.communities.all(level=level), limit, as_json=as_json)


def _show_survey(blocks: Sequence[Block], *, as_json: bool) -> None:
    (block,) = blocks
    if as_json:
        print_json({"title": block.title, "note": block.note, "groups": [
            {"text": item.statement, "document": item.document, "quote": item.text} for item in block.items]})
        return
    root = Tree(on_a_line(block.title))
    for item in block.items:
        root.add(on_a_line(item.statement))
    if block.note:
        root.add(f"[dim]{on_a_line(block.note)}[/dim]")
    out.print(root)


def _show_communities(knowledge_base: KnowledgeBase, communities: Sequence[TreeCommunity], limit: int, *,
                      as_json: bool) -> None:
    """Print communities as a tree, large and cohesive ones first, at most `limit` of them; as JSON all."""
    graph = knowledge_base.graph
    if as_json:
        print_json([{**community.model_dump(exclude={"keywords"}),
                     "keywords": [graph.entity(keyword).name for keyword in community.keywords]}
                    for community in communities])
        return
    # Sorted by size times cohesion: by size alone, large communities with little cohesion would come first.
    largest = sorted(communities, key=lambda c: (-len(c.members) * max(c.cohesion, 0.0), -len(c.members), c.id))
    root = Tree(f"{knowledge_base.layout.name}: {len(communities)} communities of {len(graph.entity_ids())} entities"
                + (" [yellow](the tree is out of date: build again)[/yellow]" if knowledge_base.tree.is_behind()
                   else ""))
    for community in largest[:limit]:
        _add_community(root, graph, community)
    if left := left_out(len(largest) - limit):
        root.add(left)
    out.print(root)


def _add_community(root: Tree, graph: KnowledgeGraph, community: TreeCommunity) -> None:
    keywords = [graph.entity(keyword) for keyword in community.keywords]
    title = community.name or ", ".join(entity.name for entity in keywords)
    branch = root.add(f"[bold]{on_a_line(title)}[/bold]  [dim]{len(community.members)} entities, cohesion "
                      f"{community.cohesion:.2f}[/dim]")
    if community.summary:
        branch.add(f"[italic]{on_a_line(community.summary)}[/italic]")
    members = set(community.members)
    for keyword, entity in zip(community.keywords, keywords, strict=True):
        keyword_branch = branch.add(f"{on_a_line(entity.name)} [dim]{on_a_line(entity.type)}[/dim]")
        facts = sorted(graph.incident(keyword), key=lambda fact: (not members.issuperset((fact[0], fact[2])), fact))
        for fact in facts[:_FACTS_SHOWN]:
            keyword_branch.add(on_a_line(graph.statement_of(graph.triple_row(fact))))
        validities = graph.validities(keyword)
        for name, values in list(graph.descriptive_values(keyword).items())[:_ATTRIBUTES_SHOWN]:
            times = validities.get(name, {})
            shown = ", ".join(times[value].with_note(value) if value in times else value for value in values)
            keyword_branch.add(f"[cyan]{on_a_line(name)}[/cyan]: {on_a_line(shown)}")
