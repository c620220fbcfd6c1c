"""`banyan tree`: the knowledge tree, from communities down to attributes, and further views of the graph."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.tree import Tree

from ...agents.estimate import estimate_summaries
from ...agents.resources import Resources
from ...agents.snapshots import Snapshot
from ...graph_store.graph.knowledge_graph import KnowledgeGraph
from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.ledger.communities import TreeCommunity
from ...graph_store.tree.community_digests import digests
from ...schemas.lookups import CommunityLookup
from ...schemas.retrieval import CommunityDigest
from ...tools.index import RetrievalIndex
from ...tools.surveys import MOST_DESCRIBED, described_groups, survey_along, survey_by
from ..console import CommandError, err, left_out, on_a_line, out, print_json
from ..session import AsJson, Kb, open_resources

app = typer.Typer()

_FACTS = 3
_TOKENS = 20_000
"""More than a survey of any field that has groups: what does not fit is counted."""
_ATTRIBUTES = 3


@app.command()
def tree(  # noqa: PLR0913  (its options)
    kb: Kb,
    by: Annotated[str, typer.Option(metavar="FIELD", help="Instead: groups by a field, or by a period of it: "
                                                          "FIELD.year, FIELD.month, FIELD.decade.")] = "",
    alpha: Annotated[float | None, typer.Option(min=0, max=1, metavar="0..1", help=(
        "With --by: groups of what facts link, too; 0: by facts alone, 1: by the field alone."))] = None,
    along: Annotated[str, typer.Option(metavar="PATH", help="Instead: what relations reach from --root: "
                                                            "'requires -> *', '<requires -> changes'.")] = "",
    root: Annotated[str, typer.Option(metavar="ENTITY", help="The entity where --along begins.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="How many communities to print, largest first; with --describe, "
                                                   f"groups to describe, at most {MOST_DESCRIBED}.")] = 20,
    level: Annotated[int, typer.Option(min=0, help="0: the finest communities; above: communities of them.")] = 0,
    *,
    describe: Annotated[bool, typer.Option("--describe", help="With --by: have reports written on the groups, by the "
                                                              "model where one is set; lookups show them, "
                                                              "too.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Estimate the cost of describing communities, or with "
                                                            "--by groups.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the knowledge tree: communities, their keywords, the facts about those, and attributes."""
    lookup = CommunityLookup(theme=root, by=by, alpha="" if alpha is None else str(alpha), along=along)
    if by == "" and (describe or alpha is not None):
        raise CommandError("--describe and --alpha are for groups: say by which field with --by")
    if along and not root:
        raise CommandError("--along begins at an entity: name it with --root")
    with open_resources(reasons=describe) as resources:
        if dry_run:
            _show_estimate(resources, kb, lookup, limit, as_json=as_json)
            return
        if describe:
            written = resources.describe_groups(kb, by, alpha, min(limit, MOST_DESCRIBED))
            err.print(f"{written} reports written; groups that did not change keep theirs")
        with resources.snapshot(kb) as snapshot:
            if by or along:
                _show_survey(snapshot.index, lookup, as_json=as_json)
            else:
                _show(snapshot.kb, snapshot.kb.communities.all(level=level), limit, as_json=as_json)


def _show_estimate(resources: Resources, kb: str, lookup: CommunityLookup, limit: int, *, as_json: bool) -> None:
    with resources.snapshot(kb) as snapshot:
        estimate = estimate_summaries(resources, _undescribed(snapshot, lookup, limit))
    if as_json:
        print_json(estimate.model_dump())
    else:
        out.print(f"{estimate.communities} {'groups' if lookup.by else 'communities'}, {estimate.calls} calls, about "
                  f"{estimate.prompt_tokens} prompt and {estimate.completion_tokens} completion tokens")


def _undescribed(snapshot: Snapshot, lookup: CommunityLookup, limit: int) -> list[CommunityDigest]:
    """Return what a model would be told of the groups that have no report, or of all communities."""
    kb = snapshot.kb
    if not lookup.by:
        return digests(kb.graph, kb.communities.all(level=None))
    known = kb.communities.group_reports()
    groups = described_groups(snapshot.index, kb.schemas.current(), lookup.by, lookup.weight,
                              min(limit, MOST_DESCRIBED))
    return digests(snapshot.index.graph, [group for group in groups if group.id not in known])


def _show_survey(index: RetrievalIndex, lookup: CommunityLookup, *, as_json: bool) -> None:
    schema = index.store.schemas.current()
    (block,) = (survey_along(index, schema, lookup.theme, lookup.along, _TOKENS) if lookup.along
                else survey_by(index, schema, lookup.by, _TOKENS, lookup.weight))
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


def _show(knowledge_base: KnowledgeBase, communities: Sequence[TreeCommunity], limit: int, *, as_json: bool) -> None:
    graph = knowledge_base.graph
    if as_json:
        print_json([{**community.model_dump(exclude={"keywords"}),
                     "keywords": [graph.entity(keyword).name for keyword in community.keywords]}
                    for community in communities])
        return
    # By size alone, large communities with little cohesion would come first.
    largest = sorted(communities, key=lambda c: (-len(c.members) * max(c.cohesion, 0.0), -len(c.members), c.id))
    root = Tree(f"{knowledge_base.layout.name}: {len(communities)} communities of {len(graph.entity_ids())} entities"
                + (" [yellow](the tree is out of date: build again)[/yellow]" if knowledge_base.tree.is_behind()
                   else ""))
    for community in largest[:limit]:
        _add(root, graph, community)
    if left := left_out(len(largest) - limit):
        root.add(left)
    out.print(root)


def _add(root: Tree, graph: KnowledgeGraph, community: TreeCommunity) -> None:
    keywords = [graph.entity(keyword) for keyword in community.keywords]
    title = community.name or ", ".join(entity.name for entity in keywords)
    branch = root.add(f"[bold]{on_a_line(title)}[/bold]  [dim]{len(community.members)} entities, cohesion "
                      f"{community.cohesion:.2f}[/dim]")
    if community.summary:
        branch.add(f"[italic]{on_a_line(community.summary)}[/italic]")
    members = set(community.members)
    for keyword, entity in zip(community.keywords, keywords, strict=True):
        twig = branch.add(f"{on_a_line(entity.name)} [dim]{on_a_line(entity.type)}[/dim]")
        facts = sorted(graph.incident(keyword), key=lambda edge: (not members.issuperset((edge[0], edge[2])), edge))
        for edge in facts[:_FACTS]:
            twig.add(on_a_line(graph.statement_of(graph.triple_row(edge))))
        dated = graph.validities(keyword)
        for name, values in list(graph.told(keyword).items())[:_ATTRIBUTES]:
            times = dated.get(name, {})
            shown = ", ".join(times[value].with_note(value) if value in times else value for value in values)
            twig.add(f"[cyan]{on_a_line(name)}[/cyan]: {on_a_line(shown)}")
