"""Change the schema: by thresholds, by a person's decisions, or because documents were deleted (Youtu-GraphRAG eq. 3).

All is pure. Growth starts from the base schema and considers everything that the documents ask for, so the grown schema
depends neither on their order nor on the builds that added them. Deletions take the elements that a model proposed from
the first documents, and words in earlier versions, but neither what seeds have nor what people named.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain

from ...schemas.delta import ELEMENT_KINDS, Candidate, Decided, Decision, ElementKind, Verdict
from ...schemas.graph_schema import ANY, AUTO_SCHEMA, AttributeType, GraphSchema, RelationType, SchemaElement
from ...schemas.naming import label_key
from ..bounding.admission import Bounds
from ..ledger.schema_rows import AskCount, Label, SchemaVersion
from . import elements
from .elements import DecisionError, find_element, known_labels
from .schema_candidates import Grounds, collect_candidates, unify_labels, with_schema_types

_COLUMN_FACTOR = 5  # how many times as many new elements as from sentences may come from columns: tables have dozens
_ORDER: tuple[Verdict, ...] = ("define", "accept", "rename", "edit", "merge", "reject")
"""The order in which decisions are carried out: a merge, for instance, may be into an element that another one adds."""
CORE = "part of every inferred schema"
"""The reason that is recorded for the elements of every proposed schema; these stay whatever documents there are."""
_NOT_PEOPLE = frozenset({"auto", "seed"})


@dataclass(frozen=True)
class Thresholds:
    """What a candidate needs to be accepted without a person."""

    confidence: float  # minimum mean confidence (mu of eq. 3)
    support: int  # minimum number of documents
    growth: int  # maximum number of new elements of each kind, which keeps a schema compact


def grow_schema(base: GraphSchema, grounds: Grounds, thresholds: Thresholds) -> tuple[GraphSchema, list[Decided]]:
    """Return the base schema with all candidates that meet the thresholds, and each of these with its evidence."""
    schema, decided = base, list[Decided]()
    asks = unify_labels((c for c in grounds.counts if (c.kind, c.label) not in grounds.declined), grounds.same, base)
    for kinds in (("entity_type",), ("relation", "attribute")):  # types first, as the others refer to them
        counts = [count for count in asks if count.kind in kinds]
        if "relation" in kinds:  # leave out asks with a type that the schema lacks, which becomes ""
            counts = [count for count in with_schema_types(counts, Bounds(schema).entity_type)
                      if count.subject_type and (count.kind != "relation" or count.object_type)]
        candidates = [c for c in collect_candidates(counts, base, thresholds.support, only_supported=True)
                      if c.confidence >= thresholds.confidence and (c.kind, label_key(c.name)) not in grounds.declined]
        # Widening elements is not limited; of new ones, the strongest of each kind join (see `_COLUMN_FACTOR`).
        accepted = [c for c in candidates if c.widens]
        for kind in ELEMENT_KINDS:
            new = [c for c in candidates if c.kind == kind and not c.widens]
            accepted += [c for c in new if c.rows < thresholds.support][:thresholds.growth]  # labels of sentences
            accepted += [c for c in new if c.rows >= thresholds.support][:_COLUMN_FACTOR * thresholds.growth]
        for candidate in accepted:
            schema = elements.add(schema, candidate.kind, elements.element_of(candidate, schema))
            decided.append(Decided(decision=_explain_acceptance(candidate, thresholds), evidence=candidate))
    return schema, decided


def _explain_acceptance(candidate: Candidate, thresholds: Thresholds) -> Decision:
    """Return the decision that accepts a candidate, with the figures that meet the thresholds as its reason."""
    rows = f" and {candidate.rows} table rows" if candidate.rows else ""
    why = (f"mean confidence {candidate.confidence:.2f} >= {thresholds.confidence:.2f}, {candidate.documents} "
           f"documents{rows} >= {thresholds.support}")
    if not candidate.widens:
        return Decision(kind=candidate.kind, name=candidate.name, verdict="accept", why=why)
    # The candidate's own name is the new label, or says which types are new: "height of Person (number)".
    return Decision(kind=candidate.kind, name=candidate.widens, verdict="edit", why=f"{candidate.name}: {why}")


def find_waiting(schema: GraphSchema, grounds: Grounds, support: int) -> list[Candidate]:
    """Return the candidates that a schema does not have yet, strongest support first, without examples."""
    counts = [c for c in find_unmet(schema, grounds.counts) if (c.kind, c.label) not in grounds.declined]
    candidates = collect_candidates(unify_labels(counts, grounds.same, schema), schema, support)
    # A candidate that widens an element has a name of its own, which may be declined although its labels are not.
    return [c for c in candidates if (c.kind, label_key(c.name)) not in grounds.declined]


def find_unmet(schema: GraphSchema, counts: Iterable[AskCount]) -> list[AskCount]:
    """Return the asks that a schema does not meet, with the schema's names for their types; "" for an unknown type."""
    def is_met(count: AskCount) -> bool:  # for a label that the schema has
        element = find_element(schema, count.kind, count.label)
        if isinstance(element, RelationType):
            types = (count.subject_type, count.object_type)
            return any(schema.is_a(head, element.domain) and schema.is_a(tail, element.range)
                       for head, tail in (types, types[::-1]))  # bounding exchanges the ends if need be
        if isinstance(element, AttributeType):
            value_kind = count.object_type  # which `with_schema_types` leaves as it is; any value is a text
            return schema.is_a(count.subject_type, element.owners) and element.kind in {"text", value_kind}
        return True  # an entity type has no bounds

    known = known_labels(schema)
    return [count for count in with_schema_types(counts, Bounds(schema).entity_type)
            if (count.kind, count.label) not in known or not is_met(count)]


