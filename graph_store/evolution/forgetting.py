"""What leaves a schema and its history after documents are deleted.

What grew by itself leaves by growing again (`growth.py`). Here are the elements that a model proposed from the first
documents, and the earlier versions, whose elements and evidence may have words of documents that are gone. What a seed
has or a person named stays.
"""

from collections.abc import Collection, Iterable, Sequence, Set
from typing import Any, cast

from ...schemas.delta import ELEMENT_KINDS, Candidate, Decided, ElementKind
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
from ..ledger.schema_history import SchemaVersion
from .elements import DecisionError, discard, find_element, known_labels

Label = tuple[ElementKind, str]
CORE = "part of every inferred schema"
"""Why an element is in a schema that a model completed; it stays whatever documents there are."""
_BY_ITSELF = frozenset({"auto", "seed"})


def named_by_people(versions: Iterable[SchemaVersion]) -> set[Label]:
    """Return kind and key of all that people named in decisions."""
    named = set[Label]()
    for decided in (one for version in versions if version.who not in _BY_ITSELF for one in version.decisions):
        decision = decided.decision
        types = (*(decision.domain or ()), *(decision.range or ()))
        named |= {(decision.kind, label_key(name)) for name in (decision.name, decision.new_name, decision.into)}
        named |= {("entity_type", label_key(name)) for name in types}
    return named


def without_unused_proposals(base: GraphSchema, versions: Sequence[SchemaVersion],
                             used: Collection[Label]) -> GraphSchema:
    """Return a base schema without the elements that a model proposed and no document uses.

    Args:
        base: the schema without what grew.
        versions: the history, from the first version, which a model proposed and no person reviewed.
        used: kind and key of what the documents use.
    """
    core = {(one.decision.kind, label_key(one.decision.name)) for one in versions[0].decisions
            if one.decision.why == CORE}
    kept = {*used, *core, *named_by_people(versions)}
    for kind in reversed(ELEMENT_KINDS):  # types last: what refers to them keeps them
        for element in base.elements(kind):
            names = {(kind, label_key(name)) for name in element.all_names()}
            if find_element(versions[0].graph_schema, kind, element.name) is None or not kept.isdisjoint(names):
                continue
            try:
                base = discard(base, kind, element.name)
            except DecisionError:
                continue  # a relation that stays would have no type to stand with
    return base


def redact(version: SchemaVersion, base: GraphSchema, present: Set[Label], documents: Collection[str],
           ) -> tuple[SchemaVersion, GraphSchema]:
    """Return a version and its base without labels that are nowhere any more, and without words of other documents.

    Args:
        version: the version.
        base: its base.
        present: kind and key of all labels that may stay.
        documents: the documents that there are.
    """
    gone = (known_labels(version.graph_schema) | known_labels(base)) - present
    redacted = (_redact_decision(one, present, documents, by_itself=version.who in _BY_ITSELF)
                for one in version.decisions)
    decisions = tuple(decided for decided in redacted if decided is not None)
    about = {"description": ""} if version.graph_schema.name == AUTO_SCHEMA else {}
    schema, base = (_without(one, gone).model_copy(update=about) for one in (version.graph_schema, base))
    return version.model_copy(update={"graph_schema": schema, "decisions": decisions}), base


def _redact_decision(decided: Decided, present: Set[Label], documents: Collection[str], *,
                     by_itself: bool) -> Decided | None:
    """Return a decision with the evidence that is left; None if it is on an element that is nowhere any more."""
    decision, evidence = decided.decision, decided.evidence
    if (decision.kind, label_key(decision.name)) not in present:
        return None
    if evidence is None:
        return decided
    if not _labels_of(evidence) <= present:
        return Decided(decision=decision.model_copy(update={"why": ""}) if by_itself else decision)
    examples = tuple(example for example in evidence.examples if example.document in documents)
    return Decided(decision=decision, evidence=evidence.model_copy(update={"examples": examples}))


def _labels_of(evidence: Candidate) -> set[Label]:
    types = evidence.subject_types + (evidence.object_types if evidence.kind == "relation" else ())
    labels = (*evidence.labels, *evidence.inverse_labels, *filter(None, (evidence.widens, evidence.nearest)))
    return {(evidence.kind, label_key(label)) for label in labels} | {
        ("entity_type", label_key(name)) for name in types if name and name != ANY}


def _without(schema: GraphSchema, gone: Set[Label]) -> GraphSchema:
    """Return a schema without elements and names.

    A parent or inverse that is gone leaves none in its place; a domain, range or owner that loses all its types, any.
    """
    if not gone:
        return schema
    types = {t.name for t in schema.entity_types if ("entity_type", label_key(t.name)) not in gone}

    def is_kept(kind: ElementKind, name: str) -> bool:
        return (kind, label_key(name)) not in gone

    def of_types(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name in types or name == ANY) or (ANY,)

    def redacted(kind: ElementKind, element: SchemaElement) -> SchemaElement:
        update: dict[str, Any] = {
            "aliases": tuple(name for name in element.aliases if is_kept(kind, name)),
            "labels": {language: name for language, name in element.labels.items() if is_kept(kind, name)}}
        if isinstance(element, EntityType):
            update["parent"] = element.parent if element.parent in types else None
        elif isinstance(element, RelationType):
            update |= {"domain": of_types(element.domain), "range": of_types(element.range),
                       "inverse": element.inverse if element.inverse and is_kept(kind, element.inverse) else None,
                       "inverse_aliases": tuple(name for name in element.inverse_aliases if is_kept(kind, name))}
        elif isinstance(element, AttributeType):
            update["owners"] = of_types(element.owners)
        return element.model_copy(update=update)

    by_kind = {kind: tuple(redacted(kind, one) for one in schema.elements(kind)
                           if is_kept(kind, one.name)) for kind in ELEMENT_KINDS}
    return schema.model_copy(update={"entity_types": cast("Any", by_kind["entity_type"]),
                                     "relation_types": cast("Any", by_kind["relation"]),
                                     "attribute_types": cast("Any", by_kind["attribute"])})
