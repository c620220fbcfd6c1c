"""Change a schema with pure functions, which raise DecisionError; old names become aliases, which still admit facts."""

from collections.abc import Callable, Mapping, Set
from itertools import chain
from typing import Any

from pydantic import ValidationError

from ...schemas.delta import Candidate, ElementKind
from ...schemas.errors import BanyanError
from ...schemas.graph_schema import ANY, AttributeType, EntityType, GraphSchema, RelationType, SchemaElement
from ...schemas.naming import label_key

Names = tuple[str, ...]

_CLASSES: dict[ElementKind, type[SchemaElement]] = {"entity_type": EntityType, "relation": RelationType,
                                                    "attribute": AttributeType}
_GROUPS: dict[ElementKind, str] = {"entity_type": "entity_types", "relation": "relation_types",
                                   "attribute": "attribute_types"}
TYPE_FIELDS: dict[type[SchemaElement], tuple[str, ...]] = {
    EntityType: (), RelationType: ("domain", "range"), AttributeType: ("owners",)}
"""The fields of each class with the entity types that an element stands with."""
KIND_NAMES: dict[ElementKind, str] = {"entity_type": "entity type", "relation": "relation", "attribute": "attribute"}


class DecisionError(BanyanError):
    """A decision cannot be carried out; the message names the element, the cause and the fix."""


def find_element(schema: GraphSchema, kind: ElementKind, name: str) -> SchemaElement | None:
    """Return the element with a name or alias, or None; one with the name takes precedence over one with the alias."""
    key = label_key(name)
    by_name = (e for e in schema.elements(kind) if label_key(e.name) == key)
    by_alias = (e for e in schema.elements(kind) if key in map(label_key, e.all_names()))
    return next(by_name, None) or next(by_alias, None)


def known_labels(schema: GraphSchema) -> set[tuple[ElementKind, str]]:
    """Return kind and key of every name and alias in a schema, including inverse aliases."""
    return {(kind, label_key(name)) for kind in KIND_NAMES for element in schema.elements(kind)
            for name in (*element.all_names(), *getattr(element, "inverse_aliases", ()))}  # relations have these


def only_in(schema: GraphSchema, other: GraphSchema) -> list[tuple[ElementKind, SchemaElement]]:
    """Return the elements of a schema whose names the other schema lacks, types first."""
    return [(kind, element) for kind in KIND_NAMES for element in schema.elements(kind)
            if find_element(other, kind, element.name) is None]


def types_of(element: SchemaElement) -> Names:
    """Return the entity types that an element refers to."""
    types = chain.from_iterable(getattr(element, field) for field in TYPE_FIELDS[type(element)])
    parent = getattr(element, "parent", None)  # only entity types have one
    return (*types, parent) if parent else (*types,)


def element_of(candidate: Candidate, schema: GraphSchema) -> SchemaElement:
    """Return the element that a candidate would become, or by which it would widen an existing element of a schema."""
    is_type = candidate.kind == "entity_type"  # schemas write "BoardMember", but "member_of"
    name_in_style = candidate.name.title().replace(" ", "") if is_type else candidate.name.replace(" ", "_")
    name = candidate.widens or name_in_style
    # A candidate that is only stated from tail to head is named by such a label, which is then no forward alias.
    forward_labels = candidate.labels or (() if candidate.inverse_labels else (candidate.name,))
    fields: dict[str, Any] = {"aliases": tuple(label for label in forward_labels if label != label_key(name))}
    widened = find_element(schema, candidate.kind, candidate.widens) if candidate.widens else None
    known_types = {t.name for t in schema.entity_types}
    observed = (candidate.subject_types, candidate.object_types)
    # Without known types, it has those of the widened element, or any. Attributes have one such field, types none.
    for field, types in zip(TYPE_FIELDS[_CLASSES[candidate.kind]], observed, strict=False):
        fields[field] = tuple(t for t in types if t in known_types) or getattr(widened, field, (ANY,))
    if candidate.kind == "relation":
        fields["inverse_aliases"] = candidate.inverse_labels
    elif candidate.kind == "attribute":
        fields["kind"] = candidate.object_types[0] if candidate.object_types else "text"
    return build_element(candidate.kind, name, fields)


def build_element(kind: ElementKind, name: str, fields: Mapping[str, Any]) -> SchemaElement:
    """Build an element from its fields, as in schema files, or raise DecisionError if they are not valid."""
    try:
        return _CLASSES[kind].model_validate({**fields, "name": name})
    except ValidationError as error:
        first = error.errors()[0]
        raise DecisionError(f"{KIND_NAMES[kind]} {name!r}, {'.'.join(map(str, first['loc'])) or 'as a whole'}: "
                            f"{first['msg']}") from error