@dataclass(frozen=True)
class SchemaOutcome:
    """The result of a person's decisions."""

    base: GraphSchema
    schema: GraphSchema
    decided: tuple[Decided, ...] = ()
    is_declined: Mapping[Label, bool] = field(default_factory=dict)  # by label decided on: never propose it again


def carry_out_decisions(base: GraphSchema, schema: GraphSchema, grounds: Grounds, support: int,
                        decisions: Sequence[Decision]) -> SchemaOutcome:
    """Carry out a person's decisions on candidates or elements in force, all or none, or raise DecisionError.

    Types come first, as asks for relations count only if the schema has their types; rejections come last. `base` is
    the seed with all earlier decisions of people, `schema` the one in force, with what grew; `support` is how many
    documents must show a pair of types for it to count as observed.
    """
    outcome = SchemaOutcome(base, schema)
    rejections = [d for d in decisions if d.verdict == "reject"]
    on_types = [d for d in decisions if d.verdict != "reject" and d.kind == "entity_type"]
    on_others = [d for d in decisions if d.verdict != "reject" and d.kind != "entity_type"]
    for step in filter(None, (on_types, on_others, rejections)):  # each changes which candidates are left
        candidates = {(c.kind, label_key(name)): c for c in find_waiting(outcome.schema, grounds, support)
                      for name in c.names()}
        for decision in sorted(step, key=_sort_key):
            outcome = _carry_out(outcome, decision, candidates.get((decision.kind, label_key(decision.name))))
    elements.validate(outcome.base)
    elements.validate(outcome.schema)
    return outcome


def _sort_key(decision: Decision) -> tuple[int, int, str]:
    """Return a decision's sort key: types come before what refers to them, but are rejected after it."""
    kind = ELEMENT_KINDS.index(decision.kind)  # types are first
    return _ORDER.index(decision.verdict), -kind if decision.verdict == "reject" else kind, label_key(decision.name)


def _carry_out(before: SchemaOutcome, decision: Decision, candidate: Candidate | None) -> SchemaOutcome:
    """Carry out a decision in base and schema in force, and note which labels it declines; or raise DecisionError."""
    kind = decision.kind
    known = find_element(before.schema, kind, decision.name)
    if decision.verdict == "define":
        known, candidate = elements.build_element(kind, decision.name, decision.element or {}), None
    elif known is None and candidate is None:
        raise DecisionError(f"there is no {elements.KIND_NAMES[kind]} {decision.name!r}, neither in the schema nor "
                            "among the candidates; `banyan schema review` lists them")
    names = (*(candidate.names() if candidate else ()), *(known.all_names() if known else ()), decision.name)
    base = _apply_to_schema(before.base, before.schema, decision, candidate, known)
    schema = _apply_to_schema(before.schema, before.schema, decision, candidate, known)
    # A rejected type with a parent is merged into the parent and keeps its names as aliases, so they are not declined.
    has_parent = getattr(known, "parent", None) is not None
    is_declined = dict.fromkeys(((kind, label_key(name)) for name in names),
                                decision.verdict == "reject" and not has_parent)
    return SchemaOutcome(base, schema, (*before.decided, Decided(decision=decision, evidence=candidate)),
                         {**before.is_declined, **is_declined})


