"""A schema compiled for the rules: its cue words indexed, its special types found.

Besides the cues in its `rules`, each element is known by its own name and labels. Marks before a cue:

- `<founded` (relation): the words read from tail to head, as in "Nobel founded the company" for
  founded_by. A passive ("was founded by") is derived from the active verb, both ways.
- `'s capital` (relation): also stands for "its capital", "whose capital", ...
- `,` (relation): a mark alone must be all that stands between the two names ("Warsaw, Poland").
- `-ist` (entity type): the ending of a noun.
- `+syndrome`, `+-itis`, `+项目` (entity type): a term ending so is an entity in lower case too.
- `?` (entity type): a name whose type nothing tells may be of it where a relation asks for it.
- `=tenor` (relation): this very term is the tail; evidence and no proof for a relation with learned weights.
- `{noun}` (relation of persons): the tail is what the head is said to be ("is a Kenyan runner").
- `{modifier}` (relation): the tail is the words before that noun ("is a comedy horror film").
- `{nationality}` (attribute): any word for belonging to a people; (relation): the tail is that people's country
  ("is a Kenyan runner").
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ....schemas.graph_schema import (
    ANY,
    ROOT_TYPE,
    AttributeType,
    EntityType,
    GraphSchema,
    RelationType,
    SchemaElement,
)
from ....schemas.naming import normalise
from ....text.scripts import CJK as HAN

INVERSE = "<"
SUFFIX = "-"
TERM = "+"
NATIONALITY = "{nationality}"
NOUN = "{noun}"
MODIFIER = "{modifier}"
TERM_IS_TAIL = "="
MAY_BE = "?"

_WORD_START = re.compile(rf"[{HAN}]|[^\W{HAN}]+|['’]s\b|[^\w\s]")
_TITLED = ("Work", "Event", "SportsTeam")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")
_OWNER_PRONOUNS = ("its ", "his ", "her ", "their ", "whose ")

_LONGEST_HAN_HEAD = 8

KINDS = {
    "person": frozenset({"person", "human", "people", "人物", "人"}),
    "place": frozenset({"location", "place", "city", "country", "地点"}),
    "organisation": frozenset({"organization", "organisation", "company", "组织", "机构"}),
    "event": frozenset({"event", "事件"}),
    "work": frozenset({"work", "creative work", "作品", "film", "book"}),
    "date": frozenset({"date", "year", "time", "point in time", "日期", "时间", "年份"}),
    "number": frozenset({"number", "quantity", "money", "amount", "数量", "金额"}),
}
"""Names under which a schema's own type takes the part of a general kind."""


