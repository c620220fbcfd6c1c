"""The rules reader of chunks: it extracts named entities, and the facts that a form or a reliable pattern states."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from threading import Lock

from cachetools import LRUCache, cached

from ...schemas.extraction import (
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
    ExtractionRequest,
)
from ...schemas.formats.schema_loading import load_schema
from ...schemas.graph_schema import ROOT_TYPE, GraphSchema
from ...text.lexicon import words
from ...text.scripts import has_han, is_han
from ...text.section_lines import is_telling
from ...text.sentences import split_sentences
from ..parsing.parser import Parser
from .key_values import key_value_rows
from .metadata_facts import people_rows
from .prose_facts import ProseFacts, load_patterns
from .recognition.name_kinds import TypeNouns, infer_type
from .recognition.name_words import PREPOSITIONS, ROLES
from .recognition.spans import VALUES, Span, cue_language, find_spans, name_of
from .stated_facts import FactForms, Mention, Stated, load_forms
from .table_facts import facts_of_rows

OPEN_GUESSES = "general"
"""The seed schema whose types are used with an open schema."""

_TYPES_OF_KINDS = {
    "person": ("person", "human", "people", "人物", "人"),
    "organization": ("organization", "organisation", "company", "组织", "机构"),
    "location": ("location", "place", "city", "country", "地点"),
    "event": ("event", "事件"),
    "work": ("work", "creative work", "作品", "film", "book"),
    "product": ("product", "产品"),
    "award": ("award", "奖项"),
}
"""The names that schemas use for the type of each kind."""
_SURE = 0.9
"""The confidence of a fact: the forms are right nine times in ten."""
_LONGEST_TITLE = 10
_LONGEST_NAMING = 4
"""The most words of a title, and of a heading that is a name."""
_SHORT_TEXTS = 512
"""Titles and headings whose spans are cached: the chunks of a document share them."""
_STATUTES = ("法", "条例", "办法", "规定", "细则", "规范", "章程", "合同", "的通知", "的意见", "的决定")
"""The endings of the titles of Chinese rules, which are names."""
_FILE = re.compile(r"\.\w{1,5}$|[\\/_]")
_LEADS_TO_PLACE = PREPOSITIONS | words("between outside inside throughout north south east west")
_OFTEN = frozenset({"organization", "location", "event", "work"})
"""The kinds that are confirmed by two occurrences."""
_LEADS_TO_BODY = words("by at for from joined of with under against")
_OF_SONS = frozenset({"Jr", "II", "III", "IV"})
"""The last words of names that a father has without them."""
_LAST_WORD = re.compile(r"\w{1,20}$")
_JOINED = re.compile(r"(?:,|,? and|,? or) $")
_AROUND = 40


class RulesReader:
    """A reader of chunks. Methods may be called from several threads at once."""

    def __init__(self, parser: Parser | None = None) -> None:
        """Store the parser."""
        self._parser = parser or Parser()
        self._short_spans = lru_cache(_SHORT_TEXTS)(partial(_spans_of, self._parser))

    def extract(self, requests: Sequence[ExtractionRequest], schema: GraphSchema) -> list[Extraction]:
        """Return the entities and facts of each chunk. Names of several are recognised together, which is faster.

        Args:
            requests: the chunks' texts with their documents' titles and the headings above them.
            schema: the current schema; with an open one, types and labels are those of the general seed.

        Returns:
            Names as written, in full if the chunk also has a short form. The result for a chunk depends only on its
            request, the schema and the models.
        """
        titles = [_subject(request.title, request.document) for request in requests]
        texts = [request.text for request in requests]
        languages = [cue_language(text, self._parser) for text in texts]
        found = find_spans(texts, self._parser, titles, languages)
        return [self._extract_one(*one, schema) for one in zip(requests, titles, languages, found, strict=True)]

    def _extract_one(self, request: ExtractionRequest, title: str, language: str, found: Sequence[Span],
                     schema: GraphSchema) -> Extraction:
        prepared, text = _prepare(schema), request.text
        titled = self._short_spans(title, language)
        keyed = request.document.endswith(f": {title}")
        names = _Names(text, found, title, titled, keyed=keyed)
        types = {name: prepared.type_of(names, name, certain=bool(language)) for name in names.spans}
        admitted = set(names.spans) if language else _sure_names(text, names.spans) | {
            name for name in names.spans if prepared.has_evidence(names, name)}
        admitted |= {short.name for full, short in pairwise(names.mentions) if full.name in admitted and (
            full.kind == short.kind == "organization" and text[full.end : short.start] in {" (", " (“"})}
        triples: dict[tuple[str, str, str, str], ExtractedTriple] = {}
        attributes: dict[tuple[str, str, str, str], ExtractedAttribute] = {}
        for fact in self._stated(prepared, text, names, read_by_tree=not language):
            head, label, tail, time, quote = *fact[:4], text[fact.start : fact.end]
            for name, kind in ((head, fact.head_kind), (tail, fact.tail_kind)):
                if kind and (name not in names.spans or kind != names.kind(name)):
                    prepared.confirm(types, name, kind)
            if label in prepared.attributes:
                types.setdefault(head, prepared.fallback)
                attributes.setdefault((head, label, tail, time), ExtractedAttribute(
                    entity=head, attribute=label, value=tail, evidence=quote, time=time,
                    confidence=_SURE))
                continue
            head_type, tail_type = prepared.types_of_ends(label, types.get(head, ""), types.get(tail, ""))
            if head != tail and prepared.schema.fits(head_type, label, tail_type):
                types |= {head: head_type, tail: tail_type}
                triples.setdefault((head, label, tail, time), ExtractedTriple(
                    head=head, relation=label, tail=tail, evidence=quote, time=time, confidence=_SURE))
        admitted |= {name for fact in (*triples, *attributes) for name in fact[:3:2]}
        rows = [*key_value_rows(text, title, request.heading, self._is_name, request.document),
                *people_rows(text, request.heading, request.document)]
        listed = facts_of_rows(rows, text, title, request.heading, schema, self._is_name, request.document)
        return listed.combine(Extraction(
            entities=tuple(ExtractedEntity(name=name, type=kind) for name, kind in types.items()
                           if kind and name in admitted),
            triples=tuple(triples.values()), attributes=tuple(attributes.values())))

    def _stated(self, prepared: "_Prepared", text: str, names: "_Names", *, read_by_tree: bool) -> Iterator[Stated]:
        """Yield the facts of the sentences of a text."""
        sentences, subject = split_sentences(text), names.subject()
        yield from prepared.forms.find(text, names.mentions, sentences, subject)
        if read_by_tree:
            prose = [(start, end) for start, end in sentences if text[end - 1] not in "?？" and (
                "```" not in text[start:end] and not has_han(text[start:end]))]
            yield from prepared.prose.find(self._parser, text, prose, names.mentions, subject)

    def _is_name(self, heading: str) -> bool:
        """Return True for words that all have capitals or digits, or that are a name as a whole."""
        parts = heading.split()
        if 1 < len(parts) <= _LONGEST_NAMING and all(part[0].isupper() or part[0].isdigit() for part in parts):
            return True
        found = self._short_spans(heading, None)
        return len(found) == 1 and found[0].kind not in VALUES and found[0].end - found[0].start == len(heading)


def _spans_of(parser: Parser, text: str, language: str | None) -> Sequence[Span]:
    return find_spans([text], parser, languages=None if language is None else [language])[0]


class _Prepared:
    """Look-ups in a schema."""

    def __init__(self, schema: GraphSchema) -> None:
        self._given = schema
        known = load_schema(OPEN_GUESSES) if schema.open else schema
        self.schema = known
        self._nouns = TypeNouns(known)
        self.forms = FactForms(known, load_forms())
        self.prose = ProseFacts(known, load_patterns())
        self.attributes = {attribute.name for attribute in known.attribute_types}
        called = {name.lower(): t.name for t in reversed(known.entity_types) for name in t.all_names()}
        self.fallback = next((t.name for t in known.entity_types if t.last_resort or t.name == ROOT_TYPE), "")
        self._types = {kind: next((called[name] for name in names if name in called), self.fallback)
                       for kind, names in _TYPES_OF_KINDS.items()}

    def type_of(self, names: "_Names", name: str, *, certain: bool) -> str:
        """Return the type of a name by the words around it, else by its kind; "" if the schema has none.

        A `certain` name is one even if its kind is unknown.
        """
        kind = names.kind(name)
        # Other names of unknown kind are not entities, unless the document is about them.
        return self._infer_type(names, name) or self._types.get(
            kind, self.fallback if certain or names.is_title(name) else "")

    def has_evidence(self, names: "_Names", name: str) -> bool:
        """Return True for a name whose type is given by words, or that the document is about."""
        return names.is_title(name) or self._infer_type(names, name) != ""

    def _infer_type(self, names: "_Names", name: str) -> str:
        votes = Counter(kind for span in names.spans[name] if (kind := self._nouns.type_of(names.text, span)))
        if votes:
            return votes.most_common(1)[0][0]
        return self._nouns.type_of_name(name) if names.kind(name) not in {"person", "work"} and infer_type(
            name) else ""

    def types_of_ends(self, label: str, head_type: str, tail_type: str) -> tuple[str, str]:
        """Return the types of a fact's ends, more special where its relation asks for it: Company for Organization.

        A name's kind tells only its general type, so the relation tells the rest.
        """
        relation = self.schema.relation_type(label)
        if relation is None:
            return head_type, tail_type
        return self._special_type(head_type, relation.domain), self._special_type(tail_type, relation.range)

    def _special_type(self, general: str, allowed: tuple[str, ...]) -> str:
        """Return the first allowed type below a general one, or the general one if it is allowed or above none."""
        if self.schema.is_a(general, allowed):
            return general
        return next((name for name in allowed if general in self.schema.ancestors(name)), general)

    def confirm(self, types: dict[str, str], name: str, kind: str) -> None:
        """Give a name the type of the kind that a fact tells, unless it has a more special one."""
        told = self.fallback if kind == "thing" else self._types.get(kind, "")
        if told and (name not in types or (not infer_type(name) and (not types[name] or types[name] in {
                self.fallback, *self._types.values()} - {told}))):
            types[name] = told


# Schemas are not hashable. An entry holds its schema, so the id means the same schema for as long as it is cached.
@cached(LRUCache(maxsize=4), key=id, lock=Lock())
def _prepare(schema: GraphSchema) -> _Prepared:
    return _Prepared(schema)


class _Names:
    """The names of a chunk with their places; the places of a short form belong to the full name."""

    def __init__(self, text: str, found: Sequence[Span], title: str, titled: Sequence[Span], *, keyed: bool) -> None:
        """Store the names.

        Args:
            text: the chunk's text.
            found: its names and values.
            title: the subject of the document's title.
            titled: the names in it.
            keyed: whether the title follows the document's key ("RFC-20: Oslo Pumps"): it is the document's name.
        """
        self.text = text
        whole = [(span.start, span.end) for span in titled if span.kind not in VALUES] == [(0, len(title))]
        kinds: dict[str, str] = {}
        for span in found:
            if span.kind not in VALUES:
                kinds.setdefault(name_of(text, span), span.kind)
        body = _body(title, titled)
        full = {name: body if body.startswith(name) and kind != "person" else _full(name, kinds, title)
                for name, kind in kinds.items()}
        called = [name_of(text, span) for span in found]
        self.mentions = [Mention(span.start, span.end, span.kind, full.get(name, name))
                         for span, name in zip(found, called, strict=True)]
        statute = title.endswith(_STATUTES)
        work = keyed or " - " in title or ":" in title or statute
        self._title_kind = "work" if work else titled[0].kind if whole or body else ""
        self._title = body or title
        self.spans: dict[str, list[Span]] = {self._title: []} if body or (title and (
            whole or statute or title in full.values())) else {}
        for span in found:
            if span.kind not in VALUES:
                self.spans.setdefault(full[name_of(text, span)], []).append(span)

    def kind(self, name: str) -> str:
        """Return the most common kind of its places, or of the title if it has none."""
        if self.is_title(name) and self._title_kind == "work":
            return "work"
        votes = Counter(span.kind for span in self.spans[name] if span.kind != "name")
        return votes.most_common(1)[0][0] if votes else (self.is_title(name) and self._title_kind) or "name"

    def is_title(self, name: str) -> bool:
        """Return True for the subject of the document's title."""
        return name == self._title

    def subject(self) -> Mention | None:
        """Return the subject of the chunk: that of its title, else the name at the beginning of its text."""
        if self._title in self.spans:
            return Mention(0, 0, self.kind(self._title), self._title)
        first = next((m for m in self.mentions if m.kind not in VALUES), None)
        before = self.text[: first.start].strip(" \t\n\"“*《").lower() if first else ""
        return first._replace(kind=self.kind(first.name)) if first and before in {"", "the"} else None