def with_bounds(element: SchemaElement, domain: Names | None, range_: Names | None) -> SchemaElement:
    """Return the element with the given domain (an attribute's owners) and range; None leaves one unchanged."""
    fields, given = TYPE_FIELDS[type(element)], (domain, range_)
    if any(names is not None for names in given[len(fields):]):  # a bound that such an element has no field for
        raise DecisionError(f"{element.name!r} has no such bounds: relations have a domain and a range, attributes a "
                            "domain (their owners), entity types neither")
    bounds = {field: names for field, names in zip(fields, given, strict=False) if names is not None}
    return element.model_copy(update=bounds)


def validate(schema: GraphSchema) -> GraphSchema:
    """Return a validated copy of a schema, or raise DecisionError."""
    try:
        return GraphSchema.model_validate(schema.model_dump())
    except ValidationError as error:
        raise DecisionError(error.errors()[0]["msg"].removeprefix("Value error, ")) from error


def add(schema: GraphSchema, kind: ElementKind, element: SchemaElement) -> GraphSchema:
    """Return the schema with an element added; if one of this name exists, the two are joined."""
    existing = find_element(schema, kind, element.name)
    return validate(put(schema, kind, _combine_elements(existing, element, schema) if existing else element))


def put(schema: GraphSchema, kind: ElementKind, element: SchemaElement) -> GraphSchema:
    """Return the schema with an element in place of the one with its name, or at the end, without validation."""
    by_name = {other.name: other for other in schema.elements(kind)} | {element.name: element}
    return schema.model_copy(update={_GROUPS[kind]: tuple(by_name.values())})


def rename(schema: GraphSchema, kind: ElementKind, name: str, new_name: str) -> GraphSchema:
    """Return the schema with an element renamed; the old name becomes an alias."""
    old, new_name = require_element(schema, kind, name), new_name.strip()
    other = find_element(schema, kind, new_name)
    if other is not None and other.name != old.name:
        raise DecisionError(f"{KIND_NAMES[kind]} {old.name!r} cannot be called {new_name!r}: {other.name!r} goes by "
                            "that name; merge the two, or choose another name")
    aliases = tuple(a for a in dict.fromkeys((*old.aliases, old.name)) if label_key(a) != label_key(new_name))
    renamed = old.model_copy(update={"name": new_name, "aliases": aliases})
    schema = change_elements(schema, lambda _, element: renamed if element is old else element)
    return validate(_redirect_references(schema, kind, old.name, new_name))


def merge(schema: GraphSchema, kind: ElementKind, name: str, into: str) -> GraphSchema:
    """Return the schema with one element merged into another, which takes its labels and types."""
    element, target = require_element(schema, kind, name), require_element(schema, kind, into)
    if element.name == target.name:
        raise DecisionError(f"{KIND_NAMES[kind]} {element.name!r} cannot be merged into itself: name another one")
    schema = validate(put(schema, kind, _combine_elements(target, element, schema)))
    return _remove_element(schema, kind, element.name, target.name)


def remove(schema: GraphSchema, kind: ElementKind, name: str) -> GraphSchema:
    """Return the schema without an element; a type with a parent is merged into the parent."""
    element = require_element(schema, kind, name)
    parent = getattr(element, "parent", None)  # only entity types have one
    return merge(schema, kind, element.name, parent) if parent else _remove_element(schema, kind, element.name, None)


def require_element(schema: GraphSchema, kind: ElementKind, name: str) -> SchemaElement:
    """Return the element with a name or alias, or raise DecisionError."""
    element = find_element(schema, kind, name)
    if element is None:
        raise DecisionError(f"there is no {KIND_NAMES[kind]} {name!r}; there are: "
                            f"{', '.join(e.name for e in schema.elements(kind)) or 'none'}")
    return element