def _apply_to_schema(schema: GraphSchema, in_force: GraphSchema, decision: Decision, candidate: Candidate | None,
                     known: SchemaElement | None) -> GraphSchema:
    """Return a schema after a decision on a candidate, or on `known`, an element in force or one to define."""
    kind, name, verdict = decision.kind, decision.name, decision.verdict
    if verdict == "reject":
        return elements.remove(schema, kind, name) if find_element(schema, kind, name) else schema
    if verdict == "define" and known is not None:
        return elements.put(_adopt(schema, in_force, "entity_type", elements.types_of(known)), kind, known)
    if verdict == "rename" and not decision.new_name.strip():
        raise DecisionError(f"the decision to rename {name!r} gives no new name: add one")
    widens = candidate.widens if candidate else ""
    schema = _adopt(schema, in_force, kind, (decision.into, widens))
    if candidate is not None and (widens or known is None):  # accept the candidate
        known = elements.with_bounds(elements.element_of(candidate, in_force), decision.domain, decision.range)
        schema = elements.add(_adopt(schema, in_force, "entity_type", elements.types_of(known)), kind, known)
    if known is None or widens:  # an element that was widened keeps its name and its other bounds
        return schema
    schema, name = _adopt(schema, in_force, kind, [known.name]), known.name
    if verdict == "rename":
        schema, name = elements.rename(schema, kind, name, decision.new_name), decision.new_name
    schema = _adopt(schema, in_force, "entity_type", (*(decision.domain or ()), *(decision.range or ())))
    edited = elements.with_bounds(elements.require_element(schema, kind, name), decision.domain, decision.range)
    schema = elements.validate(elements.put(schema, kind, edited))
    return elements.merge(schema, kind, name, decision.into) if verdict == "merge" else schema


def _adopt(schema: GraphSchema, in_force: GraphSchema, kind: ElementKind, names: Iterable[str]) -> GraphSchema:
    """Return a schema with those of the named elements, and their types, that only the schema in force has."""
    for element in filter(None, (find_element(in_force, kind, name) for name in names)):
        if all(own.name != element.name for own in schema.elements(kind)):
            schema = _adopt(schema, in_force, "entity_type", elements.types_of(element))
            schema = elements.add(schema, kind, element)
    return schema


def named_by_people(versions: Iterable[SchemaVersion]) -> set[Label]:
    """Return the kind and key of every element that people named in decisions."""
    named = set[Label]()
    decisions_of_people = (version.decisions for version in versions if version.who not in _NOT_PEOPLE)
    for decision in (decided.decision for decided in chain.from_iterable(decisions_of_people)):
        types = (*(decision.domain or ()), *(decision.range or ()))
        named |= {(decision.kind, label_key(name)) for name in (decision.name, decision.new_name, decision.into)}
        named |= {("entity_type", label_key(name)) for name in types}
    return named


def find_unused_proposals(base: GraphSchema, versions: Sequence[SchemaVersion], used: Set[Label]) -> set[Label]:
    """Return the labels of unused elements of a model's first proposal, but for `CORE` and those that people named."""
    core = {(one.decision.kind, label_key(one.decision.name)) for one in versions[0].decisions
            if one.decision.why == CORE}
    labels_to_keep, unused = {*used, *core, *named_by_people(versions)}, set[Label]()
    for kind in ELEMENT_KINDS:
        for element in base.elements(kind):
            labels = {(kind, label_key(name)) for name in element.all_names()}
            is_proposed = find_element(versions[0].graph_schema, kind, element.name) is not None
            if is_proposed and labels_to_keep.isdisjoint(labels):
                unused |= labels
    return unused


def redact(version: SchemaVersion, base: GraphSchema, present: Set[Label], documents: Collection[str],
           ) -> tuple[SchemaVersion, GraphSchema]:
    """Return a version and its base without labels not in `present`, and words of documents not in `documents`."""
    decisions = list[Decided]()
    for decided in version.decisions:
        decision, evidence = decided.decision, decided.evidence
        if (decision.kind, label_key(decision.name)) not in present:
            continue
        if evidence is not None:
            types = evidence.subject_types + (evidence.object_types if evidence.kind == "relation" else ())
            labels = (*evidence.labels, *evidence.inverse_labels, *filter(None, [evidence.widens]))
            shown = {(evidence.kind, label_key(label)) for label in labels} | {
                ("entity_type", label_key(name)) for name in types if name and name != ANY}
            if shown <= present:
                examples = tuple(example for example in evidence.examples if example.document in documents)
                evidence = evidence.model_copy(update={"examples": examples})
            else:
                evidence = None
                if version.who in _NOT_PEOPLE:  # the reason names the labels, too
                    decision = decision.model_copy(update={"why": ""})
        decisions.append(Decided(decision=decision, evidence=evidence))
    # The description of a schema that a model proposed may have words of the documents.
    update = {"description": ""} if version.graph_schema.name == AUTO_SCHEMA else {}
    schema, base = (elements.remove_labels(one, known_labels(one) - present).model_copy(update=update)
                    for one in (version.graph_schema, base))
    return version.model_copy(update={"graph_schema": schema, "decisions": tuple(decisions)}), base
