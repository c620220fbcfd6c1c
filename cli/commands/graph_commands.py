"""`banyan facts` and `banyan tree`: the graph and its knowledge tree."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich import box
from rich.tree import Tree

from ...graph_store.graph.knowledge_graph import KnowledgeGraph
from ...graph_store.graph.resolved_graph import ResolvedGraph
from ...graph_store.graph_edits import Said
from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.ledger.communities import TreeCommunity
from ...graph_store.resolution.resolver import match_node
from ...schemas.inquiry import Block
from ...schemas.naming import label_key
from ...text.times import Validity
from ...tools.schema_names import LabelledTerms, terms_of
from ...tools.surveys import survey_along, survey_by
from ..console import CommandError, left_out, on_a_line, out, print_json, table_of
from ..session import AsJson, At, Kb, day_of, open_resources

app = typer.Typer()

_SHOWN = 50
"""Facts or terms to print where no `--limit` is given."""
_FACTS_SHOWN, _ATTRIBUTES_SHOWN = 3, 3
"""The facts and attributes to print of each keyword of a community."""
_SURVEY_TOKENS = 20_000
"""The most tokens of a survey, which is enough for any field that has groups; what does not fit is counted."""


@app.command("facts")
def facts(
    *, kb: Kb,
    of: Annotated[str, typer.Option(metavar="ENTITY", help="Only facts of this entity.")] = "",
    relation: Annotated[str, typer.Option(metavar="NAME", help="Only of this relation or attribute. Without --of and "
                                                               "this: how many facts each of them has.")] = "",
    at: At = "",
    limit: Annotated[int | None, typer.Option(min=1, help="How many facts to print.",
                                              show_default=f"{_SHOWN}; all with --json")] = None,
    as_json: AsJson = False,
) -> None:
    """List the facts of an entity, a relation or an attribute; `banyan sql` filters, counts and groups them."""
    most = limit if as_json else limit or _SHOWN
    if of or relation:
        day, name = day_of(at), ""
        with open_resources(reasons=False) as resources, resources.snapshot(kb) as snapshot:
            if relation:
                names = [field.name for field in terms_of(snapshot.index)]
                name = next((known for known in names if label_key(known) == label_key(relation)), "")
                if not name:
                    raise CommandError(f"no relation or attribute is called {relation!r}; there are: "
                                       f"{', '.join(names) or 'none'}")
            found = [(fact, validity) for fact, validity in _facts_of(snapshot.kb.graph, of)
                     if (not name or fact.relation == name) and (day is None or validity.holds(*day))]
        _print_facts(found, most, as_json=as_json)
    elif at:
        raise CommandError("--at needs --of or --relation: name an entity, a relation or an attribute")
    else:
        _print_fields(kb, most, as_json=as_json)


def _print_facts(facts: Sequence[tuple[Said, Validity]], limit: int | None, *, as_json: bool) -> None:
    shown = facts[:limit]
    if as_json:
        print_json([{**fact._asdict(), "time": validity.note()} for fact, validity in shown])
        return
    for fact, validity in shown:
        time = f" [dim]({on_a_line(validity.note())})[/dim]" if validity.note() else ""
        out.print(" [dim]|[/dim] ".join(map(on_a_line, fact)) + time, soft_wrap=True)
    if left := left_out(len(facts) - len(shown)):
        out.print(left)


def _facts_of(graph: ResolvedGraph, entity: str) -> Iterator[tuple[Said, Validity]]:
    """Yield the values of an entity, or of all, then the facts, each with the time in which it holds."""
    node = match_node(graph, entity) if entity else ""
    names = graph.name
    for owner in [node] if node else sorted(graph.entity_ids(), key=lambda one: (names(one), one)):
        validities = graph.validities(owner)  # by attribute and value; values without a time are not in it
        for name, values in graph.descriptive_values(owner).items():
            for value in values:
                yield Said(names(owner), name, value), validities.get(name, {}).get(value, Validity())
    for edge in graph.incident(node) if node else sorted(
            graph.edges(), key=lambda edge: (names(edge[0]), edge[1], names(edge[2]), edge)):
        head, relation, tail = edge
        yield Said(names(head), relation, names(tail)), graph.validity(edge)


def _print_fields(kb: str, limit: int | None, *, as_json: bool) -> None:
    with open_resources(reasons=False) as resources, resources.snapshot(kb) as snapshot:
        fields = terms_of(snapshot.index)
    shown = fields[:limit]
    if as_json:
        print_json([field._asdict() for field in shown])
        return
    if not fields:
        out.print("no facts yet: add documents with `banyan build`")
        return
    out.print(table_of(("name", "rows", "kind"), (
        (field.name, field.rows, "attribute" if field.is_attribute else "relation") for field in shown),
        box=box.SIMPLE))
    if left := left_out(len(fields) - len(shown)):
        out.print(left)


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
