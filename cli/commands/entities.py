"""`banyan entities`: all entities, names and why they were merged, and changes of the graph by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, NamedTuple

import typer
from rich import box
from rich.tree import Tree

from ...api.base_contents import ManualEdits
from ...graph_store.graph_index import GraphIndex
from ...graph_store.knowledge_base import KnowledgeBase
from ...schemas.edits import EditDecision, in_words
from ...schemas.naming import canonical_name
from ...schemas.resolution import EntityDecision, EntityGroup, NameLink
from ...tools.schema_names import find_type
from ..console import CommandError, err, left_out, on_a_line, out, print_json, print_left_out, table_of
from ..session import AsJson, Kb, default_kb, open_resources

app = typer.Typer()
entities_app = typer.Typer(
    help="List entities, or the names that were merged and why; change entities and their facts.")
app.add_typer(entities_app, name="entities")

Name = Annotated[str, typer.Argument(help="An entity's name, `name (type)`, or id.")]
Why = Annotated[str, typer.Option(help="The reason, for others to read.")]
Relation = Annotated[str, typer.Argument(help="The fact's relation, or the attribute of a value.")]
Object = Annotated[str, typer.Argument(help="The entity at the fact's other end, or the value.")]

_SHOWN, _CONTEXT_CHARACTERS = 50, 40


@entities_app.callback(invoke_without_command=True)
def entities(
    context: typer.Context,
    kb: Annotated[str, typer.Option("--kb", help="Name of the knowledge base.")] = "",
    search: Annotated[str, typer.Option(help="Only entities with a name that contains these words.")] = "",
    of_type: Annotated[str, typer.Option("--type", metavar="TYPE", help="Only entities of this type.")] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="How many to list.",
                                              show_default=f"{_SHOWN}; all with --json")] = None,
    *, merged: Annotated[bool, typer.Option("--merged", help="Only entities with several names, and why each name was "
                                            "merged.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the entities, those that most documents mention first."""
    if context.invoked_subcommand is not None:
        return
    with open_resources(reasons=False) as resources, resources.snapshot(kb or default_kb()) as snapshot:
        if merged:
            words = canonical_name(search)
            groups = [group for group in snapshot.kb.graph.groups()
                      if any(words in canonical_name(name)
                             for name in (group.name, *(alias.name for alias in group.aliases)))]
            if as_json:
                print_json([group.model_dump() for group in groups[:limit]])
            else:
                _print_merged(snapshot.kb, groups, limit or _SHOWN)
            return
        listed, total = _list_entities(snapshot.index, of_type, search, limit if as_json else limit or _SHOWN)
    if as_json:
        print_json([entity._asdict() for entity in listed])
    elif not listed:
        out.print(f"no name contains {on_a_line(search)!r}" if search else "there are no entities yet")
    else:
        table = table_of(("name", "type", "facts", "values", "documents"), (entity[1:] for entity in listed),
                         box=box.SIMPLE)
        for column in table.columns[2:]:
            column.justify = "right"
        out.print(table)
        print_left_out(total - len(listed))


def _print_merged(knowledge_base: KnowledgeBase, groups: list[EntityGroup], limit: int) -> None:
    """Print merged entities as a tree: each name with the rule that merged it, and the passage that has it."""
    title = f"{on_a_line(knowledge_base.layout.name)}: {len(groups)} entities with several names"
    if knowledge_base.entities.resolved_state() is None:
        title += " [yellow](facts have changed since: build again)[/yellow]"
    root = Tree(title)
    for group in groups[:limit]:
        branch = root.add(f"[bold]{on_a_line(group.name)}[/bold] [dim]{on_a_line(group.type)}[/dim]")
        for alias in group.aliases:
            rule, passage = alias.rule.replace("_", " "), _passage_of(knowledge_base, alias.evidence[0])
            branch.add(f"{on_a_line(alias.name)} [dim]{rule}, {alias.score:.2f}: {on_a_line(passage)}[/dim]")
    if left := left_out(len(groups) - limit):
        root.add(left)
    out.print(root)


def _passage_of(knowledge_base: KnowledgeBase, link: NameLink) -> str:
    """Return the text around the place where a chunk links two names, with its document."""
    for chunk in knowledge_base.documents.chunks([link.chunk]):
        start, end = max(link.start - _CONTEXT_CHARACTERS, 0), link.end + _CONTEXT_CHARACTERS
        return f"{chunk.document_id}: …{chunk.text[start:end]}…"
    return "its passage no longer exists: build again"


@contextmanager
def _open_edits(kb: str) -> Iterator[ManualEdits]:
    with open_resources(reasons=False) as resources, err.status("updating the graph"):
        yield ManualEdits(kb, resources)


def _print_number(number: int) -> None:
    out.print(f"recorded; undo it with `banyan entities undo {number}`")


@entities_app.command()
def merge(first: Name, second: Name, kb: Kb, why: Why = "") -> None:
    """Merge two entities into one, even if their names differ."""
    with _open_edits(kb) as edits:
        edits.merge(first, second, why=why)
    out.print(f"merged: {on_a_line(first)}, {on_a_line(second)}")


@entities_app.command()
def split(first: Name, second: Name, kb: Kb, why: Why = "") -> None:
    """Split entities that were merged; each gets its own facts back."""
    with _open_edits(kb) as edits:
        edits.split(first, second, why=why)
    out.print(f"split: {on_a_line(first)}, {on_a_line(second)}")


