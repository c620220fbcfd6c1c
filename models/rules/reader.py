"""The rules reader of chunks: it extracts named entities, and the facts of key-value lines and lists of people."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from threading import Lock

from cachetools import LRUCache, cached

from ...schemas.extraction import ExtractedEntity, Extraction, ExtractionRequest
from ...schemas.formats.schema_loading import load_schema
from ...schemas.graph_schema import ROOT_TYPE, GraphSchema
from ...text.lexicon import WORDS, read_json, read_patterns, word_set
from ...text.scripts import has_han
from ...text.section_lines import is_telling, is_unfilled
from ..parsing.parser import Parser
from .likeness import closeness, has_proper_word, is_called_like_person, is_first_name, is_known, is_known_place
from .metadata_facts import field_rows, people_rows
from .recognition.name_kinds import HONORIFICS, ROLES, VALUES, Span, TypeNouns, name_of
from .recognition.spans import find_spans
from .table_facts import facts_of_rows

OPEN_GUESSES = "general"  # the seed schema whose types are used with an open schema

_TYPES_OF_KINDS: dict[str, str] = read_json("kinds.json")["types"]  # names that schemas use for the type of each kind
_LONGEST_TITLE, _LONGEST_NAMING_HEADING = 10, 4  # the most words of a title, and of a heading that is a name
_CACHED_TEXTS = 512  # titles and headings whose spans are cached: the chunks of a document share them
_STATUTES = tuple(WORDS["endings of statutes"])  # those of the titles of Chinese rules, which are names
_FORMS = {name: re.compile(form) for name, form in read_patterns("rules.toml")["reader"].items()}
_BEFORE_PLACES = word_set("in at near into across throughout around between outside inside north south east west")
_BEFORE_BODIES = word_set("by at for from joined of with under against")
_LEAST_LEAD_OF_PLACE = -0.05  # how much closer to places than to persons a word must be that stands where places do
_LEAST_OF_LONE_NAME = 0.05  # how close to names of persons a word must be that alone is the name of a person
_CONTEXT_LENGTH = 40


class RulesReader:
    """A reader of chunks. Methods may be called from several threads at once."""

    def __init__(self, parser: Parser | None = None) -> None:
        self._parser = parser or Parser()
        self._short_spans = lru_cache(_CACHED_TEXTS)(lambda text: find_spans([text], self._parser)[0])

    def extract(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        """Return the entities and facts of each chunk; with an open schema, their types are of the general seed."""
        requests = [request.model_copy(update={"text": _without_cut_code(request)}) for request in requests]
        titles = [_subject_of_title(request.title, request.document) for request in requests]
        found = find_spans([request.text for request in requests], self._parser, titles)
        return [self._extract_one(*one, schema) for one in zip(requests, titles, found, strict=True)]

    def _extract_one(self, request: ExtractionRequest, title: str, found: Sequence[Span],
                     schema: GraphSchema) -> Extraction:
        """Return the entities and facts of a chunk from the spans `found` in its text."""
        text, types_of_schema = request.text, _types_of(schema)
        is_keyed = request.document.endswith(f": {title}")  # "RFC-20: Oslo Pumps"
        names = _Names(text, found, title, self._short_spans(title), keyed=is_keyed)
        sure = _sure_names(text, names.spans)
        types = {name: types_of_schema.type_of(names, name, is_sure=name in sure) for name in names.spans}
        admitted = sure | {name for name, (_, is_evident) in types.items() if is_evident}
        acronyms = set[str]()  # "Oslo Pump Alliance (OPA)"
        for full, short in pairwise(found):
            is_in_brackets = text[full.end : short.start] in {" (", " (“"}
            if full.kind == short.kind == "organization" and is_in_brackets and names.full_name(full) in admitted:
                acronyms.add(names.full_name(short))
        # "Department of Physics" alone is that of any university.
        kept = acronyms | {name for name in admitted
                           if not any(_FORMS["unit_of_body"].match(text, span.start) for span in names.spans[name])}

        def is_whole_name(words: str) -> bool:
            """Return True for a recognised name, and for two to four words that each begin with a capital or digit."""
            parts = words.split()
            are_capital = all(part[0].isupper() or part[0].isdigit() for part in parts)
            return words in names.spans or (1 < len(parts) <= _LONGEST_NAMING_HEADING and are_capital)

        def is_owner(words: str) -> bool:
            """Return True for the title if it is a name, and for a heading that is one of a known kind or proper."""
            if words == title:
                return is_whole_name(words)
            kinds = {span.kind for span in self._short_spans(words) if (span.start, span.end) == (0, len(words))}
            is_proper_name = is_whole_name(words) and has_proper_word(words) and not _FORMS["day"].search(words)
            return bool(kinds - VALUES - {"name"}) or is_proper_name

        rows = [*field_rows(text, title, request.heading, is_owner, request.document),
                *people_rows(text, request.heading, request.document)]
        listed = facts_of_rows(rows, text, title, request.heading, schema, is_whole_name, request.document)
        return listed.combine(Extraction(entities=tuple(
            ExtractedEntity(name=name, type=kind) for name, (kind, _) in types.items()
            if kind and name in kept and not is_unfilled(name))))


def _without_cut_code(request: ExtractionRequest) -> str:
    """Return a text with blanks for code at its beginning, of which the opening fence is in the chunk before."""
    fence = _FORMS["fence"].match(request.opening)
    if fence is None:
        return request.text
    closing = re.search(rf"^ {{0,3}}{fence[0]}", request.text, re.MULTILINE)
    end = closing.end() if closing else len(request.text)
    return " " * end + request.text[end:]


class _TypesOfSchema:
    """The types that a schema has for names of each kind."""

    def __init__(self, schema: GraphSchema) -> None:
        self._given = schema  # keeps it alive: the cache of `_types_of` uses its id
        known = load_schema(OPEN_GUESSES) if schema.open else schema
        self._nouns = TypeNouns(known)
        type_by_name = {name.lower(): t.name for t in reversed(known.entity_types) for name in t.all_names()}
        self._fallback = next((t.name for t in known.entity_types if t.last_resort or t.name == ROOT_TYPE), "")
        self._type_of_kind = {
            kind: next((type_by_name[name] for name in names.split(", ") if name in type_by_name), self._fallback)
            for kind, names in _TYPES_OF_KINDS.items()}

    def type_of(self, names: "_Names", name: str, *, is_sure: bool) -> tuple[str, bool]:
        """Return the type of a name, or "", and whether words give it or the document is about the name.

        It is the type that the words around most of its places give, else by its kind. What a document is about has the
        most general type unless words confirm its kind.
        """
        votes = Counter(filter(None, (self._nouns.type_of(names.text, span) for span in names.spans[name])))
        kind, is_title = names.kind(name), name == names.title
        type_by_words = votes.most_common(1)[0][0] if votes else ""
        is_confirmed = is_sure or kind == "work" or has_han(name) or (kind == "person" and is_called_like_person(name))
        if is_title and not is_confirmed:
            kind = "name"
        default = self._fallback if is_title else ""
        return type_by_words or self._type_of_kind.get(kind, default), is_title or type_by_words != ""


# Schemas are not hashable. An entry holds its schema, so the id means the same schema for as long as it is cached.
_types_of = cached(LRUCache(maxsize=4), key=id, lock=Lock())(_TypesOfSchema)


class _Names:
    """The names of a chunk with their places. A person's surname is counted under a title that ends in it.

    `title` is the name of what the document is about. In `spans` it has no place where the text does not repeat it.
    """

    def __init__(self, text: str, found: Sequence[Span], title: str, title_spans: Sequence[Span], *,
                 keyed: bool) -> None:
        """Group the spans `found` by name; `title_spans` are the spans of the title."""
        self.text, self.title = text, title
        places = [span for span in found if span.kind not in VALUES]
        is_short_title = len(title.split()) <= _LONGEST_NAMING_HEADING and title.istitle()
        possible_people = [name_of(text, span) for span in places if is_short_title and span.kind in {"person", "name"}]
        self._surnames = {name for name in possible_people if title.endswith(f" {name}")}  # "Blum" under "Ada Blum"
        places_in_title = [(span.start, span.end) for span in title_spans if span.kind not in VALUES]
        title_is_name = places_in_title == [(0, len(title))]
        is_statute = title.endswith(_STATUTES)
        self._title_kind = title_spans[0].kind if title_is_name else ""
        if keyed or " - " in title or ":" in title or is_statute:  # a title with a subtitle is that of a work
            self._title_kind = "work"
        names_subject = title and (title_is_name or is_statute or self._surnames)
        self.spans: dict[str, list[Span]] = {title: []} if names_subject else {}
        for span in places:
            self.spans.setdefault(self.full_name(span), []).append(span)

    def full_name(self, span: Span) -> str:
        """Return the title for a surname in it, or the words of another span."""
        name = name_of(self.text, span)
        return self.title if name in self._surnames else name

    def kind(self, name: str) -> str:
        """Return the most common kind of a name's places."""
        title_kind = self._title_kind if name == self.title else ""
        votes = Counter(span.kind for span in self.spans[name] if span.kind != "name")
        if title_kind == "work" or not votes:  # the form of a title says more than the recogniser's guesses
            return title_kind or "name"
        return votes.most_common(1)[0][0]


