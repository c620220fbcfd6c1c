"""How the schema grows: which candidates are accepted, and the schema that results (Youtu-GraphRAG eq. 3)."""

from collections.abc import Sequence

from pydantic import ValidationError

from ..schemas.delta import Candidate, Decision
from ..schemas.errors import BanyanError
from ..schemas.graph_schema import ANY, AttributeType, EntityType, GraphSchema, RelationType
from .bounding import label_key


class DecisionError(BanyanError):
    """A decision that names no candidate, or gives a name that cannot be used."""


def decide(candidates: Sequence[Candidate], confidence: float, support: int) -> list[Decision]:
    """Accept what enough documents ask for with enough confidence; leave the rest waiting.

    Args:
        candidates: what waits.
        confidence: mu of eq. 3: least mean confidence.
        support: least number of documents.

    Returns:
        The decisions to accept; nothing is declined for good by machine.
    """
    return [
        Decision(kind=c.kind, name=c.name, verdict="accept",
                 why=f"mean confidence {c.confidence:.2f} >= {confidence:.2f}, {c.documents} documents >= {support}")
        for c in candidates if c.confidence >= confidence and c.documents >= support
    ]


def apply(schema: GraphSchema, candidates: Sequence[Candidate], decisions: Sequence[Decision]) -> GraphSchema:
    """The schema with the accepted and renamed candidates added.

    Args:
        schema: the schema in force.
        candidates: what was decided on.
        decisions: one for each candidate that is decided; of "reject" nothing is added.

    Returns:
        The new schema; equal to the old one when nothing was accepted.

    Raises:
        DecisionError: a decision names no candidate, or renames to what cannot be a name.
    """
    by_key = {(c.kind, c.name): c for c in candidates}
    for decision in sorted(decisions, key=lambda d: (d.kind != "entity_type", d.kind, d.name)):
        candidate = by_key.get((decision.kind, decision.name))
        if candidate is None:
            raise DecisionError(f"there is no candidate {decision.kind} {decision.name!r}; "
                                f"there are: {', '.join(c.name for c in candidates) or 'none'}")
        if decision.verdict == "rename" and not decision.new_name.strip():
            raise DecisionError(f"the decision to rename {decision.name!r} gives no new name")
        if decision.verdict != "reject":
            try:
                schema = _add(schema, candidate, decision.new_name.strip())
            except ValidationError as error:
                raise DecisionError(f"{decision.new_name or decision.name!r} cannot name an element of the schema: "
                                    f"{error.errors()[0]['msg']}") from error
    return schema


def _add(schema: GraphSchema, candidate: Candidate, new_name: str) -> GraphSchema:
    data = schema.model_dump()
    aliases = (candidate.name,) if new_name and label_key(new_name) != candidate.name else ()
    if candidate.kind == "entity_type":
        name = new_name or candidate.name.title().replace(" ", "")
        group, element = "entity_types", EntityType(name=name, aliases=aliases).model_dump()
    elif candidate.kind == "relation":
        name = new_name or candidate.name.replace(" ", "_")
        group, element = "relation_types", RelationType(
            name=name, aliases=aliases, domain=_known(schema, candidate.subject_types),
            range=_known(schema, candidate.object_types)).model_dump()
    else:
        name = new_name or candidate.name.replace(" ", "_")
        group, element = "attribute_types", AttributeType(
            name=name, aliases=aliases, owners=_known(schema, candidate.subject_types)).model_dump()
    same = next((e for e in data[group] if label_key(e["name"]) == label_key(name)), None)
    if same is None:
        # The candidate's own label must lead to the element even where the name is spelled otherwise.
        if label_key(name) != candidate.name:
            element["aliases"] = tuple(dict.fromkeys((*aliases, candidate.name)))
        data[group] = (*data[group], element)
    else:
        same["aliases"] = tuple(dict.fromkeys((*same["aliases"], candidate.name)))
    return GraphSchema.model_validate(data)


def _known(schema: GraphSchema, types: Sequence[str]) -> tuple[str, ...]:
    names = {t.name for t in schema.entity_types}
    return tuple(name for name in types if name in names) or (ANY,)