def _combine_elements(target: SchemaElement, other: SchemaElement, schema: GraphSchema) -> SchemaElement:
    """Return `target` with the names of `other` as aliases, and with the domains, ranges or owners of both."""
    target_names = set(map(label_key, (target.name, *target.labels.values())))
    aliases = {label_key(a): a for a in (*other.all_names(), *target.aliases) if label_key(a) not in target_names}
    update: dict[str, Any] = {"aliases": tuple(aliases[key] for key in sorted(aliases))}
    for field in TYPE_FIELDS[type(target)]:
        types, other_types = getattr(target, field), getattr(other, field)
        new_types = [name for name in other_types if not schema.is_a(name, types)]  # kinds of its types are allowed
        update[field] = (ANY,) if ANY in (*types, *other_types) else (*types, *new_types)
    if isinstance(target, RelationType) and isinstance(other, RelationType):
        inverse_aliases = {label_key(a): a for a in (*other.inverse_aliases, *target.inverse_aliases)}
        only_inverse = sorted(inverse_aliases.keys() - target_names - aliases.keys())
        update["inverse_aliases"] = tuple(inverse_aliases[key] for key in only_inverse)
    elif isinstance(target, AttributeType) and isinstance(other, AttributeType) and target.kind != other.kind:
        update["kind"] = "text"  # which any value is
    return target.model_copy(update=update)


def change_elements(schema: GraphSchema,
                    change: Callable[[ElementKind, SchemaElement], SchemaElement | None]) -> GraphSchema:
    """Return the schema with all elements changed, without those for which `change` returns None; not validated."""
    changed = {kind: [change(kind, element) for element in schema.elements(kind)] for kind in KIND_NAMES}
    return schema.model_copy(update={_GROUPS[kind]: tuple(filter(None, group)) for kind, group in changed.items()})


def _redirect_references(schema: GraphSchema, kind: ElementKind, old: str, new: str | None) -> GraphSchema:
    """Return the schema whose references to the element `old` are to `new`, or are removed if that is None."""
    fields = {"entity_type": ("parent",), "relation": ("inverse",), "attribute": ()}[kind]

    def redirect(_: ElementKind, element: SchemaElement) -> SchemaElement:  # called for each element of any kind
        # An element does not refer to itself.
        update: dict[str, Any] = {field: new if new != element.name else None for field in fields
                                  if getattr(element, field, None) == old}
        for field in TYPE_FIELDS[type(element)] if kind == "entity_type" else ():
            names = (new if name == old else name for name in getattr(element, field))
            update[field] = tuple(dict.fromkeys(filter(None, names)))  # each once
        return element.model_copy(update=update)

    return change_elements(schema, redirect)


def _remove_element(schema: GraphSchema, kind: ElementKind, name: str, instead: str | None) -> GraphSchema:
    """Return the schema without an element; references to it are to `instead`, or are removed if that is None."""
    schema = _redirect_references(schema, kind, name, instead)
    for dependent in (*schema.relation_types, *schema.attribute_types):
        if not all(getattr(dependent, field) for field in TYPE_FIELDS[type(dependent)]):
            raise DecisionError(
                f"without the entity type {name!r}, {dependent.name!r} would have no type to stand with: edit or "
                f"reject {dependent.name!r} first, or merge {name!r} into another type")
    return validate(change_elements(
        schema, lambda other, element: None if (other, element.name) == (kind, name) else element))


def sort_elements(schema: GraphSchema, seed: GraphSchema) -> GraphSchema:
    """Return the schema with the seed's elements first, then the others by name, not by when they were added."""
    update = {}
    for kind, group in _GROUPS.items():
        rank = {element.name: index for index, element in enumerate(seed.elements(kind))}
        update[group] = tuple(sorted(schema.elements(kind), key=lambda e: (rank.get(e.name, len(rank)), e.name)))
    return schema.model_copy(update=update)


def remove_labels(schema: GraphSchema, removed: Set[tuple[ElementKind, str]]) -> GraphSchema:
    """Return a schema without some elements, aliases and labels, and without references to them."""
    def stays(kind: ElementKind, name: str | None) -> bool:  # False for None, which is no reference
        return name is not None and (kind, label_key(name)) not in removed

    def without_removed(kind: ElementKind, element: SchemaElement) -> SchemaElement | None:
        if not stays(kind, element.name):
            return None
        update: dict[str, Any] = {
            "aliases": tuple(name for name in element.aliases if stays(kind, name)),
            "labels": {language: name for language, name in element.labels.items() if stays(kind, name)}}
        for bound in TYPE_FIELDS[type(element)]:
            names = getattr(element, bound)
            # Without types, an element could not stand in a schema: it then allows any.
            update[bound] = tuple(name for name in names if name == ANY or stays("entity_type", name)) or (ANY,)
        if isinstance(element, EntityType):
            update["parent"] = element.parent if stays("entity_type", element.parent) else None
        elif isinstance(element, RelationType):
            update["inverse"] = element.inverse if stays(kind, element.inverse) else None
            update["inverse_aliases"] = tuple(name for name in element.inverse_aliases if stays(kind, name))
        return element.model_copy(update=update)

    return change_elements(schema, without_removed) if removed else schema
