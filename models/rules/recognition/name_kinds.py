"""The kind of a name by its own words and by definitions, with the cues of a schema's types or the general seed's."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from ....schemas.formats.schema_loading import load_schema
from ....schemas.graph_schema import GraphSchema
from ....text.lexicon import WORDS, word_set
from ....text.scripts import has_han
from ..likeness import gender_of, is_coined, is_first_name

_KINDS = {"Person": "person", "Organization": "organization", "Location": "location", "Event": "event", "Work": "work",
          "Product": "product", "Award": "award"}
_DEFINITION = re.compile(
    r"(?:(?:\s*\([^()\n]{0,150}\)|,[^,.\n]{1,80},)?\s+(?:is|was|are|were)\s+(?:(?:both|also|once|originally)\s+)?"
    r"(?:an?|the|one of the)|,\s+an?)\s+(?P<phrase>[^.;\n]{1,160})")
_END_OF_NOUN_PHRASE = re.compile(
    r"\s{1,3}(?:of|in|on|at|by|for|from|with|to|that|which|who|whose|where|and|or|near|located|based|published|written|"
    r"directed|produced|released|founded|known|set|starring|created|about|between|as|featuring|born|developed|"
    r"designed|built|owned|made|held|used|currently|covering|devoted|dedicated)\b|[(:]|$")
_WORD = re.compile(r"[\w’'-]+")
_OPENING_NOUNS = frozenset({"lake", "mount", "isle", "cape", "fort", "river"})
_STANDARD_BODIES = frozenset({"iso", "iec", "iso/iec", "rfc", "din", "ieee"})  # standards are called by them: ISO 9001
_NOUN_SURNAMES = WORDS["noun surnames"]  # nouns for places and bodies that are also surnames, such as in Jack Hill
_RELATIONAL_NOUNS = {
    "person": WORDS["relational nouns"],
    "location": word_set("birthplace headquarter headquarters hometown seat"),
    "organization": word_set("alma employer publisher magazine"),
}
_NUMERAL = re.compile(r"[ivx]+|\d+")
_SHORTEST_STEM = 2  # a noun has more letters than these before the ending that gives its type: "pian-ist"
_LOOK_BACK = 30  # characters before a name in which a form of address is looked for
CALENDAR = WORDS["calendar"]  # capitalised words of time, which are not names
ROLES = WORDS["roles"]  # titles: they mark the following name as a person's, and are not names themselves
HONORIFICS = WORDS["honorifics"]  # forms of address: whoever is called so is a person, whatever a recogniser says
_ABBREVIATED = word_set("mr mrs ms dr prof capt")
OF_ANY_KIND = word_set("member members founder owner leader winner model partner participant host supplier")
"""Nouns for persons that are also said of other things: "Norway is a member of"."""
PREPOSITIONS = WORDS["prepositions"]
CHINESE_SURNAMES = WORDS["chinese surnames"]  # one-character Chinese surnames
GENERIC_ACRONYMS = WORDS["generic acronyms"]  # acronyms that are not names of a single thing
PRONOUNS = word_set("he him his she her hers it its they them their we my our you your")
_PICTOGRAPHS = "\u2600-\u27bf\U0001f000-\U0001faff"
EMPHASIS = re.compile(
    rf"\\?\*{{1,3}}|[∗†‡]|`{{1,3}}|(?<!\w)_{{1,2}}|_{{1,2}}(?!\w)|[{_PICTOGRAPHS}][{_PICTOGRAPHS}\ufe0f\u200d]*|"
    r"\[(?=[^\[\]\n]{1,200}\]\()|\]\([^()\s]{1,500}\)")
"""Marks of emphasis, of footnotes and of links in Markdown, and pictures among the letters."""
_SMALL_WORD = re.compile(r" [a-z]{2,}")
_LONG_LINE, _FEW_WORDS = 50, 4  # the letters and the small words of a line of prose, as a list of names has none
VALUES = frozenset({"date", "number"})  # the kinds that are values rather than names
_FEWEST_IN_LIST, _MOST_OF_ONE_PERSON = 3, 4  # words of a list of first names, and of the full name of one person


class TypeNouns:
    """The entity types of a schema by the nouns for them."""

    def __init__(self, schema: GraphSchema) -> None:
        """Index the cues of the schema's entity types; the first of two types with the same cue counts."""
        self._types: dict[str, str] = {}
        endings: dict[str, str] = {}
        for entity in schema.entity_types:
            for cue in (*entity.all_names(), *entity.rules.all_cues()):
                word = cue.lower().lstrip("+").rstrip(".")
                is_ending = word.startswith("-")  # "-ist"
                (endings if is_ending else self._types).setdefault(word.removeprefix("-"), entity.name)
        self._endings = sorted(endings.items(), key=lambda item: (-len(item[0]), item[0]))
        self._person = next((t.name for t in schema.entity_types if "person" in {n.lower() for n in t.all_names()}), "")

    def type_of(self, text: str, span: "Span") -> str:
        """Return the type that a definition or a name's own words give, in this order, or ""."""
        name = text[span.start : span.end]
        if span.kind != "work" and (has_address(text, span.start, span.end) or is_first_name(name)):
            return self._person
        if defined := self.defined_type(text, span):
            return defined
        ends_in_surname = span.kind == "person" and name.rpartition(" ")[2].lower() in _NOUN_SURNAMES
        # The general seed knows whether a noun in the name says what it is; this schema, which of its types that is.
        is_named_by_type = span.kind != "work" and not ends_in_surname and infer_type(name) != ""
        return self.type_of_name(name) if is_named_by_type else ""

    def defined_type(self, text: str, span: "Span") -> str:
        """Return the type in a sentence that defines a name ("Oslo is a city"), or ""."""
        match = _DEFINITION.match(text, span.end)
        if match is None:
            return ""
        phrase = _END_OF_NOUN_PHRASE.split(match["phrase"], maxsplit=1)[0]
        # "Norway is a founding member of": bodies are members, too, so the noun must not make Norway a person.
        if phrase.rpartition(" ")[2].lower() in OF_ANY_KIND:
            return ""
        # "a mountainous, landlocked country": the first part that ends in a known noun. Later parts than the third
        # seldom belong to the definition.
        return next(filter(None, map(self.of_phrase, phrase.split(",")[:3])), "")

    def of_phrase(self, phrase: str) -> str:
        """Return the type of a noun phrase by its last words ("a 2004 comedy film"), or ""."""
        words = [word.lower() for word in _WORD.findall(phrase)]
        return self._types.get(" ".join(words[-2:]), "") or (self._type_of_noun(words[-1]) if words else "")

    def type_of_name(self, name: str) -> str:
        """Return the type by the head noun of a name ("University of Oslo", "Lake Geneva", "World War I"), or ""."""
        words = [word.lower() for word in _WORD.findall(name)]
        while len(words) > 2 and _NUMERAL.fullmatch(words[-1]):  # noqa: PLR2004 - "Boeing 747" keeps both words
            del words[-1]
        if len(words) < 2:  # noqa: PLR2004 - a single word has no head noun
            return ""
        if not _STANDARD_BODIES.isdisjoint(words):
            return self._types.get("specification", "")
        preposition = next((word for word in words[1:] if word in {"of", "in"}), "")
        if preposition:
            noun = words[words.index(preposition) - 1]
            phrase = f"{noun} {preposition}"  # the Order of Merit
        else:
            noun = words[0] if words[0] in _OPENING_NOUNS else words[-1]
            phrase = " ".join(words[-2:])
        type_name = self._types.get(phrase, "") or self._types.get(noun, "")
        # A plural names an event, as in Oslo Riots, but no other type: the Oslo Rockets are a team.
        if not type_name and not preposition and self._type_of_noun(noun) == self._types.get("event"):
            return self._types["event"]
        # A general is a person; the Consulate General of Norway is not.
        return type_name if type_name != self._person else ""

    def _type_of_noun(self, word: str) -> str:
        """Return the type of a noun in the singular or plural, else the type that its ending gives, else ""."""
        singular_forms = (word, word.removesuffix("s"), word.removesuffix("es"), re.sub("ies$", "y", word))
        if listed := next((self._types[form] for form in singular_forms if form in self._types), ""):
            return listed
        return next((type_name for ending, type_name in self._endings
                     if word.endswith(ending) and len(word) > len(ending) + _SHORTEST_STEM), "")


