"""Remove from a schema and its history what only deleted documents had, but for what seeds have or people named.

These are elements that a model proposed from the first documents, and words in earlier versions.
"""

from collections.abc import Collection, Iterable, Sequence, Set
from typing import Any, cast

from ...schemas.delta import ELEMENT_KINDS, Decided, ElementKind
from ...schemas.graph_schema import (
    ANY,
    AUTO_SCHEMA,
    AttributeType,
    EntityType,
    GraphSchema,
    RelationType,
    SchemaElement,
)
from ...schemas.naming import label_key
from ..ledger.schema_rows import SchemaVersion
from .elements import DecisionError, discard, find_element, known_labels

Label = tuple[ElementKind, str]
CORE = "part of every inferred schema"
"""The reason that is recorded for the elements of every proposed schema; these stay whatever documents there are."""
_NOT_PEOPLE = frozenset({"auto", "seed"})


def named_by_people(versions: Iterable[SchemaVersion]) -> set[Label]:
    """Return the kind and key of every element that people named in decisions."""
    named = set[Label]()
    for decided in (one for version in versions if version.who not in _NOT_PEOPLE for one in version.decisions):
        decision = decided.decision
        types = (*(decision.domain or ()), *(decision.range or ()))
        named |= {(decision.kind, label_key(name)) for name in (decision.name, decision.new_name, decision.into)}
        named |= {("entity_type", label_key(name)) for name in types}
    return named


def without_unused_proposals(base: GraphSchema, versions: Sequence[SchemaVersion],
                             used: Collection[Label]) -> GraphSchema:
    """Return a base without the elements that a model proposed in the first version and no document uses.

    `used` has the kind and key of every label that the documents use.
    """
    core = {(one.decision.kind, label_key(one.decision.name)) for one in versions[0].decisions
            if one.decision.why == CORE}
    labels_to_keep = {*used, *core, *named_by_people(versions)}
    for kind in reversed(ELEMENT_KINDS):  # types last, after the relations and attributes that refer to them
        for element in base.elements(kind):
            labels = {(kind, label_key(name)) for name in element.all_names()}
            is_proposed = find_element(versions[0].graph_schema, kind, element.name) is not None
            if not is_proposed or not labels_to_keep.isdisjoint(labels):
                continue
            try:
                base = discard(base, kind, element.name)
            except DecisionError:
                continue  # a relation or attribute that stays would lose its last type
    return base


def redact(version: SchemaVersion, base: GraphSchema, present: Set[Label], documents: Collection[str],
           ) -> tuple[SchemaVersion, GraphSchema]:
    """Return a version and its base without labels not in `present`, and words of documents not in `documents`."""
    removed = (known_labels(version.graph_schema) | known_labels(base)) - present
    redacted = (_redact_decision(one, present, documents, is_automatic=version.who in _NOT_PEOPLE)
                for one in version.decisions)
    decisions = tuple(decided for decided in redacted if decided is not None)
    # The description of a schema that a model proposed may have words of the documents.
    update = {"description": ""} if version.graph_schema.name == AUTO_SCHEMA else {}
    schema, base = (_remove_labels(one, removed).model_copy(update=update) for one in (version.graph_schema, base))
    return version.model_copy(update={"graph_schema": schema, "decisions": decisions}), base


def _redact_decision(decided: Decided, present: Set[Label], documents: Collection[str], *,
                     is_automatic: bool) -> Decided | None:
    """Return a decision without evidence from deleted documents; None if its element is not in `present`."""
    decision, evidence = decided.decision, decided.evidence
    if (decision.kind, label_key(decision.name)) not in present:
        return None
    if evidence is None:
        return decided
    types = evidence.subject_types + (evidence.object_types if evidence.kind == "relation" else ())
    labels = (*evidence.labels, *evidence.inverse_labels, *filter(None, [evidence.widens]))
    shown: set[Label] = {(evidence.kind, label_key(label)) for label in labels}
    shown |= {("entity_type", label_key(name)) for name in types if name and name != ANY}
    if not shown <= present:
        return Decided(decision=decision.model_copy(update={"why": ""}) if is_automatic else decision)
    examples = tuple(example for example in evidence.examples if example.document in documents)
    return Decided(decision=decision, evidence=evidence.model_copy(update={"examples": examples}))


def _remove_labels(schema: GraphSchema, removed: Set[Label]) -> GraphSchema:
    if not removed:
        return schema
    remaining_types = {t.name for t in schema.entity_types if ("entity_type", label_key(t.name)) not in removed}

    def is_kept(kind: ElementKind, name: str) -> bool:
        return (kind, label_key(name)) not in removed

    def keep_types(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in remaining_types or name == ANY) or (ANY,)

    def redact_element(kind: ElementKind, element: SchemaElement) -> SchemaElement:
        """Return an element without its removed aliases, labels and references."""
        update: dict[str, Any] = {
            "aliases": tuple(name for name in element.aliases if is_kept(kind, name)),
            "labels": {language: name for language, name in element.labels.items() if is_kept(kind, name)}}
        if isinstance(element, EntityType):
            update["parent"] = element.parent if element.parent in remaining_types else None
        elif isinstance(element, RelationType):
            update |= {"domain": keep_types(element.domain), "range": keep_types(element.range),
                       "inverse": element.inverse if element.inverse and is_kept(kind, element.inverse) else None,
                       "inverse_aliases": tuple(name for name in element.inverse_aliases if is_kept(kind, name))}
        elif isinstance(element, AttributeType):
            update["owners"] = keep_types(element.owners)
        return element.model_copy(update=update)

    by_kind = {kind: tuple(redact_element(kind, element) for element in schema.elements(kind)
                           if is_kept(kind, element.name)) for kind in ELEMENT_KINDS}
    return schema.model_copy(update={"entity_types": cast("Any", by_kind["entity_type"]),
                                     "relation_types": cast("Any", by_kind["relation"]),
                                     "attribute_types": cast("Any", by_kind["attribute"])})
