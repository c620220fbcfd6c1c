"""The differences between two schemas, element by element."""

from typing import Any, Literal

from .delta import ElementKind
from .documents import Frozen
from .graph_schema import GraphSchema, SchemaElement

Change = Literal["added", "removed", "changed"]


class FieldChange(Frozen):
    """A field of an element before and after."""

    field: str
    before: Any
    after: Any


class ElementChange(Frozen):
    """An element that only one of the schemas has, or that differs between them."""

    change: Change
    kind: ElementKind
    name: str
    fields: tuple[FieldChange, ...] = ()


def diff(before: GraphSchema, after: GraphSchema) -> list[ElementChange]:
    """Return the changes that lead from one schema to another.

    Returns:
        Entity types first, then relations, then attributes, each in the later schema's order, with removed elements
        at the end. For an added element, `fields` lists the fields that are set.
    """
    return [*_changes("entity_type", before.entity_types, after.entity_types),
            *_changes("relation", before.relation_types, after.relation_types),
            *_changes("attribute", before.attribute_types, after.attribute_types)]


def _changes(kind: ElementKind, before: tuple[SchemaElement, ...], after: tuple[SchemaElement, ...],
             ) -> list[ElementChange]:
    old, new = {e.name: e for e in before}, {e.name: e for e in after}
    changes = []
    for name, element in new.items():
        fields = _fields(old.get(name), element)
        if name not in old:
            changes.append(ElementChange(change="added", kind=kind, name=name, fields=fields))
        elif fields:
            changes.append(ElementChange(change="changed", kind=kind, name=name, fields=fields))
    return [*changes, *(ElementChange(change="removed", kind=kind, name=name) for name in old if name not in new)]


def _fields(before: SchemaElement | None, after: SchemaElement) -> tuple[FieldChange, ...]:
    old = _flat(before or type(after)(name=after.name))
    return tuple(FieldChange(field=field, before=old[field], after=value)
                 for field, value in _flat(after).items() if old[field] != value)


def _flat(element: SchemaElement) -> dict[str, Any]:
    fields = element.model_dump(mode="json", exclude={"rules"})
    return fields | {f"rules.{field}": value for field, value in element.rules.model_dump(mode="json").items()}
