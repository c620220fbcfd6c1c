"""`banyan entities`: all entities, names and why they were merged, and changes of the graph by hand."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from ...api.base_contents import ManualEdits
from ...graph_store.knowledge_base import KnowledgeBase
from ...schemas.edits import in_words
from ...schemas.naming import canonical_name
from ...tools.graph_names import find_type
from ..console import CommandError, err, out, print_json, print_left_out, print_table
from ..session import AsJson, Kb, Limit, default_kb, open_resources

app = typer.Typer()
entities_app = typer.Typer(
    help="List entities, or the names that were merged and why; change entities and their facts.")
app.add_typer(entities_app, name="entities")
_SHOWN = 50  # entities that are printed without a `--limit`


@entities_app.callback(invoke_without_command=True)
def entities(context: typer.Context, kb: str = "", search: str = "",
             of_type: Annotated[str, typer.Option("--type")] = "", limit: Limit = None, *, merged: bool = False,
             as_json: AsJson = False) -> None:
    """List the entities, those that most documents mention first."""
    if context.invoked_subcommand is not None:
        return
    most = limit if as_json else limit or _SHOWN  # None: all
    with open_resources(uses_model=False) as resources, resources.snapshot(kb or default_kb()) as snapshot:
        if merged:
            _show_merged(snapshot.kb, search, most, as_json=as_json)
            return
        index = snapshot.index
        known_type = find_type(index, snapshot.kb.schemas.current(), of_type) if of_type else ""
        if of_type and not known_type:
            raise CommandError(f"no entity is of the type {of_type!r}; there are: {', '.join(index.types)}")
        # Sorted again, because there the entities come first that are called exactly so.
        rows = sorted(index.find_containing(search, known_type).tolist(), key=index.ranks.__getitem__)
        document_of = snapshot.kb.documents.of_chunks()
        listed = list[dict[str, Any]]()
        for row in rows[:most]:
            entity, labels = index.entity_row.at(row), index.labels_of(row)
            documents = {document_of[chunk] for chunk in index.entity_support(entity) if chunk in document_of}
            values = sum(map(len, index.descriptive_values(entity).values()))
            listed.append({"id": entity, "name": labels.name, "type": labels.type, "values": values,
                           "facts": len(index.columns.incident[row]), "documents": len(documents)})
    if as_json:
        print_json(listed)
    elif not listed:
        out.print("no entity fits" if search or of_type else "there are no entities yet")
    else:
        columns = ("name", "type", "facts", "values", "documents")
        print_table(columns, [[entity[column] for column in columns] for entity in listed])
        print_left_out(len(rows) - len(listed))


def _show_merged(knowledge_base: KnowledgeBase, search: str, most: int | None, *, as_json: bool) -> None:
    """Print the merged entities that have the words of `search` in a name: each name with the rule that merged it."""
    words = canonical_name(search)
    groups = [group for group in knowledge_base.graph.groups()
              if any(words in canonical_name(name) for name in (group.name, *(one.name for one in group.aliases)))]
    if as_json:
        print_json([group.model_dump() for group in groups[:most]])
        return
    out.say("{}: {} entities with several names", knowledge_base.layout.name, len(groups))
    for group in groups[:most]:
        out.say("[bold]{}[/bold] [dim]{}[/dim]", group.name, group.type)
        for alias in group.aliases:
            out.say("    {} [dim]{}, {}[/dim]", alias.name, alias.rule.replace("_", " "), f"{alias.score:.2f}")
    print_left_out(len(groups) - len(groups[:most]))


def _change(kb: str, change: Callable[[ManualEdits], int | None], done: str = "") -> None:
    """Make a change of the graph, and print what was done; without `done`, the number by which it can be undone."""
    with open_resources(uses_model=False) as resources, err.status("updating the graph"):
        number = change(ManualEdits(kb, resources))
    out.say("{}", done or f"recorded; undo it with `banyan entities undo {number}`")


@entities_app.command()
def merge(first: str, second: str, kb: Kb, why: str = "") -> None:
    """Merge two entities into one, even if their names differ."""
    _change(kb, lambda edits: edits.merge(first, second, why=why), f"merged: {first}, {second}")


@entities_app.command()
def split(first: str, second: str, kb: Kb, why: str = "") -> None:
    """Split entities that were merged; each gets its own facts back."""
    _change(kb, lambda edits: edits.split(first, second, why=why), f"split: {first}, {second}")


@entities_app.command()
def rename(entity: str, name: str, kb: Kb, why: str = "") -> None:
    """Show an entity under another name; questions still find it by its old names."""
    _change(kb, lambda edits: edits.rename(entity, name, why=why))


@entities_app.command()
def retype(entity: str, type_name: Annotated[str, typer.Argument(metavar="TYPE")], kb: Kb, why: str = "") -> None:
    """Give an entity another type; facts that do not fit that type are rejected, others may now fit."""
    _change(kb, lambda edits: edits.retype(entity, type_name, why=why))


@entities_app.command()
def reject(subject: str, relation: str, object_: str, kb: Kb, why: str = "") -> None:
    """Mark a fact as wrong, even if a document states it."""
    _change(kb, lambda edits: edits.reject((subject, relation, object_), why=why))


@entities_app.command()
def correct(subject: str, relation: str, object_: str, kb: Kb,
            new_subject: Annotated[str, typer.Option("--subject")] = "",
            new_relation: Annotated[str, typer.Option("--relation")] = "",
            new_object: Annotated[str, typer.Option("--object")] = "", why: str = "") -> None:
    """Replace a wrong fact with another; its source stays the same."""
    _change(kb, lambda edits: edits.correct((subject, relation, object_), subject=new_subject, relation=new_relation,
                                            object=new_object, why=why))


@entities_app.command()
def undo(number: int, kb: Kb) -> None:
    """Undo a rename, retyping, rejection or correction; `merge` and `split` undo each other."""
    _change(kb, lambda edits: edits.undo(number), f"decision {number} undone")


@entities_app.command()
def decisions(kb: Kb, *, as_json: AsJson = False) -> None:
    """List people's decisions, oldest first; merges and splits have no number, because they undo each other."""
    with open_resources(uses_model=False) as resources, resources.snapshot(kb) as snapshot:
        pairs, edits = snapshot.kb.entities.decisions(), snapshot.kb.edits.all()
        if as_json:
            print_json([*(pair.model_dump() for pair in pairs),
                        *({"verdict": decision.edit.kind, **decision.model_dump()} for decision in edits)])
            return
        mentions = snapshot.kb.graph.mentions
        decided = {entity for pair in pairs for entity in (pair.first, pair.second)}
        # A decision outlives its entities: one that no document names any more is shown by its id.
        names = {entity: mentions.entity(entity).name if entity in mentions else entity for entity in decided}
    rows = [(pair.decided_at, "", pair.who, f"{pair.verdict} {names[pair.first]}, {names[pair.second]}", pair.why, "")
            for pair in pairs]
    rows += [(decision.decided_at, str(decision.number), decision.who, in_words(decision.edit), decision.why,
              f"{decision.undone_by} {decision.undone_at}".strip()) for decision in edits]
    print_table(("time", "number", "who", "what", "why", "undone"), sorted(rows))