def has_address(text: str, start: int, end: int) -> bool:
    """Return True if a form of address stands before a name or begins it ("Dr Blum")."""
    word_before = text[max(0, start - _LOOK_BACK) : start].rstrip().rpartition(" ")[2].rpartition("\n")[2]
    first, _, rest = " ".join(text[start:end].split()).partition(" ")

    def is_address(word: str) -> bool:
        """Return True for a form of address; in "to the Count. What" the word ends a sentence, so it is none."""
        return word.rstrip(".").lower() in (_ABBREVIATED if word.endswith(".") else HONORIFICS)

    is_addressed = is_address(word_before) or (rest != "" and is_address(first))
    return is_addressed and not infer_type(text[start:end])  # Lady Margaret Hall is no lady


def split_people(name: str) -> list[str]:
    """Return the persons of a list without commas ("Ann Bob Eve Max", "JD NB MegT"), or the name itself."""
    words = name.split()
    if "." not in name and all(word.isupper() or is_coined(word) for word in words):
        return words
    are_first_names = [is_first_name(word) for word in words if word.isalpha()]
    if len(words) == _FEWEST_IN_LIST:  # "Philip Michael Thomas" is one person, whose two first names are of one sex
        is_list = all(are_first_names) and {gender_of(word) for word in words[:2]} == {"woman", "man"}
    else:
        ends_in_first_name = are_first_names[-1:] == [True] or len(words) > _MOST_OF_ONE_PERSON
        is_list = len(words) > _FEWEST_IN_LIST and 2 * sum(are_first_names) > len(words) and ends_in_first_name
    return words if is_list and len(are_first_names) == len(words) else [name]