def _body(title: str, titled: Sequence[Span]) -> str:
    """Return the organization at the start of a Chinese title ("ABC有限公司 公司治理报告"), or ""."""
    first = titled[0] if titled else None
    opens = first is not None and first.start == 0 and first.kind == "organization" and has_han(title)
    return title[: first.end] if first is not None and opens else ""


def _full(name: str, kinds: Mapping[str, str], title: str) -> str:
    """Return the full name that begins or ends with a person's name; the name itself if there is not exactly one."""
    if kinds[name] not in {"person", "name"}:
        return name
    words = name.split()
    titled = title.split()
    called = len(titled) <= _LONGEST_NAMING and all(part[0].isupper() and part[-1] != ":" for part in titled)
    if called and name != title and _shortens(words, titled) and (len(words) > 1 or titled[-1] == name):
        return title
    longer = [other for other, kind in kinds.items() if kind == "person" and _shortens(words, other.split())
              and other.rpartition(" ")[2].rstrip(".") not in _OF_SONS]
    return longer[0] if len(longer) == 1 else name


def _shortens(words: Sequence[str], longer: Sequence[str]) -> bool:
    return len(longer) > len(words) and (list(longer[-len(words):]) == list(words) or (
        list(longer[: len(words)]) == list(words))) and not {"of", "in", "and"} & set(longer)