def _subject_of_title(title: str, document: str) -> str:
    """Return a document's title without a final part in brackets, or "" if it names no subject."""
    head = title.strip()
    if head.endswith(")") and "(" in head:
        head = head[: head.rfind("(")].strip()
    is_of_day = _FORMS["day"].search(head)  # "Steering Committee 2017-03-08" names its document
    is_file_name = _FORMS["file_name"].search(head) or _FORMS["file_name"].sub("", document.rpartition("/")[2]) == head
    has_fitting_length = len(head) > 1 and len(head.split()) <= _LONGEST_TITLE
    return head if has_fitting_length and is_telling(head) and not (is_file_name or is_of_day) else ""


def _sure_names(text: str, names: Mapping[str, Sequence[Span]]) -> set[str]:
    """Return the names that are certain: the words around one of their places confirm them, or they are repeated."""
    sure = {name for name, spans in names.items()
            if any(_is_sure(text, span, is_repeated=len(spans) > 1) for span in spans)}
    if not any(span.kind == "person" for name in sure for span in names[name]):
        return sure
    # Beside certain persons, a repeated word is a person, too; elsewhere it may be a species or a unit.
    repeated_words = [name for name, spans in names.items() if len(spans) > 1 and " " not in name]
    for name in (one for one in repeated_words if names[one][0].kind == "person"):
        is_abbreviation = all(text.startswith(".", span.end) for span in names[name])  # "Fig. 1"
        if closeness(name).person > _LEAST_OF_LONE_NAME and not is_abbreviation:
            sure.add(name)
    return sure