def infer_kind(text: str, span: "Span") -> str:
    """Return the kind of a name by the words in and around it, or ""."""
    return _KINDS.get(_general_nouns().type_of(text, span), "")


@lru_cache(4096)
def infer_type(name: str) -> str:
    """Return the general seed's type for a name's own words ("University of Oslo"), or ""."""
    return _general_nouns().type_of_name(name)


def kind_of_noun(noun: str) -> str:
    """Return the kind of what a noun in lower case defines ("a city") or relates to ("the performer of"), or ""."""
    relational_kind = next((kind for kind, nouns in _RELATIONAL_NOUNS.items() if noun in nouns), "")
    return relational_kind or _KINDS.get(_general_nouns().of_phrase(noun), "")


@cache
def _general_nouns() -> TypeNouns:
    return TypeNouns(load_schema("general"))


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text from character `start` to `end`, with its kind.

    `kind` is "person", "organization", "location", "event", "work", "product", "award", "date", "number", or "name" for
    a name of unknown type.
    """

    start: int
    end: int
    kind: str


def name_of(text: str, span: Span) -> str:
    """Return the words of a span as a name is stored: with white space collapsed, or in Chinese without line breaks."""
    words = text[span.start : span.end]
    return " ".join(words.split()) if not has_han(words) else "".join(words.split("\n"))


def without_overlaps(*layers: Sequence[Span]) -> list[Span]:
    """Return the spans of all layers, ascending; of overlapping spans only the first of the earliest layer is kept."""
    spans: list[Span] = []
    taken = bytearray(max((span.end for layer in layers for span in layer), default=0))
    for span in (span for layer in layers for span in layer):
        if not any(taken[span.start : span.end]):
            taken[span.start : span.end] = b"\1" * (span.end - span.start)
            spans.append(span)
    return sorted(spans, key=lambda span: span.start)


def without_emphasis(text: str) -> str:
    """Return a text as it is recognised: with blanks for marks of emphasis, and for the line ends within sentences."""
    lines = EMPHASIS.sub(lambda marks: " " * len(marks[0]), text).split("\n")
    parts = lines[:1]
    for before, line in pairwise(lines):
        is_prose = len(before) > _LONG_LINE and len(_SMALL_WORD.findall(before)) > _FEW_WORDS
        parts += [" " if is_prose and line[:1].isalpha() else "\n", line]
    return "".join(parts)