@entities_app.command()
def rename(entity: Name, name: Annotated[str, typer.Argument(help="The new name.")], kb: Kb, why: Why = "") -> None:
    """Show an entity under another name; questions still find it by its old names."""
    with _open_edits(kb) as edits:
        _print_number(edits.rename(entity, name, why=why))


@entities_app.command()
def retype(entity: Name, type_name: Annotated[str, typer.Argument(metavar="TYPE", help="A type of the schema.")],
           kb: Kb, why: Why = "") -> None:
    """Give an entity another type; facts that do not fit that type are rejected, others may now fit."""
    with _open_edits(kb) as edits:
        _print_number(edits.retype(entity, type_name, why=why))


@entities_app.command()
def reject(subject: Name, relation: Relation, object_: Object, kb: Kb, why: Why = "") -> None:
    """Mark a fact as wrong, even if a document states it."""
    with _open_edits(kb) as edits:
        _print_number(edits.reject((subject, relation, object_), why=why))


@entities_app.command()
def correct(
    subject: Name, relation: Relation, object_: Object, kb: Kb,
    new_subject: Annotated[str, typer.Option("--subject", help="The correct subject.")] = "",
    new_relation: Annotated[str, typer.Option("--relation", help="The correct relation.")] = "",
    new_object: Annotated[str, typer.Option("--object", help="The correct object or value.")] = "",
    why: Why = "",
) -> None:
    """Replace a wrong fact with another; its source stays the same."""
    with _open_edits(kb) as edits:
        _print_number(edits.correct((subject, relation, object_), subject=new_subject, relation=new_relation,
                                      object=new_object, why=why))


@entities_app.command()
def undo(number: Annotated[int, typer.Argument(min=1, help="Number in `banyan entities decisions`.")], kb: Kb) -> None:
    """Undo a rename, retyping, rejection or correction; `merge` and `split` undo each other."""
    with _open_edits(kb) as edits:
        edits.undo(number)
    out.print(f"decision {number} undone")


@entities_app.command()
def decisions(kb: Kb, *, as_json: AsJson = False) -> None:
    """List people's decisions, oldest first."""
    with open_resources(reasons=False) as resources, resources.snapshot(kb) as snapshot:
        pairs, edits = snapshot.kb.entities.decisions(), snapshot.kb.edits.all()
        if as_json:
            print_json([*(pair.model_dump() for pair in pairs),
                        *({"verdict": one.edit.kind, **one.model_dump()} for one in edits)])
            return
        mentions = snapshot.kb.graph.mentions
        names = {entity: mentions.entity(entity).name if entity in mentions else entity
                 for pair in pairs for entity in (pair.first, pair.second)}
    described: list[tuple[EntityDecision | EditDecision, str]] = [
        (pair, f"{pair.verdict} {names[pair.first]}, {names[pair.second]}") for pair in pairs]
    described += [(edit, in_words(edit.edit)) for edit in edits]
    for decision, what in sorted(described, key=lambda pair: pair[0].decided_at):
        _print_decision(decision, what)


def _print_decision(decision: EntityDecision | EditDecision, what: str) -> None:
    """Print a decision, described by `what`; merges and splits have no number, because they undo each other."""
    number = undone = ""
    if isinstance(decision, EditDecision):
        number = f"[bold]{decision.number}[/bold] "
        if decision.undone_at:
            undone = f" [dim]undone by {on_a_line(decision.undone_by)} {decision.undone_at}[/dim]"
    reason = f" ({on_a_line(decision.why)})" if decision.why else ""
    out.print(f"{decision.decided_at} {number}{on_a_line(decision.who)}: {on_a_line(what)}{reason}{undone}",
              soft_wrap=True)


class ListedEntity(NamedTuple):
    """An entity with its numbers of facts, of values, and of documents that name it."""

    id: str
    name: str
    type: str
    facts: int
    values: int
    documents: int


def _list_entities(index: GraphIndex, type_name: str, words: str, limit: int | None) -> tuple[list[ListedEntity], int]:
    """Return the first entities that fit, those that most documents mention first, and how many fit in all.

    Args:
        index: the knowledge base.
        type_name: only entities of this type; "" means any.
        words: only entities with a name that contains these words; "" means any.
        limit: the most entities to return; None means all.
    """
    known_type = find_type(index, index.store.schemas.current(), type_name) if type_name else ""
    if type_name and not known_type:
        raise CommandError(f"no entity is of the type {type_name!r}; there are: {', '.join(index.types)}")
    ranked = index.ranked
    if known_type:
        ranked = ranked[index.of_type(known_type)[ranked]]
    rows = ranked.tolist()
    if words:
        has_words = set(index.find_containing(words, known_type).tolist())
        rows = [row for row in rows if row in has_words]
    document_of = index.store.documents.of_chunks()
    listed = []
    for row in rows[:limit]:
        entity, labels = index.entity_row.at(row), index.labels_of(row)
        documents = {document_of[chunk] for chunk in index.entity_support(entity) if chunk in document_of}
        listed.append(ListedEntity(
            id=entity, name=labels.name, type=labels.type, facts=len(index.columns.incident[row]),
            values=sum(map(len, index.descriptive_values(entity).values())), documents=len(documents)))
    return listed, len(rows)
