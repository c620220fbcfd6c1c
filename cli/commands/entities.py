"""`banyan entities`: all entities, names and why they were merged, and changes of the graph by hand."""

import getpass
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Literal, NamedTuple, TypeVar

import typer
from rich import box
from rich.table import Table
from rich.tree import Tree

from ...graph_store.graph_edits import GraphEditor, Said
from ...graph_store.knowledge_base import KnowledgeBase
from ...graph_store.resolution.decisions import match_node
from ...schemas.edits import in_words
from ...schemas.naming import canonical_name
from ...schemas.resolution import Alias, EntityGroup
from ...text.times import Validity
from ...tools.index import RetrievalIndex
from ...tools.schema_names import find_type
from ..console import CommandError, err, left_out, on_a_line, out, print_json, table_of
from ..session import AsJson, At, Kb, day_of, default_kb, open_resources

app = typer.Typer()
entities_app = typer.Typer(
    help="List entities, or the names that were merged and why; change entities and their facts.")
app.add_typer(entities_app, name="entities")

Name = Annotated[str, typer.Argument(help="An entity's name, `name (type)`, or id.")]
Why = Annotated[str, typer.Option(help="The reason, for others to read.")]
Relation = Annotated[str, typer.Argument(help="The fact's relation, or the attribute of a value.")]
Object = Annotated[str, typer.Argument(help="The entity at the fact's other end, or the value.")]

_Result = TypeVar("_Result")
_SHOWN = 50
_CONTEXT_CHARACTERS = 40


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
        if not merged:
            listed, total = list_entities(snapshot.index, of_type, search, limit if as_json else limit or _SHOWN)
            if as_json:
                print_json([entity._asdict() for entity in listed])
            else:
                nothing = f"no name contains {on_a_line(search)!r}" if search else "there are no entities yet"
                out.print(entity_table(listed) if listed else nothing)
                if left := left_out(total - len(listed)):
                    out.print(left)
            return
        words = canonical_name(search)
        groups = [group for group in snapshot.kb.graph.groups()
                  if any(words in canonical_name(name)
                         for name in (group.name, *(alias.name for alias in group.aliases)))]
        if as_json:
            print_json([group.model_dump() for group in groups[:limit]])
        else:
            _show_merged(snapshot.kb, groups, limit or _SHOWN)


def _show_merged(knowledge_base: KnowledgeBase, groups: list[EntityGroup], limit: int) -> None:
    """Print the first entities that have several names, each with its names, and why each name was merged."""
    is_outdated = knowledge_base.entities.resolved_state() is None
    root = Tree(f"{on_a_line(knowledge_base.layout.name)}: {len(groups)} entities with several names"
                + (" [yellow](facts have changed since: build again)[/yellow]" if is_outdated else ""))
    for group in groups[:limit]:
        branch = root.add(f"[bold]{on_a_line(group.name)}[/bold] [dim]{on_a_line(group.type)}[/dim]")
        for alias in group.aliases:
            branch.add(f"{on_a_line(alias.name)} [dim]{alias.rule.replace('_', ' ')}, {alias.score:.2f}: "
                       f"{on_a_line(_first_evidence(knowledge_base, alias))}[/dim]")
    if left := left_out(len(groups) - limit):
        root.add(left)
    out.print(root)


def _first_evidence(knowledge_base: KnowledgeBase, alias: Alias) -> str:
    """Return the first passage that supports an alias, with its document and some characters around it."""
    span = alias.evidence[0]
    chunk = next(iter(knowledge_base.documents.chunks([span.chunk])), None)
    if chunk is None:
        return "its passage no longer exists: build again"
    start, end = max(span.start - _CONTEXT_CHARACTERS, 0), span.end + _CONTEXT_CHARACTERS
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
    """Merge or split two entities, and print that."""
    with open_resources(reasons=False) as resources, err.status("resolving"):
        resources.decide_entities(kb, verdict, (first, second), getpass.getuser(), why)
    out.print(f"{'merged' if verdict == 'merge' else 'split'}: {on_a_line(first)}, {on_a_line(second)}")


