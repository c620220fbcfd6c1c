"""Lists of entities, for `banyan entities`."""

from collections.abc import Sequence
from typing import NamedTuple

from rich import box
from rich.table import Table

from ..tools.index import RetrievalIndex
from ..tools.schema_names import find_type
from .console import on_a_line
from .error_messages import CommandError


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
    """Return entities, most connected first, and how many there are.

    Args:
        index: the knowledge base.
        type_name: their type, by its name, a label or an alias of the schema; empty means any.
        words: words that a name of the entity contains; empty means any.
        limit: the most entities to return; None means all.

    Raises:
        CommandError: no entity has that type; the message names the types that there are.
    """
    browsing, kind = index.browsing, _find_type(index, type_name) if type_name else ""
    rows = (browsing.ranked[browsing.of_type(kind)[browsing.ranked]] if kind else browsing.ranked).tolist()
    if words:
        fitting = set(browsing.holding(words, kind).tolist())
        rows = [row for row in rows if row in fitting]
    document_of = index.store.documents.of_chunks()
    return [_listed(index, row, document_of) for row in rows[:limit]], len(rows)


def _find_type(index: RetrievalIndex, name: str) -> str:
    if kind := find_type(index, index.store.schemas.current(), name):
        return kind
    known = ", ".join(index.browsing.types)
    raise CommandError(f"no entity is of the type {name!r}; "
                       + (f"there are: {known}" if known else "there are no entities yet"))


def _listed(index: RetrievalIndex, row: int, document_of: dict[str, str]) -> ListedEntity:
    entity, (name, kind, *_) = index.entity_row.at(row), index.about(row)
    documents = {document_of[chunk] for chunk in index.entity_support(entity) if chunk in document_of}
    return ListedEntity(id=entity, name=name, type=kind, facts=len(index.incident_at(row)),
                        values=sum(map(len, index.attributes(entity).values())), documents=len(documents))


def entity_table(entities: Sequence[ListedEntity]) -> Table:
    """Return entities as a table for the terminal."""
    table = Table("name", "type", "facts", "values", "documents", box=box.SIMPLE)
    for column in table.columns[2:]:
        column.justify = "right"
    for entity in entities:
        table.add_row(on_a_line(entity.name), on_a_line(entity.type), str(entity.facts), str(entity.values),
                      str(entity.documents))
    return table
