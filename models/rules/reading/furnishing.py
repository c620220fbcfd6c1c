"""Cues for schema elements that have none: an ontology often gives labels, domains and ranges alone.

An entity type is of the kind of the seed type that lists its head noun ('film production company' is
an Organization, as 'company' is one), and one type of each kind takes over that seed type's words. A
relation is said as English says relations of its name, or as the verb of its agent noun ('organiser':
organised), or as the seeds say it; an attribute as the seeds say one of its name and kind. Elements
with cues of their own stay as they are.
"""

import json
from collections import defaultdict
from functools import cache
from pathlib import Path

from ....schemas.formats.loading import load_schema
from ....schemas.graph_schema import (
    ANY,
    AttributeType,
    EntityType,
    GraphSchema,
    RelationType,
    RulesHints,
    ValueKind,
)
from ....schemas.naming import label_key
from .cues import INVERSE, KINDS, MAY_BE, MODIFIER, NOUN, SUFFIX, TERM, readable

_PROPERTIES = Path(__file__).with_name("properties.json")
"""How English says the common properties of Wikidata, DBpedia and schema.org, with the names that each goes by."""

_SEEDS = ("encyclopedia", "literature", "general", "finance", "biomedical")
"""Where words are borrowed, the broadest first."""

_GENERAL_NOUNS = {
    "athlete": "Person", "character": "Person", "competition": "Event", "championship": "Event", "season": "Event",
    "tournament": "Event", "contest": "Event", "race": "Event", "edition": "Event", "match": "Event",
    "team": "SportsTeam", "squad": "SportsTeam", "side": "SportsTeam", "league": "Organization",
    "body": "Organization", "venue": "Location", "stadium": "Location", "series": "Work",
    "video": "Work", "short": "Work", "featurette": "Work", "special": "Work", "miniseries": "Work",
}
"""Nouns whose kind the seeds' cues leave open or say too broadly."""

_IRREGULAR: dict[str, tuple[str, ...]] = {
    "writer": ("wrote", "written"), "singer": ("sang", "sung"), "builder": ("built",), "maker": ("made",),
    "leader": ("led",), "holder": ("held",), "teacher": ("taught",), "seller": ("sold",), "winner": ("won",),
    "keeper": ("kept",), "finder": ("found",), "speaker": ("spoke", "spoken"), "driver": ("drove", "driven"),
    "buyer": ("bought",),
}
"""Agent noun -> past forms of its verb, where '-er' does not become '-ed'."""

_CONCEPT = "Concept"
_SHORTEST_AGENT = 5
_OF = " of "
_IS_A = "is a"


def furnish(schema: GraphSchema) -> GraphSchema:
    """The schema with cues for each of its elements that has none.

    Args:
        schema: a bounded schema.

    Returns:
        The same elements; a schema in which every element has cues comes back equal.
    """
    kinds = {t.name: kind_of(t) for t in schema.entity_types if not t.rules.cues}
    heirs = _heirs(schema, kinds)
    types = tuple(_furnished_type(t, kinds[t.name], heirs) if t.name in kinds else t for t in schema.entity_types)
    relations = tuple(r if r.rules.cues else _furnished_relation(r, schema) for r in schema.relation_types)
    attributes = tuple(a if a.rules.cues else _furnished_attribute(a) for a in schema.attribute_types)
    return schema.model_copy(update={"entity_types": types, "relation_types": relations,
                                     "attribute_types": attributes})


def kinds_of(schema: GraphSchema) -> dict[str, str]:
    """Each entity type's name -> its kind, "" where its names show none."""
    return {t.name: kind_of(t) for t in schema.entity_types}


@cache
def broader(kind: str) -> str:
    """The broadest kind that a kind is of: of a SportsTeam, Organization."""
    return next((seed.ancestors(kind)[-1] for seed in map(load_schema, _SEEDS) if seed.entity_type(kind)), kind)


def kind_of(entity: EntityType) -> str:
    """The seed type (`Person`, `Work`, ...) that an entity type of any schema is a kind of, by its names; or ""."""
    for name in entity.all_names():
        words = label_key(readable(name)).split()
        for size in range(len(words), 0, -1):
            found = _kinds_of_words().get(" ".join(words[-size:]))
            if found:
                return found
        ending = next((kind for end, kind in _kinds_of_endings() if words and words[-1].endswith(end)), "")
        if ending:
            return ending
    return ""


@cache
def _kinds_of_words() -> dict[str, str]:
    """A noun -> the seed type it names or is a cue of; names before cues, broad seeds before others."""
    kinds = dict(_GENERAL_NOUNS)
    for seed in _SEEDS:
        types = load_schema(seed).entity_types
        for entity in types:
            names = {label_key(readable(name)) for name in entity.all_names()}
            synonyms = (word for called in KINDS.values() if called & names for word in sorted(called))
            for name in (*sorted(names), *synonyms):
                kinds.setdefault(name, entity.name)
        for entity in types:
            for cue in entity.rules.all_cues():
                if not cue.startswith((SUFFIX, MAY_BE)):
                    kinds.setdefault(label_key(cue.removeprefix(TERM)), entity.name)
    return kinds


@cache
def _kinds_of_endings() -> tuple[tuple[str, str], ...]:
    """Noun endings -> seed type, longest first: '-ist', '-person'."""
    person = _kinds_of_words()["person"]
    endings = {cue.removeprefix(TERM)[1:]: t.name for seed in reversed(_SEEDS)
               for t in load_schema(seed).entity_types for cue in t.rules.all_cues()
               if cue.removeprefix(TERM).startswith(SUFFIX)}
    endings["person"] = person
    return tuple(sorted(endings.items(), key=lambda item: (-len(item[0]), item[0])))