def _subject(title: str, document: str) -> str:
    """Return the subject of a document's title, without a final part in brackets; "" for a file name or a sentence."""
    head = title.strip()
    if head.endswith(")") and "(" in head:
        head = head[: head.rfind("(")].strip()
    named = _FILE.search(head) or not is_telling(head) or _FILE.sub("", document.rpartition("/")[2]) == head
    return "" if named or len(head.split()) > _LONGEST_TITLE or len(head) < 2 else head  # noqa: PLR2004


def _sure_names(text: str, names: Mapping[str, Sequence[Span]]) -> set[str]:
    """Return the names that their context confirms.

    A finder may mark a doubtful name in a quote, where a reader sees it. In the graph it would be an entity of a wrong
    type. Therefore a name that occurs once, and that neither its own words nor its neighbours confirm, is omitted.
    """
    places = {span.end for spans in names.values() for span in spans if span.kind == "location"}
    return {name for name, spans in names.items() if any(
        _is_sure(text, span, places) or (len(spans) > 1 and span.kind in _OFTEN and (
            span.kind != "work" or " " in name)) for span in spans)}


def _is_sure(text: str, span: Span, places: set[int]) -> bool:
    name = text[span.start : span.end]
    if is_han(name[0]) or is_han(name[-1]):
        return span.kind != "name"
    before = text[max(0, span.start - _AROUND) : span.start]
    last = _LAST_WORD.search(before.rstrip(" ("))
    leading = last[0].lower() if last else ""
    match span.kind:
        case "person":
            return " " in name or leading in ROLES
        case "location":
            joined = _JOINED.search(before)
            listed = joined is not None and span.start - len(joined[0]) in places
            return leading in _LEADS_TO_PLACE or (leading == "the" and " " in name) or listed or (
                text.startswith(("'s", "’s"), span.end))
        case "organization":
            body = " " in name and leading in _LEADS_TO_BODY
            return leading == "the" or body
    return False
