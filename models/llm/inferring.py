"""A schema that fits the documents, proposed by a model from excerpts of them."""

import re
from collections.abc import Mapping, Sequence

from ...config import Settings
from ...prompts import Prompt, number_items, render, schema_block
from ...schemas.delta import Candidate, ElementKind, SameLabel
from ...schemas.graph_schema import ANY, AttributeType, EntityType, GraphSchema, RelationType, ValueKind
from ...schemas.naming import is_readable_label, label_key
from ...text.scripts import script_of
from . import wire
from .model_calls import ModelCalls, prompt_language

MOST: dict[ElementKind, int] = {"entity_type": 8, "relation": 18, "attribute": 16}
"""Elements that a model may propose: with the core, what fits `LETTERED_TOKENS` in an extraction prompt."""
_SEPARATORS = re.compile(r"[|,/、，]")


def inference_prompt(excerpts: Sequence[str], known: GraphSchema, settings: Settings) -> Prompt:
    """Return the prompt that proposes a schema from excerpts."""
    text = number_items(excerpts)
    language = prompt_language(settings, text)
    return render("infer", language, settings.prompts, excerpts=text, schema=schema_block(known, language),
                  entity_types=str(MOST["entity_type"]), relations=str(MOST["relation"]),
                  attributes=str(MOST["attribute"]))


class SchemaWriter(ModelCalls):
    """Asks a model for a schema."""

    async def propose(self, excerpts: Sequence[str], known: GraphSchema) -> GraphSchema:
        """Return a schema with the known elements and those that the excerpts call for."""
        return await self._ask("infer", lambda: (
            inference_prompt(excerpts, known, self._settings),
            wire.proposed_schema(lambda proposed: merge_proposal(known, proposed))))

    async def group(self, labels: Sequence[Candidate], schema: GraphSchema) -> list[SameLabel]:
        """Return which labels mean the same as an element of the schema, or as another one."""
        text = number_items(map(_candidate_text, labels))
        language = prompt_language(self._settings, text)
        return await self._ask("group", lambda: (
            render("group", language, self._settings.prompts, labels=text, schema=schema_block(schema, language)),
            wire.SAME_LABELS))


def merge_proposal(known: GraphSchema, proposed: wire.ProposedSchema) -> GraphSchema:
    """Return the known schema with the proposed elements that can be used.

    Elements with an unreadable name or a name that the schema has already are left out. Types that are not in the
    schema are left out of domains and ranges.
    """
    merged = _Proposal(known)
    for row in proposed.types:
        merged.add_type(*_pad_cells(row, 4))
    for row in proposed.relations:
        merged.add_relation(*_pad_cells(row, 5))
    for row in proposed.attributes:
        merged.add_attribute(*_pad_cells(row, 5))
    return merged.schema(proposed.thought)


class _Proposal:
    """The elements of a schema, as they are added one by one."""

    def __init__(self, known: GraphSchema) -> None:
        """Begin with the elements of a known schema."""
        self._known = known
        self._types = {t.name: t for t in known.entity_types}
        self._relations = {r.name: r for r in known.relation_types}
        self._attributes = {a.name: a for a in known.attribute_types}
        elements = (*known.entity_types, *known.relation_types, *known.attribute_types)
        self._type_names = {label_key(name): t.name for t in known.entity_types for name in t.all_names()}
        self._taken = {label_key(name) for e in elements for name in e.all_names()}
        self._added: dict[ElementKind, int] = dict.fromkeys(MOST, 0)

    def add_type(self, name: str, parent: str, description: str, label: str) -> None:
        """Add an entity type; `label` is its name in the documents' language. A parent that is unknown is ignored."""
        if self._reserve_name("entity_type", name):
            self._types[name] = EntityType(name=name, description=description, parent=self._type_names.get(
                label_key(parent)), **_label_fields(name, label))
            self._type_names |= {label_key(n): name for n in self._types[name].all_names()}

    def add_relation(self, name: str, heads: str, tails: str, label: str, single: str) -> None:
        """Add a relation between types ("person|company"); `single` names the end that has one entity, or is ""."""
        name = _identifier(name)
        if self._reserve_name("relation", name):
            self._relations[name] = RelationType(name=name, domain=self._types_in(heads), range=self._types_in(tails),
                                                 functional=single == "tail", inverse_functional=single == "head",
                                                 **_label_fields(name, label))

    def add_attribute(self, name: str, owners: str, kind: str, label: str, single: str) -> None:
        """Add an attribute of some types; `single` is "one" if an entity has one value."""
        name = _identifier(name)
        if self._reserve_name("attribute", name):
            kinds: dict[str, ValueKind] = {"number": "number", "date": "date"}
            self._attributes[name] = AttributeType(name=name, owners=self._types_in(owners),
                                                   kind=kinds.get(kind.lower(), "text"), functional=single == "one",
                                                   **_label_fields(name, label))

    def schema(self, description: str) -> GraphSchema:
        """Return the schema."""
        if not any(self._added.values()):
            raise ValueError('"types", "relations" and "attributes" hold no row that can be used')
        return GraphSchema(name=self._known.name, description=description.strip(),
                           entity_types=tuple(self._types.values()), relation_types=tuple(self._relations.values()),
                           attribute_types=tuple(self._attributes.values()))

    def _reserve_name(self, kind: ElementKind, name: str) -> bool:
        """Reserve a name for a new element; return False if it is unreadable or taken, or the kind has enough."""
        key = label_key(name)
        if not is_readable_label(name) or key in self._taken or self._added[kind] == MOST[kind]:
            return False
        self._taken.add(key)
        self._added[kind] += 1
        return True

    def _types_in(self, types: str) -> tuple[str, ...]:
        """Return the schema's names of the types in a cell, or the name for any type if it has none of them."""
        names = [self._type_names.get(label_key(part), "") for part in _SEPARATORS.split(types)]
        # A type whose parent is also named would only add tokens.
        needed = tuple(name for name in dict.fromkeys(names) if name and self._types[name].parent not in names)
        return needed or (ANY,)


def _candidate_text(candidate: Candidate) -> str:
    """Return a candidate for the prompt: its kind, name and types."""
    subjects, objects = ("|".join(types) or ANY for types in (candidate.subject_types, candidate.object_types))
    types = {"relation": f" ({subjects} -> {objects})", "attribute": f" ({subjects})", "entity_type": ""}
    return f"{candidate.kind.replace('_', ' ')}: {candidate.name}{types[candidate.kind]}"


def _pad_cells(row: Sequence[str], count: int) -> list[str]:
    """Return the first `count` cells of a row with their white space collapsed; missing cells are ""."""
    return [" ".join(cell.split()) for cell in (*row, *[""] * count)][:count]


def _identifier(name: str) -> str:
    return label_key(name).replace(" ", "_")


def _label_fields(name: str, label: str) -> Mapping[str, object]:
    """Return the field for an element's name in the documents' language: a Chinese label, or an alias; {} for none."""
    if not is_readable_label(label) or label_key(label) == label_key(name):
        return {}
    return {"labels": {"zh": label}} if script_of(label) == "cjk" else {"aliases": (label,)}