def _is_sure(text: str, span: Span, *, is_repeated: bool) -> bool:
    """Return True if the words of a name or around it confirm its kind, such as a preposition before a place."""
    name = text[span.start : span.end]
    if has_han(name[0]) or has_han(name[-1]):  # the tagger of Chinese words is seldom wrong
        return span.kind != "name"
    before = text[max(0, span.start - _CONTEXT_LENGTH) : span.start]
    last_word = _FORMS["last_word"].search(before.rstrip(" (."))
    word_before = last_word[0].lower() if last_word else ""
    match span.kind:
        case "person":
            is_addressed = word_before in ROLES or name.split()[0].lower().rstrip(".") in HONORIFICS
            return is_addressed or is_first_name(name) or (" " in name and is_called_like_person(name))
        case "location":
            close = closeness(name.rpartition(" ")[2])
            is_no_person = close.location - close.person > _LEAST_LEAD_OF_PLACE
            is_like_both = close.location > _LEAST_LEAD_OF_PLACE and " " in name  # "at San Salvatore"
            stands_like_place = word_before in _BEFORE_PLACES and (is_no_person or is_like_both)
            return is_known_place(name) or stands_like_place or (is_no_person and is_repeated)
        case "organization":
            is_known_name = any(map(is_known, name.split())) or (is_repeated and " " in name)
            return word_before in _BEFORE_BODIES and is_known_name
        case "product":
            return is_repeated
        case "work":
            return " " in name and (is_repeated or before.endswith(('"', "“", "«")))
    return False
