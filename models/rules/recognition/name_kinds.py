"""The kind of a name by words: its own words, a definition in a sentence, and the noun before it.

The nouns are the cues of a schema's entity types. `infer_kind` uses those of the general seed, the reader uses those of
the current schema.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from ....schemas.formats.schema_loading import load_schema
from ....schemas.graph_schema import GraphSchema
from ....text.lexicon import words
from ....text.scripts import has_han
from .name_words import OF_ANY_KIND

if TYPE_CHECKING:
    from .typed_span import Span

_KINDS = {"Person": "person", "Organization": "organization", "Location": "location", "Event": "event", "Work": "work",
          "Product": "product", "Award": "award"}
_IS = re.compile(
    r"(?:(?:\s*\([^()\n]{0,150}\)|,[^,.\n]{1,80},)?\s+(?:is|was|are|were)\s+(?:(?:both|also|once|originally)\s+)?"
    r"(?:an?|the|one of the)|,\s+an?)\s+(?P<phrase>[^.;\n]{1,160})")
_END_OF_NOUN = re.compile(
    r"\s{1,3}(?:of|in|on|at|by|for|from|with|to|that|which|who|whose|where|and|or|near|located|based|published|written|"
    r"directed|produced|released|founded|known|set|starring|created|about|between|as|featuring|born|developed|"
    r"designed|built|owned|made|held|used|currently|covering|devoted|dedicated)\b|[(:]|$")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_BORN = re.compile(r" ?\((?:[^()]{0,60}?\b(?:born|née)\b"
                   rf"|[^()]{{0,60}}?{_MONTH}[^()]{{0,30}}[–—-][^()]{{0,40}}?{_MONTH})")
_BEFORE = re.compile(r"(?<![a-z-])(?P<noun>(?:[a-z]{1,30} )?[a-z]{1,30}(?:-[a-z]{1,30})?) [\"“]?$")
_WORD = re.compile(r"[\w’'-]+")
_OPENING_NOUNS = frozenset({"lake", "mount", "isle", "cape", "fort", "river"})
_STANDARDS = frozenset({"iso", "iec", "iso/iec", "rfc", "din", "ieee"})
"""The bodies that a standard is called by: ISO 9001."""
_SURNAMES = frozenset({"hill", "park", "field", "bridge", "church", "lake", "street", "house", "castle", "hall", "land",
                       "forest", "parish", "banks", "brook", "island", "fields", "hills", "court", "cross", "bishop"})
"""Nouns for places and bodies that are also surnames, such as in Jack Hill."""
_RELATIONAL = {
    "person": words("aunt chair child cofounder co-founder creator developer discoverer grandfather grandmother owner "
                    "parent performer predecessor recipient screenwriter sibling spouse astronomer participant "
                    "representative maintainer contributor chairperson treasurer liaison staff user customer presenter "
                    "reporter voter candidate applicant licensee licensor partner"),
    "location": words("birthplace headquarter headquarters hometown seat"),
    "organization": words("alma employer publisher magazine"),
}
_NUMERAL = re.compile(r"[ivx]+|\d+")
_SHORTEST_STEM = 2
_LONGEST_HAN_NOUN = 8


class TypeNouns:
    """The entity types of a schema by the nouns for them."""

    def __init__(self, schema: GraphSchema) -> None:
        """Index the cues of the schema's entity types; the first of two types with the same cue counts."""
        self._types: dict[str, str] = {}
        endings: dict[str, str] = {}
        for entity in schema.entity_types:
            for cue in (*entity.all_names(), *entity.rules.all_cues()):
                word = cue.lower().lstrip("+").rstrip(".")
                if word.startswith("-"):
                    endings.setdefault(word[1:], entity.name)
                elif word[:1].isalpha():
                    self._types.setdefault(word, entity.name)
        self._endings = sorted(endings.items(), key=lambda item: (-len(item[0]), item[0]))
        people = next((t.name for t in schema.entity_types if "person" in {n.lower() for n in t.all_names()}), "")
        self._person = people

    def type_of(self, text: str, span: "Span") -> str:
        """Return the type of a name by the words in and around it, or ""."""
        return next(filter(None, self._types_by_words(text, span)), "")

    def _types_by_words(self, text: str, span: "Span") -> Iterator[str]:
        name = text[span.start : span.end]
        if has_han(name):
            yield self._of_han(name) if span.kind not in {"person", "work"} else ""
            return
        yield self.defined_type(text, span)
        before = _BEFORE.search(text[max(0, span.start - 30) : span.start])
        phrase = before["noun"] if before else ""  # "the publishing house", "the opera"
        noun = self._types.get(phrase, "") or self._types.get(phrase.rpartition(" ")[2], "")
        surname = span.kind == "person" and name.rpartition(" ")[2].lower() in _SURNAMES
        if span.kind != "work" and not surname and infer_type(name):
            yield self.type_of_name(name)
        yield noun

    def defined_type(self, text: str, span: "Span") -> str:
        """Return the type in a sentence that defines a name ("Oslo is a city", "Ada Blum (born 1901)"), or ""."""
        if _BORN.match(text, span.end):
            return self._person
        match = _IS.match(text, span.end)
        if match is None:
            return ""
        end = _END_OF_NOUN.search(match["phrase"])
        # "a mountainous, landlocked country": the first part that ends in a known noun.
        phrase = match["phrase"][: end.start() if end else None]
        if phrase.rpartition(" ")[2].lower() in OF_ANY_KIND:
            return ""
        parts = phrase.split(",")[:3]
        return next(filter(None, map(self.of_phrase, parts)), "")

    def type_of_name(self, name: str) -> str:
        """Return the type by a name's own words ("University of Oslo", "北方泵业公司"), or ""."""
        return self._of_han(name) if has_han(name) else self._of_name([w.lower() for w in _WORD.findall(name)])

    def of_phrase(self, phrase: str) -> str:
        """Return the type of a noun phrase by its last words ("a 2004 comedy film"), or ""."""
        words = [word.lower() for word in _WORD.findall(phrase)]
        return self._types.get(" ".join(words[-2:]), "") or (self._of_word(words[-1]) if words else "")

    def _of_name(self, words: list[str]) -> str:
        """Return the type by a name's own head noun: "University of Oslo", "Lake Geneva", "World War I"."""
        while len(words) > 2 and _NUMERAL.fullmatch(words[-1]):  # noqa: PLR2004
            words = words[:-1]
        if len(words) < 2:  # noqa: PLR2004 - a single word has no head noun
            return ""
        if not _STANDARDS.isdisjoint(words):
            return self._types.get("specification", "")
        if "house of" in " ".join(words):  # of Commons, of Representatives
            return self._types.get("parliament", "")
        link = next((word for word in words[1:] if word in {"of", "in"}), "")
        if link:
            kind = self._types.get(words[words.index(link) - 1], "")
            # A general is a person; the Consulate General of Norway is not.
            return kind if kind != self._person else ""
        noun = words[0] if words[0] in _OPENING_NOUNS else words[-1]
        kind = self._types.get(" ".join(words[-2:]), "") or self._types.get(noun, "")
        if not kind and self._of_word(noun) == self._types.get("event"):
            return self._types["event"]  # Oslo Riots; but Oslo Rockets are a team
        return kind if kind != self._person else ""

    def _of_han(self, name: str) -> str:
        longest = min(len(name) - 1, _LONGEST_HAN_NOUN)
        return next((self._types[name[-n:]] for n in range(longest, 1, -1) if name[-n:] in self._types), "")

    def _of_word(self, word: str) -> str:
        forms = (word, word.removesuffix("s"), word.removesuffix("es"), re.sub("ies$", "y", word))
        return next((self._types[form] for form in forms if form in self._types), "") or next(
            (kind for ending, kind in self._endings
             if word.endswith(ending) and len(word) > len(ending) + _SHORTEST_STEM), "")


def infer_kind(text: str, span: "Span") -> str:
    """Return the kind of a name by the words in and around it, or ""."""
    return _KINDS.get(_general().type_of(text, span), "")


@lru_cache(4096)
def infer_type(name: str) -> str:
    """Return the general seed's type for a name's own words ("University of Oslo"), or ""."""
    return _general().type_of_name(name)


def type_of_noun(noun: str) -> str:
    """Return the general seed's type for a noun in lower case, or ""."""
    return _general().of_phrase(noun)


def kind_of_noun(noun: str) -> str:
    """Return the kind of what a noun in lower case refers to, or "".

    The seed has nouns that define an entity ("a city"); those of relations, as in "the performer of", are added.
    """
    return next((kind for kind, nouns in _RELATIONAL.items() if noun in nouns), "") or _KINDS.get(
        type_of_noun(noun), "")


@cache
def _general() -> TypeNouns:
    return TypeNouns(load_schema("general"))