def fold(text: str) -> str:
    """Lower case with white space as plain spaces, each character in its place."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return re.sub(r"\s", " ", lowered)


@dataclass(frozen=True, slots=True)
class Hit:
    """A cue found in a text, with the elements it may stand for."""

    start: int
    end: int
    phrase: str
    elements: tuple[tuple[str, bool], ...]
    """(element name, inverse), in schema order."""


class CueIndex:
    """Finds many phrases in one pass: looked up by first word, or first character in Han script."""

    def __init__(self, phrases: Iterable[tuple[str, str, bool]]) -> None:
        """Index phrases.

        Args:
            phrases: (cue, element name, inverse); cues already without their marks.
        """
        by_phrase: dict[str, list[tuple[str, bool]]] = defaultdict(list)
        for cue, element, inverse in phrases:
            for phrase in _spellings(fold(cue)):
                if (element, inverse) not in by_phrase[phrase]:
                    by_phrase[phrase].append((element, inverse))
        self._by_first: dict[str, list[tuple[str, tuple[tuple[str, bool], ...]]]] = defaultdict(list)
        for phrase in sorted(by_phrase, key=lambda p: (-len(p), p)):
            first = _WORD_START.match(phrase)
            if first:
                self._by_first[first.group()].append((phrase, tuple(by_phrase[phrase])))

    def find(self, folded: str, begin: int = 0, end: int | None = None) -> Iterator[list[Hit]]:
        """The phrases at each place where any stands, longest first, left to right.

        Args:
            folded: the text as `fold` leaves it.
            begin: the character at which to begin.
            end: the character before which phrases must begin; None for the end of the text.
        """
        for start in _WORD_START.finditer(folded, begin, len(folded) if end is None else end):
            candidates = self._by_first.get(start.group())
            if candidates:
                at = start.start()
                hits = [Hit(at, at + len(phrase), phrase, elements) for phrase, elements in candidates
                        if folded.startswith(phrase, at) and _ends_word(folded, at + len(phrase))]
                if hits:
                    yield hits


def _spellings(cue: str) -> list[str]:
    """A possessive cue ('s wife) also as 'its wife', 'his wife', ...; others as they are."""
    if not cue.startswith("'s "):
        return [cue]
    return [cue, f"’{cue[1:]}", *(pronoun + cue[3:] for pronoun in _OWNER_PRONOUNS)]


def _ends_word(text: str, end: int) -> bool:
    if end >= len(text) or is_han(text[end - 1]) or is_han(text[end]):
        return True
    return not (text[end - 1].isalnum() and text[end].isalnum())


_HAN_CHARACTER = re.compile(f"[{HAN}]")


def is_han(character: str) -> bool:
    """Whether a character belongs to a script written without spaces."""
    return _HAN_CHARACTER.match(character) is not None


def readable(name: str) -> str:
    """An element's name as words: 'foundedBy' and 'founded_by' are 'founded by'."""
    return _CAMEL.sub(" ", name).strip()


def _own_names(element: SchemaElement) -> list[str]:
    return [readable(name) for name in element.all_names()]


@dataclass(frozen=True, slots=True)
class TypeCues:
    """How entity types are known by words."""

    words: dict[str, str]
    """Folded head noun -> type."""
    endings: tuple[tuple[str, str], ...]
    """(word ending, type), longest first."""
    han_heads: dict[str, str]
    """Last characters of a Chinese name -> type."""
    term_words: dict[str, str]
    """Head nouns that make a lower-case term an entity."""
    term_endings: tuple[tuple[str, str], ...]
    fallback: str
    roles: dict[str, str] = field(default_factory=dict)
    """General kind ("person", "place", "organisation", ...) -> the schema's type for it."""
    kin: dict[str, frozenset[str]] = field(default_factory=dict)
    """Type with `MAY_BE` -> such types of its kind: between these, names alone cannot decide."""
    works: frozenset[str] = frozenset()
    """The types whose entities have titles, which keep their articles ('The Graduate')."""
    titled: frozenset[str] = frozenset()
    """`works`, and the types whose names run through small words too: events and teams."""

    def of_word(self, word: str) -> str | None:
        """The type whose cue is this folded noun, in singular or plural, or ends it."""
        for form in _singulars(word):
            if form in self.words:
                return self.words[form]
        return next((name for ending, name in self.endings
                     if word.endswith(ending) and len(word) > len(ending) + 2), None)

    def of_term(self, word: str) -> str | None:
        """The type that takes a lower-case term with this head noun for an entity."""
        for form in _singulars(word):
            if form in self.term_words:
                return self.term_words[form]
        return next((name for ending, name in self.term_endings
                     if word.endswith(ending) and len(word) > len(ending) + 2), None)

    def of_han_name(self, name: str) -> str | None:
        """The type whose cue ends a Chinese name (or is the whole of it), longest cue first."""
        longest = min(len(name), _LONGEST_HAN_HEAD)
        return next((self.han_heads[name[-n:]] for n in range(longest, 0, -1) if name[-n:] in self.han_heads), None)


def _singulars(word: str) -> list[str]:
    forms = [word]
    if word.endswith("ies"):
        forms.append(word[:-3] + "y")
    if word.endswith("es"):
        forms.append(word[:-2])
    if word.endswith("s"):
        forms.append(word[:-1])
    return forms


@dataclass(frozen=True, slots=True)
class CompiledSchema:
    """A schema with all that the rules look up in it."""

    schema: GraphSchema
    types: TypeCues
    relations: CueIndex
    attributes: CueIndex
    terms: CueIndex
    """The words that are the tail of a relation without learned weights, wherever they stand."""
    says_what: bool
    """Whether a relation has `NOUN`, `MODIFIER` or `NATIONALITY`."""
    bare: frozenset[str]
    """The types with the mark `MAY_BE`: a name that nothing else tells of may be of one."""
    of_works: frozenset[str]
    """What is said of works alone, by verbs: 'stars', 'be filmed'."""
    of_things: frozenset[str]
    """What is said so, and never of persons."""
    relation_of: dict[str, RelationType]
    attribute_of: dict[str, AttributeType]

    def accepts(self, type_name: str, allowed: tuple[str, ...], *, unsure: bool = False) -> bool:
        """Whether an entity of this type may be one of `allowed`: it is, or is of the kind of one.

        Args:
            type_name: the entity's type.
            allowed: types, or `ANY`.
            unsure: whether the type is a guess, so that a type without cues may be as good.
        """
        if self.schema.is_a(type_name, allowed) or (unsure and not self.bare.isdisjoint(allowed)):
            return True
        kin = self.types.kin.get(type_name, frozenset())
        return any(name in kin for name in allowed)

    def fits(self, head: str, relation: str, tail: str) -> bool:
        """`GraphSchema.fits`, from a relation that is known to be in the schema."""
        known = self.relation_of[relation]
        return self.schema.is_a(head, known.domain) and self.schema.is_a(tail, known.range)

    def tells(self, relation: str) -> bool:
        """Whether a relation's ends tell it from others: both have types."""
        known = self.relation_of[relation]
        return ANY not in (*known.domain, *known.range)


def compile_schema(schema: GraphSchema, kinds: Mapping[str, str] | None = None,
                   broader: Callable[[str], str] = str) -> CompiledSchema:
    """Index a schema's cues.

    Args:
        schema: a bounded schema; for an open one, compile the seed whose guesses are wanted.
        kinds: entity type -> the seed type it is a kind of, where that is known.
        broader: the broadest kind that a kind is of.

    Returns:
        The indexes; they are only read afterwards, so several threads may share them.
    """
    types = _type_cues(schema.entity_types, kinds or {}, broader)
    return CompiledSchema(
        schema=schema,
        types=types,
        relations=CueIndex((cue.removeprefix(INVERSE), relation.name, cue.startswith(INVERSE))
                           for relation in schema.relation_types
                           for cue in (*relation.rules.all_cues(), *_own_names(relation))
                           if not cue.startswith((TERM_IS_TAIL, "{"))),
        attributes=CueIndex((cue, attribute.name, False) for attribute in schema.attribute_types
                            for cue in (*attribute.rules.all_cues(), *_own_names(attribute))),
        terms=CueIndex((cue.removeprefix(TERM_IS_TAIL), relation.name, False) for relation in schema.relation_types
                       if not relation.rules.learned for cue in relation.rules.all_cues()
                       if cue.startswith(TERM_IS_TAIL)),
        says_what=any({NOUN, MODIFIER, NATIONALITY} & set(r.rules.all_cues()) for r in schema.relation_types),
        bare=frozenset(t.name for t in schema.entity_types if MAY_BE in t.rules.all_cues()),
        of_works=frozenset(_said(r for r in schema.relation_types if r.domain and types.works.issuperset(r.domain))),
        of_things=_of_things(schema, frozenset(name for name, kind in (kinds or {}).items() if kind == "Person")),
        relation_of={relation.name: relation for relation in schema.relation_types},
        attribute_of={attribute.name: attribute for attribute in schema.attribute_types},
    )


def _of_things(schema: GraphSchema, persons: frozenset[str]) -> frozenset[str]:
    relations = schema.relation_types
    of_persons = [r for r in relations if ANY in r.domain or not persons.isdisjoint(r.domain)]
    return frozenset(_said(r for r in relations if r not in of_persons)) - frozenset(_said(of_persons))


def _said(relations: Iterable[RelationType]) -> Iterator[str]:
    """The verbs that relations say of their heads: 'won' for "won", 'be filmed' for "filmed by" and "<filmed"."""
    for relation in relations:
        for cue in relation.rules.all_cues():
            first, *others = fold(cue.removeprefix(INVERSE)).split() or [""]
            if not (cue.startswith(INVERSE) and others):
                yield f"be {first}"
            if not cue.startswith(INVERSE) and others[-1:] != ["by"]:
                yield first


def _type_cues(types: tuple[EntityType, ...], kinds: Mapping[str, str], broader: Callable[[str], str]) -> TypeCues:
    words: dict[str, str] = {}
    terms: dict[str, str] = {}
    endings: dict[str, str] = {}
    term_endings: dict[str, str] = {}
    heads: dict[str, str] = {}
    own = [(entity, name) for entity in types for name in _own_names(entity)]
    for entity, cue in (*own, *((t, cue) for t in types for cue in t.rules.all_cues() if cue != MAY_BE)):
        plain = fold(cue.removeprefix(TERM))
        if plain.startswith(SUFFIX):
            endings.setdefault(plain[1:], entity.name)
            if cue.startswith(TERM):
                term_endings.setdefault(plain[1:], entity.name)
        elif is_han(plain[-1]):
            heads.setdefault(plain, entity.name)
            if cue.startswith(TERM):
                terms.setdefault(plain, entity.name)
        else:
            words.setdefault(plain.rstrip("."), entity.name)
            if cue.startswith(TERM):
                terms.setdefault(plain, entity.name)
    bare = {t.name: broader(kinds.get(t.name, "")) for t in types if MAY_BE in t.rules.all_cues()}
    return TypeCues(words, _longest_first(endings), heads, terms, _longest_first(term_endings),
                    next((t.name for t in types if t.last_resort), ROOT_TYPE), _roles(types, kinds),
                    kin={name: frozenset(other for other in bare if bare[other] == kind)
                         for name, kind in bare.items() if kind},
                    works=frozenset(name for name, kind in kinds.items() if kind == "Work"),
                    titled=frozenset(name for name, kind in kinds.items() if kind in _TITLED))


def _longest_first(cues: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(cues.items(), key=lambda item: (-len(item[0]), item[0])))


def _roles(types: tuple[EntityType, ...], kinds: Mapping[str, str]) -> dict[str, str]:
    """For each general kind the first type that is called so, else the first with such a cue."""
    roles: dict[str, str] = {}
    for kind, names in KINDS.items():
        called = [t.name for t in types if names & {normalise(name) for name in _own_names(t)}]
        cued = [t.name for t in types if names & {normalise(cue) for cue in t.rules.all_cues()}]
        akin = [t.name for t in types if normalise(kinds.get(t.name, "")) in names]
        chosen = called or akin or (cued if kind not in {"date", "number"} else [])
        if chosen:
            roles[kind] = chosen[0]
    return roles