def _heirs(schema: GraphSchema, kinds: dict[str, str]) -> dict[str, str]:
    """Kind -> the type that takes over its words: the one in most domains and ranges, of these the first."""
    uses: dict[str, int] = defaultdict(int)
    for relation in schema.relation_types:
        for name in (*relation.domain, *relation.range):
            uses[name] += name != ANY
    heirs: dict[str, str] = {}
    for name, kind in kinds.items():
        if kind and (kind not in heirs or uses[name] > uses[heirs[kind]]):
            heirs[kind] = name
    return heirs


def _furnished_type(entity: EntityType, kind: str, heirs: dict[str, str]) -> EntityType:
    own = label_key(readable(entity.name)).split()
    cues = [MAY_BE, own[-1]] if own and not own[-1].endswith("s") else [MAY_BE]
    if heirs.get(kind) == entity.name:
        cues.extend((*_cues_of_kind(kind), *(noun for noun, of in _GENERAL_NOUNS.items() if of == kind)))
    return entity.model_copy(update={"rules": RulesHints(cues={"en": tuple(dict.fromkeys(cues))})})


@cache
def _cues_of_kind(kind: str) -> tuple[str, ...]:
    found = next(t for seed in _SEEDS for t in load_schema(seed).entity_types if t.name == kind)
    return found.rules.all_cues()


def _furnished_relation(relation: RelationType, schema: GraphSchema) -> RelationType:
    labels = [label_key(readable(name)) for name in relation.all_names()]
    said = [cue for label in labels for cue in _relation_cues(label)]
    kinds = [label_key(readable(n)) for t in schema.entity_types if t.name in relation.range for n in t.all_names()
             if kind_of(t) == _CONCEPT]
    if any(kind.split()[-1:] == label.split()[-1:] != [] for kind in kinds for label in labels):
        persons = any(kind_of(t) == "Person" for t in schema.entity_types if t.name in relation.domain)
        said.append(NOUN if persons else MODIFIER)
    cues = tuple(dict.fromkeys(said))
    return relation.model_copy(update={"rules": RulesHints(cues={"en": cues})}) if cues else relation


def _furnished_attribute(attribute: AttributeType) -> AttributeType:
    """The attribute with the cues of a seed's attribute of its name and kind, where there is one."""
    found = (_seed_attributes().get((label_key(readable(name)), attribute.kind)) for name in attribute.all_names())
    cues = next((cues for cues in found if cues), {})
    return attribute.model_copy(update={"rules": RulesHints(cues=cues)})


@cache
def _seed_attributes() -> dict[tuple[str, ValueKind], dict[str, tuple[str, ...]]]:
    known: dict[tuple[str, ValueKind], dict[str, tuple[str, ...]]] = {}
    for seed in _SEEDS:
        for attribute in load_schema(seed).attribute_types:
            for name in attribute.all_names():
                known.setdefault((label_key(readable(name)), attribute.kind), attribute.rules.cues)
    return known


def _relation_cues(label: str) -> tuple[str, ...]:
    known = _property_cues().get(frozenset(label.split()))
    if known is not None:
        return known
    occupation = (NOUN,) if _IS_A in _seed_values().get(label, ()) else ()
    return (*_agent_cues(label), *_verb_cues(label), *occupation, *_seed_cues().get(frozenset(label.split()), ()))


def _agent_cues(label: str) -> tuple[str, ...]:
    """'organiser' is said with 'organised', 'coach of team' with 'coach of': the verb and the noun itself."""
    head = label.partition(_OF)[0]
    noun = head.split()[-1] if head else ""
    if _OF in label:
        return (f"{head}{_OF}".strip(),)
    if len(noun) < _SHORTEST_AGENT or not noun.endswith(("er", "or")):
        return ()
    irregular = next((forms for agent, forms in _IRREGULAR.items() if noun.endswith(agent)), None)
    pasts = irregular or (f"{noun[:-1]}d" if noun.endswith("er") else f"{noun[:-2]}ed",)
    return (*(INVERSE + past for past in pasts), f"{INVERSE}{noun} of", f"'s {noun}")


def _verb_cues(label: str) -> tuple[str, ...]:
    """'award received' is said with 'received', 'production company' with 'produced by'."""
    words = label.split()
    first, last = words[0], words[-1]
    received = (last,) if len(words) > 1 and last.endswith("ed") else ()
    made = (f"{first[:-3]}ed by",) if len(words) > 1 and first.endswith("ction") else ()
    return (*received, *made)


@cache
def _property_cues() -> dict[frozenset[str], tuple[str, ...]]:
    """The words of each name of a common property -> its English cues."""
    properties = json.loads(_PROPERTIES.read_bytes())
    return {frozenset(label_key(name).split()): tuple(entry["cues"])
            for known, entry in properties.items() for name in (known, *entry["also"])}


@cache
def _seed_cues() -> dict[frozenset[str], tuple[str, ...]]:
    """The words of the name of a seed's relation -> its English cues."""
    cues: dict[frozenset[str], tuple[str, ...]] = {}
    for seed in _SEEDS:
        for relation in load_schema(seed).relation_types:
            for name in relation.all_names():
                cues.setdefault(frozenset(label_key(name).split()), relation.rules.cues.get("en", ()))
    return cues


@cache
def _seed_values() -> dict[str, tuple[str, ...]]:
    """The name of a seed's attribute in words -> its English cues."""
    return {label_key(readable(name)): attribute.rules.cues.get("en", ()) for seed in reversed(_SEEDS)
            for attribute in load_schema(seed).attribute_types for name in attribute.all_names()}