@entities_app.command()
def rename(entity: Name, name: Annotated[str, typer.Argument(help="The new name.")], kb: Kb, why: Why = "") -> None:
    """Show an entity under another name; questions still find it by its old names."""
    _print_decision(_carry_out(kb, lambda edits: edits.rename(entity, name, getpass.getuser(), why)))


@entities_app.command()
def retype(entity: Name, type_name: Annotated[str, typer.Argument(metavar="TYPE", help="A type of the schema.")],
           kb: Kb, why: Why = "") -> None:
    """Give an entity another type; facts that do not fit that type are rejected, others may now fit."""
    _print_decision(_carry_out(kb, lambda edits: edits.retype(entity, type_name, getpass.getuser(), why)))


@entities_app.command()
def facts(entity: Name, kb: Kb, at: At = "", *, as_json: AsJson = False) -> None:
    """List an entity's facts and values, as `reject` and `correct` take them, with when they hold."""
    print_facts(kb, entity, at, as_json=as_json)


def print_facts(kb: str, entity: str, at: str = "", limit: int | None = None, *, as_json: bool = False) -> None:
    """Print an entity's facts and values; with a date `at`, only those that hold on that date.

    Raises:
        CommandError: `at` is no date.
        EntityDecisionError: there is no such entity, or there are several.
    """
    day = day_of(at)
    with open_resources(reasons=False) as resources, resources.snapshot(kb) as snapshot:
        facts = [(fact, validity) for fact, validity in _facts_of(snapshot.kb, entity)
                 if day is None or validity.holds(*day)]
    shown = facts[:limit]
    if as_json:
        print_json([{**fact._asdict(), "time": validity.note()} for fact, validity in shown])
        return
    for fact, validity in shown:
        time = f" [dim]({on_a_line(validity.note())})[/dim]" if validity.note() else ""
        out.print(" [dim]|[/dim] ".join(map(on_a_line, fact)) + time, soft_wrap=True)
    if left := left_out(len(facts) - len(shown)):
        out.print(left)


def _facts_of(knowledge_base: KnowledgeBase, entity: str) -> Iterator[tuple[Said, Validity]]:
    """Yield an entity's values, then its facts, each with the time in which it holds."""
    graph = knowledge_base.graph
    node = match_node(graph, entity)
    validities = graph.validities(node)  # by attribute and value; values without a time are not in it
    for name, values in graph.told(node).items():
        for value in values:
            yield Said(graph.name(node), name, value), validities.get(name, {}).get(value, Validity())
    for edge in graph.incident(node):
        head, relation, tail = edge
        yield Said(graph.name(head), relation, graph.name(tail)), graph.validity(edge)


@entities_app.command()
def reject(subject: Name, relation: Relation, object_: Object, kb: Kb, why: Why = "") -> None:
    """Mark a fact as wrong, even if a document states it."""
    wrong = Said(subject, relation, object_)
    _print_decision(_carry_out(kb, lambda edits: edits.change_fact(wrong, None, getpass.getuser(), why)))


@entities_app.command()
def correct(
    subject: Name, relation: Relation, object_: Object, kb: Kb,
    new_subject: Annotated[str, typer.Option("--subject", help="The correct subject.")] = "",
    new_relation: Annotated[str, typer.Option("--relation", help="The correct relation.")] = "",
    new_object: Annotated[str, typer.Option("--object", help="The correct object or value.")] = "",
    why: Why = "",
) -> None:
    """Replace a wrong fact with another; its source stays the same."""
    wrong = Said(subject, relation, object_)
    right = Said(new_subject or subject, new_relation or relation, new_object or object_)
    _print_decision(_carry_out(kb, lambda edits: edits.change_fact(wrong, right, getpass.getuser(), why)))


@entities_app.command()
def undo(number: Annotated[int, typer.Argument(min=1, help="Number in `banyan entities decisions`.")], kb: Kb) -> None:
    """Undo a rename, retyping, rejection or correction; `merge` and `split` undo each other."""
    _carry_out(kb, lambda edits: edits.undo(number, getpass.getuser()))
    out.print(f"decision {number} undone")


