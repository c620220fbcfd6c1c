"""Change a schema with pure functions: add, rename, merge, remove, edit and replace elements.

Names of renamed and merged elements become aliases, so facts extracted under them stay admitted. What cannot be done
raises DecisionError.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from pydantic import ValidationError

from ...schemas.delta import ELEMENT_KINDS, Candidate, Decision, ElementKind
from ...schemas.errors import BanyanError
from ...schemas.graph_schema import (
    ANY,
    AttributeType,
    EntityType,
    GraphSchema,
    RelationType,
    SchemaElement,
    ValueKind,
    compare_schemas,
)
from ...schemas.naming import label_key

Names = tuple[str, ...]

_GROUPS: dict[ElementKind, str] = {"entity_type": "entity_types", "relation": "relation_types",
                                   "attribute": "attribute_types"}
_CLASSES: dict[ElementKind, type[SchemaElement]] = {"entity_type": EntityType, "relation": RelationType,
                                                    "attribute": AttributeType}
KIND_NAMES: dict[ElementKind, str] = {"entity_type": "entity type", "relation": "relation", "attribute": "attribute"}


class DecisionError(BanyanError):
    """A decision cannot be carried out; the message names the element, the cause and the fix."""


def find_element(schema: GraphSchema, kind: ElementKind, name: str) -> SchemaElement | None:
    """Return the element with a name or alias, or None; names take precedence over aliases."""
    key = label_key(name)
    by_name = (e for e in schema.elements(kind) if label_key(e.name) == key)
    by_alias = (e for e in schema.elements(kind) if key in map(label_key, e.all_names()))
    return next(by_name, None) or next(by_alias, None)


def known_labels(schema: GraphSchema) -> set[tuple[ElementKind, str]]:
    """Return kind and key of every name and alias in a schema, including inverse aliases."""
    backward: set[tuple[ElementKind, str]] = {
        ("relation", label_key(name)) for r in schema.relation_types for name in r.inverse_aliases}
    return backward | {(kind, label_key(name)) for kind in _GROUPS for e in schema.elements(kind)
                       for name in e.all_names()}


def only_in(schema: GraphSchema, other: GraphSchema) -> list[tuple[ElementKind, SchemaElement]]:
    """Return the elements of a schema whose names the other schema lacks, types first."""
    return [(kind, element) for kind in KIND_NAMES for element in schema.elements(kind)
            if find_element(other, kind, element.name) is None]


def element_of(candidate: Candidate, schema: GraphSchema, name: str = "") -> SchemaElement:
    """Return the element that a candidate would become, or by which it would widen an existing element of a schema.

    Types that the schema lacks are dropped; without any, those of the widened element, or any type. `name` names a new
    element.
    """
    is_type = candidate.kind == "entity_type"
    schema_style_name = candidate.name.title().replace(" ", "") if is_type else candidate.name.replace(" ", "_")
    name = (candidate.widens or name).strip() or schema_style_name
    # A candidate that is only stated from tail to head is named by such a label, which is then no forward alias.
    forward_labels = candidate.labels or (() if candidate.inverse_labels else (candidate.name,))
    aliases = tuple(label for label in forward_labels if label != label_key(name))
    widened = find_element(schema, candidate.kind, candidate.widens) if candidate.widens else None
    default_domain: Names = (ANY,)
    default_range: Names = (ANY,)
    if isinstance(widened, RelationType):
        default_domain, default_range = widened.domain, widened.range
    elif isinstance(widened, AttributeType):
        default_domain = widened.owners
    try:
        if is_type:
            return EntityType(name=name, aliases=aliases)
        known_types = {t.name for t in schema.entity_types}
        domain = tuple(t for t in candidate.subject_types if t in known_types) or default_domain
        if candidate.kind == "relation":
            range_ = tuple(t for t in candidate.object_types if t in known_types) or default_range
            return RelationType(name=name, aliases=aliases, domain=domain, range=range_,
                                inverse_aliases=candidate.inverse_labels)
        value_kind = cast("ValueKind", (candidate.object_types or ("text",))[0])
        return AttributeType(name=name, aliases=aliases, owners=domain, kind=value_kind)
    except ValidationError as error:
        raise DecisionError(f"{name!r} cannot name an element of the schema: {error.errors()[0]['msg']}") from error


def add(schema: GraphSchema, kind: ElementKind, element: SchemaElement) -> GraphSchema:
    """Return the schema with an element added; if one of this name exists, the two are joined."""
    existing = find_element(schema, kind, element.name)
    if existing is None:
        return _replace_elements(schema, kind, (*schema.elements(kind), element))
    return _replace_element(schema, kind, existing, _combine_elements(existing, element, schema))


def build_element(kind: ElementKind, name: str, fields: Mapping[str, Any]) -> SchemaElement:
    """Build an element from its fields, as in schema files."""
    try:
        return _CLASSES[kind].model_validate({**fields, "name": name})
    except ValidationError as error:
        first = error.errors()[0]
        raise DecisionError(f"{KIND_NAMES[kind]} {name!r}, {'.'.join(map(str, first['loc'])) or 'as a whole'}: "
                            f"{first['msg']}") from error


def put(schema: GraphSchema, kind: ElementKind, element: SchemaElement) -> GraphSchema:
    """Return the schema with an element in place of the one with its name, or at the end, without validation."""
    by_name = {other.name: other for other in schema.elements(kind)} | {element.name: element}
    return schema.model_copy(update={_GROUPS[kind]: tuple(by_name.values())})


def rename(schema: GraphSchema, kind: ElementKind, name: str, new_name: str) -> GraphSchema:
    """Return the schema with an element renamed; the old name becomes an alias."""
    old, new_name = _require_element(schema, kind, name), new_name.strip()
    other = find_element(schema, kind, new_name)
    if other is not None and other.name != old.name:
        raise DecisionError(f"{KIND_NAMES[kind]} {old.name!r} cannot be called {new_name!r}: {other.name!r} goes by "
                            "that name; merge the two, or choose another name")
    aliases = tuple(a for a in dict.fromkeys((*old.aliases, old.name)) if label_key(a) != label_key(new_name))
    renamed = old.model_copy(update={"name": new_name, "aliases": aliases})
    schema = schema.model_copy(update={_GROUPS[kind]: tuple(
        renamed if e.name == old.name else e for e in schema.elements(kind))})
    return validate(_redirect_references(schema, kind, old.name, new_name))


def merge(schema: GraphSchema, kind: ElementKind, name: str, into: str) -> GraphSchema:
    """Return the schema with one element merged into another, which takes its labels and types."""
    element, target = _require_element(schema, kind, name), _require_element(schema, kind, into)
    if element.name == target.name:
        raise DecisionError(f"{KIND_NAMES[kind]} {element.name!r} cannot be merged into itself: name another one")
    schema = _replace_element(schema, kind, target, _combine_elements(target, element, schema))
    return _remove_element(schema, kind, element.name, target.name)


def remove(schema: GraphSchema, kind: ElementKind, name: str) -> GraphSchema:
    """Return the schema without an element; a type with a parent is merged into the parent."""
    element = _require_element(schema, kind, name)
    if isinstance(element, EntityType) and element.parent is not None:
        return merge(schema, kind, element.name, element.parent)
    return discard(schema, kind, name)


def discard(schema: GraphSchema, kind: ElementKind, name: str) -> GraphSchema:
    """Return the schema without an element, whose names do not become aliases of its parent (see `remove`)."""
    element = _require_element(schema, kind, name)
    parent = element.parent if isinstance(element, EntityType) else None
    return _remove_element(schema, kind, element.name, parent)


def edit(schema: GraphSchema, kind: ElementKind, name: str, domain: Names | None, range_: Names | None) -> GraphSchema:
    """Return the schema with an element's domain (an attribute's owners) and range changed."""
    old = _require_element(schema, kind, name)
    return _replace_element(schema, kind, old, with_bounds(old, domain, range_))


def with_bounds(element: SchemaElement, domain: Names | None, range_: Names | None) -> SchemaElement:
    """Return the element with the given domain (an attribute's owners) and range; None leaves one unchanged."""
    update: dict[str, Any] = {}
    if isinstance(element, RelationType):
        update = {"domain": domain, "range": range_}
    elif isinstance(element, AttributeType) and range_ is None:
        update = {"owners": domain}
    elif domain is not None or range_ is not None:
        raise DecisionError(f"{element.name!r} has no such bounds: relations have a domain and a range, attributes a "
                            "domain (their owners), entity types neither")
    return element.model_copy(update={key: names for key, names in update.items() if names is not None})


def _require_element(schema: GraphSchema, kind: ElementKind, name: str) -> SchemaElement:
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
    if isinstance(target, RelationType) and isinstance(other, RelationType):
        inverse_aliases = {label_key(a): a for a in (*other.inverse_aliases, *target.inverse_aliases)}
        only_inverse = sorted(inverse_aliases.keys() - target_names - aliases.keys())
        update |= {"domain": _join_types(target.domain, other.domain, schema),
                   "range": _join_types(target.range, other.range, schema),
                   "inverse_aliases": tuple(inverse_aliases[key] for key in only_inverse)}
    elif isinstance(target, AttributeType) and isinstance(other, AttributeType):
        update["owners"] = _join_types(target.owners, other.owners, schema)
        update["kind"] = target.kind if target.kind == other.kind else "text"
    return target.model_copy(update=update)


def _join_types(types: Names, other_types: Names, schema: GraphSchema) -> Names:
    """Return the union of two lists of types, without other types that are kinds of a type in the first list."""
    if ANY in (*types, *other_types):
        return (ANY,)
    return (*types, *(name for name in other_types if not schema.is_a(name, types)))


def sort_elements(schema: GraphSchema, seed: GraphSchema) -> GraphSchema:
    """Return the schema with the seed's elements first, then the others by name, whenever they were added."""
    update = {}
    for kind, group in _GROUPS.items():
        position = {element.name: index for index, element in enumerate(seed.elements(kind))}
        update[group] = tuple(sorted(schema.elements(kind),
                                     key=lambda e: (position.get(e.name, len(position)), e.name)))
    return schema.model_copy(update=update)


def types_of(element: SchemaElement) -> Names:
    """Return the entity types that an element refers to."""
    if isinstance(element, RelationType):
        return (*element.domain, *element.range)
    if isinstance(element, AttributeType):
        return element.owners
    return (element.parent,) if isinstance(element, EntityType) and element.parent else ()


def _with_types(element: SchemaElement, change: Callable[[Names], Names]) -> SchemaElement:
    if isinstance(element, RelationType):
        return element.model_copy(update={"domain": change(element.domain), "range": change(element.range)})
    if isinstance(element, AttributeType):
        return element.model_copy(update={"owners": change(element.owners)})
    return element


def _redirect_references(schema: GraphSchema, kind: ElementKind, old: str, new: str | None) -> GraphSchema:
    """Return the schema whose references to the element `old` are to `new`, or are removed if that is None."""
    if kind == "attribute":  # nothing refers to attributes
        return schema

    def new_reference(element: SchemaElement) -> str | None:
        return new if new != element.name else None  # an element does not refer to itself

    if kind == "relation":
        return schema.model_copy(update={"relation_types": tuple(
            r.model_copy(update={"inverse": new_reference(r)}) if r.inverse == old else r
            for r in schema.relation_types)})

    def replace_name(names: Names) -> Names:
        replaced = (new if name == old else name for name in names)
        return tuple(dict.fromkeys(name for name in replaced if name is not None))

    return schema.model_copy(update={
        "entity_types": tuple(t.model_copy(update={"parent": new_reference(t)}) if t.parent == old else t
                              for t in schema.entity_types),
        "relation_types": tuple(_with_types(r, replace_name) for r in schema.relation_types),
        "attribute_types": tuple(_with_types(a, replace_name) for a in schema.attribute_types)})


def _remove_element(schema: GraphSchema, kind: ElementKind, name: str, instead: str | None) -> GraphSchema:
    """Return the schema without an element; references to it are to `instead`, or are removed if that is None."""
    schema = _redirect_references(schema, kind, name, instead)
    relations, attributes = schema.relation_types, schema.attribute_types
    for dependent, types in (*((r.name, r.domain) for r in relations), *((r.name, r.range) for r in relations),
                             *((a.name, a.owners) for a in attributes)):
        if not types:
            raise DecisionError(f"without the entity type {name!r}, {dependent!r} would have no type to stand with: "
                                f"edit or reject {dependent!r} first, or merge {name!r} into another type")
    return _replace_elements(schema, kind, (e for e in schema.elements(kind) if e.name != name))


def _replace_element(schema: GraphSchema, kind: ElementKind, old: SchemaElement, new: SchemaElement) -> GraphSchema:
    return _replace_elements(schema, kind, (new if e.name == old.name else e for e in schema.elements(kind)))


def _replace_elements(schema: GraphSchema, kind: ElementKind, changed: Iterable[SchemaElement]) -> GraphSchema:
    return validate(schema.model_copy(update={_GROUPS[kind]: tuple(changed)}))


def validate(schema: GraphSchema) -> GraphSchema:
    """Return a validated copy of a schema."""
    try:
        return GraphSchema.model_validate(schema.model_dump())
    except ValidationError as error:
        raise DecisionError(error.errors()[0]["msg"].removeprefix("Value error, ")) from error


def decisions_to(before: GraphSchema, after: GraphSchema) -> list[Decision]:
    """Return the decisions that turn one schema into another: define what is new or changed, reject the rest."""
    if before.open or after.open:
        raise DecisionError("an open schema has no elements to put in the place of others, or to be replaced: build "
                            "another knowledge base with the schema that you want")
    new_elements = {(kind, element.name): element for kind in ELEMENT_KINDS for element in after.elements(kind)}
    decisions = []
    for change in compare_schemas(before, after):
        if change.change == "removed":
            decisions.append(Decision(kind=change.kind, name=change.name, verdict="reject"))
        else:
            fields = new_elements[change.kind, change.name].model_dump(mode="json", exclude={"name"})
            decisions.append(Decision(kind=change.kind, name=change.name, verdict="define", element=fields))
    return decisions