@entities_app.command()
def decisions(kb: Kb, *, as_json: AsJson = False) -> None:
    """List people's decisions, oldest first."""
    with open_resources(reasons=False) as resources, resources.snapshot(kb) as snapshot:
        pairs, edits = snapshot.kb.entities.decisions(), snapshot.kb.edits.table.all()
        if as_json:
            print_json([*(pair.model_dump() for pair in pairs),
                        *({"verdict": one.edit.kind, **one.model_dump()} for one in edits)])
            return
        mentions = snapshot.kb.graph.mentions
    lines: list[tuple[str, str]] = []
    for pair in pairs:
        names = [mentions.entity(entity).name if entity in mentions else entity
                 for entity in (pair.first, pair.second)]
        lines.append((pair.decided_at,
                      f"{on_a_line(pair.who)}: {pair.verdict} {on_a_line(', '.join(names))}{_reason(pair.why)}"))
    for one in edits:
        undone = f" [dim]undone by {on_a_line(one.undone_by)} {one.undone_at}[/dim]" if one.undone_at else ""
        what = f"{on_a_line(one.who)}: {on_a_line(in_words(one.edit))}{_reason(one.why)}{undone}"
        lines.append((one.decided_at, f"[bold]{one.number}[/bold] {what}"))
    for when, line in sorted(lines, key=lambda line: line[0]):
        out.print(f"{when} {line}", soft_wrap=True)


def _reason(why: str) -> str:
    return f" ({on_a_line(why)})" if why else ""


def _carry_out(kb: str, change: Callable[[GraphEditor], _Result]) -> _Result:
    """Make a change of the graph, and return its result."""
    with open_resources(reasons=False) as resources, err.status("updating the graph"):
        return resources.edit(kb, change)


def _print_decision(number: int) -> None:
    out.print(f"recorded; undo it with `banyan entities undo {number}`")


class ListedEntity(NamedTuple):
    """An entity with its numbers of facts, of values, and of documents that name it."""

    id: str
    name: str
    type: str
    facts: int
    values: int
    documents: int


def list_entities(index: RetrievalIndex, type_name: str, words: str, limit: int | None,
                  ) -> tuple[list[ListedEntity], int]:
    """Return the first entities that fit, those that most documents mention first, and how many fit in all.

    Args:
        index: the knowledge base.
        type_name: their type, by its name, a label or an alias of the schema; empty means any.
        words: words that a name of the entity contains; empty means any.
        limit: the most entities to return; None means all.

    Raises:
        CommandError: no entity has that type; the message names the types that there are.
    """
    browsing = index.browsing
    kind = _find_type(index, type_name) if type_name else ""
    ranked = browsing.ranked
    if kind:
        ranked = ranked[browsing.of_type(kind)[ranked]]
    rows = ranked.tolist()
    if words:
        has_words = set(browsing.holding(words, kind).tolist())
        rows = [row for row in rows if row in has_words]
    document_of = index.store.documents.of_chunks()
    return [_list_entity(index, row, document_of) for row in rows[:limit]], len(rows)


def _find_type(index: RetrievalIndex, name: str) -> str:
    """Return the entity type with this name, label or alias."""
    if kind := find_type(index, index.store.schemas.current(), name):
        return kind
    known = ", ".join(index.browsing.types)
    raise CommandError(f"no entity is of the type {name!r}; "
                       + (f"there are: {known}" if known else "there are no entities yet"))


def _list_entity(index: RetrievalIndex, row: int, document_of: dict[str, str]) -> ListedEntity:
    """Return the entity in a row of the index with its counts; `document_of` maps chunks to documents."""
    entity, (name, kind, *_) = index.entity_row.at(row), index.about(row)
    documents = {document_of[chunk] for chunk in index.entity_support(entity) if chunk in document_of}
    return ListedEntity(id=entity, name=name, type=kind, facts=len(index.incident_at(row)),
                        values=sum(map(len, index.graph.told(entity).values())), documents=len(documents))


def entity_table(entities: Sequence[ListedEntity]) -> Table:
    """Return entities as a table for the terminal."""
    table = table_of(("name", "type", "facts", "values", "documents"), (entity[1:] for entity in entities),
                     box=box.SIMPLE)
    for column in table.columns[2:]:
        column.justify = "right"
    return table
